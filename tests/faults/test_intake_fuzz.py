"""A minute of search, guided by coverage, for bytes that intake does not survive."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

PROGRAM = Path(__file__).with_name("intake_fuzz.py")
SECONDS = 60
SEED = 1
"""Fixed, so that a change is judged by what it changed; search on with other seeds by the program itself."""


@pytest.mark.skipif(importlib.util.find_spec("atheris") is None, reason="atheris has no build for this platform")
def test_no_bytes_bring_intake_down(tmp_path):
    command = [sys.executable, PROGRAM, "--seconds", str(SECONDS), "--seed", str(SEED), "--corpus", tmp_path / "corpus"]
    root = PROGRAM.parents[2]
    done = subprocess.run(command, cwd=root, env={"PYTHONPATH": str(root)}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    executed = re.search(r"number_of_executed_units: *(\d+)", done.stderr)
    assert executed and int(executed[1]) > 1_000, "the search came to a stop"
