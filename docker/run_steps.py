"""Execute the Dockerfile's steps for a target in a Debian 12 chroot, where there is no container engine.

    sudo python docker/run_steps.py jobs /var/tmp/image -- turnmill doctor

Makes the chroot with debootstrap where the folder is not there yet: Debian 12 with its Python 3.11 stands for the
base image. Copies, runs and environment are those of the Dockerfile, users included; what follows ``--`` is then run
in the result as the image's user. Not checked: the engine's layers, HEALTHCHECK, the GPU runtime. Needs root. For a
machine behind a proxy with a CA of its own, SSL_CERT_FILE is carried over.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = "ca-certificates,python3,python3-pip,python3-venv"
CA = "/etc/ssl/certs/carried-over.crt"


def stages(text: str) -> dict[str, list[tuple[str, str]]]:
    """Return the instructions of each stage, those of the stages it stands on first."""
    found: dict[str, list[tuple[str, str]]] = {}
    name = ""
    for line in re.sub(r"\\\n\s*", " ", text).splitlines():
        word, _, rest = line.partition(" ")
        if word == "FROM":
            base, _, name = rest.partition(" AS ")
            found[name] = list(found.get(base, []))
        elif name and word in ("ENV", "RUN", "COPY", "WORKDIR", "USER", "HEALTHCHECK", "ENTRYPOINT", "CMD", "EXPOSE"):
            found[name].append((word, rest))
    return found


def bootstrap(folder: Path) -> None:
    """Make a minimal Debian 12 in ``folder``, with ``python`` and ``pip`` as in the base image."""
    if not (folder / "etc").is_dir():
        subprocess.run(["debootstrap", "--variant=minbase", f"--include={PACKAGES}", "bookworm", folder], check=True)
    if certificates := os.environ.get("SSL_CERT_FILE"):
        shutil.copy(certificates, folder / CA.lstrip("/"))
    shutil.copy("/etc/resolv.conf", folder / "etc" / "resolv.conf")
    python = folder / "usr" / "bin" / "python"
    if not python.exists():
        python.symlink_to("python3")
    for name in ("proc", "dev"):
        if not os.path.ismount(folder / name):
            subprocess.run(["mount", "--rbind", f"/{name}", folder / name], check=True)


class Image:
    """A chroot in which steps are executed one after the other."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.user, self.place = folder, "0:0", "/"
        # The base image's Python is its own; Debian's asks not to be touched.
        self.environment = {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "PIP_BREAK_SYSTEM_PACKAGES": "1"}
        if os.environ.get("SSL_CERT_FILE"):
            self.environment |= {"SSL_CERT_FILE": CA, "PIP_CERT": CA, "REQUESTS_CA_BUNDLE": CA}
        self.environment |= {key: value for key, value in os.environ.items() if key.lower().endswith("_proxy")}
        if os.environ.get("PIP_INDEX_URL"):
            self.environment["PIP_INDEX_URL"] = os.environ["PIP_INDEX_URL"]

    def step(self, word: str, rest: str) -> None:
        """Execute one instruction."""
        print(f"== {word} {rest}"[:160], flush=True)
        if word == "ENV":
            self.environment |= dict(part.split("=", 1) for part in shlex.split(rest))
        elif word == "USER":
            self.user = rest
        elif word == "WORKDIR":
            self.place = rest
            (self.folder / rest.lstrip("/")).mkdir(parents=True, exist_ok=True)
        elif word == "COPY":
            self.copy(shlex.split(rest))
        elif word == "RUN":
            self.run(["sh", "-c", rest])

    def copy(self, words: list[str]) -> None:
        """Copy from the checkout, or from another stage, whose steps were executed in the same folder."""
        start = self.folder if words[0].startswith("--from=") else ROOT
        *sources, target = [word for word in words if not word.startswith("--")]
        into = self.folder / str(Path(self.place) / target).lstrip("/")
        for source in sources:
            found = start / source.lstrip("/")
            if found.is_dir():
                shutil.copytree(found, into, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                (into if len(sources) > 1 else into.parent).mkdir(parents=True, exist_ok=True)
                shutil.copy(found, into)

    def run(self, command: list[str]) -> None:
        """Run a command as the image's user; ends this program where it fails."""
        environment = [f"{key}={value}" for key, value in self.environment.items()]
        inside = ["env", "-i", *environment, "sh", "-c", f"cd {shlex.quote(self.place)} && exec {shlex.join(command)}"]
        done = subprocess.run(["chroot", f"--userspec={self.user}", self.folder, *inside], check=False)
        if done.returncode:
            raise SystemExit(f"failed with {done.returncode}: {shlex.join(command)[:200]}")


def main() -> None:
    """Execute the steps of the target, then what follows ``--``."""
    given = sys.argv[1:]
    after = given[given.index("--") + 1 :] if "--" in given else []
    target, folder = given[0], Path(given[1]).absolute()
    found = stages((ROOT / "docker" / "Dockerfile").read_text())
    bootstrap(folder)
    wheel, image, done = Image(folder), Image(folder), set()
    for word, rest in found["wheel"]:
        wheel.step(word, rest)
        done.add((word, rest))
    for word, rest in found[target]:
        # What both stages stand on has been run in this folder.
        if word != "RUN" or (word, rest) not in done:
            image.step(word, rest)
    if after:
        image.run(after)


if __name__ == "__main__":
    main()
