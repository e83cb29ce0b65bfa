#!/bin/sh
# Pack Turnmill and all that a role needs into one archive for the executors of a cluster:
#   docker/pack_environment.sh jobs turnmill-env.tar.gz
# Run it in the checkout, on a system like that of the executors and with their Python (PYTHON=/usr/bin/python3.11): the
# archive holds the packages but not the standard library, so the same Python must stand at the same path there.
set -eu
role=$1
out=$2
python=${PYTHON:-python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" -m venv --copies "$work/env"
"$work/env/bin/pip" install --quiet --require-hashes --requirement "docker/locks/$role.lock"
"$work/env/bin/pip" wheel --quiet --no-deps --wheel-dir "$work" .
"$work/env/bin/pip" install --quiet --no-deps "$work"/turnmill-*.whl
"$python" -m venv "$work/tool"
"$work/tool/bin/pip" install --quiet venv-pack==0.2.0
"$work/tool/bin/venv-pack" --prefix "$work/env" --output "$out" --force
