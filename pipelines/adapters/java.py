"""Find the Java that Spark, Ivy and the embedded Kafka broker run on."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

OLDEST_MAJOR = 17
"""Spark 4.2 and Kafka 4.4 need Java 17 or later (reference: their release notes)."""

TESTED_MAJORS = (17, 21)

HOW_TO_INSTALL = (
    "install Java 17, on Debian or Ubuntu with `sudo apt-get install -y openjdk-17-jre-headless`, "
    "or set JAVA_HOME to a Java 17 or 21"
)

_VERSION = re.compile(r'version "(\d+)(?:\.(\d+))?[^"]*"')


class JavaError(RuntimeError):
    """No usable Java: the message is one sentence that says what was found and what to install."""

    safe_to_show = True


@dataclass(frozen=True)
class Java:
    """A Java that runs: its executable and its version as it tells it."""

    executable: Path
    major: int
    version: str

    @property
    def home(self) -> Path:
        """The folder that ``JAVA_HOME`` names, symbolic links resolved."""
        return self.executable.resolve().parent.parent

    @property
    def is_tested(self) -> bool:
        """Tell whether the tests of this project run on this major version."""
        return self.major in TESTED_MAJORS


def major_version(told: str) -> tuple[int, str] | None:
    """Read the major version and the full version out of what ``java -version`` says; None when it says neither.

    Java up to 8 counts as 1.x, later ones by their first number (reference: JEP 223).
    """
    found = _VERSION.search(told)
    if found is None:
        return None
    first, second = int(found[1]), int(found[2] or 0)
    return (second if first == 1 else first), found[0].split('"')[1]


def find_java() -> Java:
    """Return the Java of ``JAVA_HOME``, else the one on ``PATH``; of version 17 or later.

    Errors: ``JavaError`` when there is none, when it does not run, or when it is too old.
    """
    executable = _candidate()
    told = _ask_version(executable)
    parsed = major_version(told)
    if parsed is None:
        raise JavaError(f"{executable} does not tell its version as Java does; {HOW_TO_INSTALL}.")
    major, version = parsed
    if major < OLDEST_MAJOR:
        raise JavaError(f"Java {version} at {executable} is too old, Java 17 or later is needed; {HOW_TO_INSTALL}.")
    return Java(executable, major, version)


def _candidate() -> Path:
    home = os.environ.get("JAVA_HOME", "").strip()
    if home:
        executable = Path(home) / "bin" / "java"
        if not os.access(executable, os.X_OK):
            raise JavaError(f"JAVA_HOME is {home}, but there is no Java in it; {HOW_TO_INSTALL}.")
        return executable
    on_path = shutil.which("java")
    if on_path is None:
        raise JavaError(f"No Java found (JAVA_HOME is not set, and no `java` is on PATH); {HOW_TO_INSTALL}.")
    return Path(on_path)


def _ask_version(executable: Path) -> str:
    try:
        answer = subprocess.run([str(executable), "-version"], capture_output=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired) as failure:
        raise JavaError(f"{executable} does not run ({type(failure).__name__}); {HOW_TO_INSTALL}.") from failure
    return (answer.stderr + answer.stdout).decode("utf-8", "replace")
