"""Write ``requirements.lock`` and the constraints made from it, so that users and CI run what was tested.

python -m jobs.requirements_lock             after a change of a pin in pyproject.toml
python -m jobs.requirements_lock --upgrade   take newer versions of everything that is not pinned

The lock is uv's own resolution in the form of pip: all extras and the development group, for each Python and platform
that pyproject.toml allows, every file with its sha256 and no address. ``[tool.uv] constraint-dependencies`` repeats its
versions, since uv reads that and not the lock when it makes an environment.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import click

from jobs.options import UserError

LOCK = "requirements.lock"
PROJECT = "pyproject.toml"

EXPORT = ("uv", "export", "--quiet", "--no-emit-project", "--no-header", "--no-annotate")
EVERYTHING = ("--all-extras", "--all-groups")
ROLES: dict[str, tuple[str, ...]] = {
    "cli": (),
    "jobs": ("jobs", "embed", "openvino"),
    "embed-gpu": ("jobs", "embed"),
    "train-gpu": ("jobs", "train"),
}
"""The extras of each image; each has a lock of its own, a part of the whole one."""

ROLE_LOCKS = "docker/locks"

_CONSTRAINTS = re.compile(r"^constraint-dependencies = \[\n(?:    .*\n)*\]\n", re.MULTILINE)
_TABLE = "[tool.uv]\n"


def constraints(lock: str) -> list[str]:
    """Return one requirement an entry of the lock, its marker kept and its hashes left out."""
    entries = lock.replace("\\\n", " ").splitlines()
    return [entry.split("--hash=")[0].strip() for entry in entries if entry.strip()]


def with_constraints(project: str, requirements: list[str]) -> str:
    """Return the text of pyproject.toml with ``requirements`` as its only constraints; with none, without the key."""
    project = _CONSTRAINTS.sub("", project)
    if not requirements:
        return project
    if _TABLE not in project:
        raise UserError(f"{PROJECT}: wanted the table [tool.uv], found none")
    lines = "".join(f'    "{requirement}",\n' for requirement in requirements)
    return project.replace(_TABLE, f"{_TABLE}constraint-dependencies = [\n{lines}]\n")


def export(root: Path, *flags: str) -> str:
    """Resolve the project in ``root`` by uv and return the lock's text; raises ``UserError`` when uv cannot."""
    done = subprocess.run([*EXPORT, *flags], cwd=root, capture_output=True, text=True, check=False)
    if done.returncode:
        raise UserError(f"uv found no set of versions:\n{done.stderr.strip()}")
    return done.stdout


def role_flags(extras: tuple[str, ...]) -> list[str]:
    """Return what uv is told to export the lock of a role."""
    return ["--no-default-groups", *(flag for extra in extras for flag in ("--extra", extra))]


def write(path: Path, text: str) -> None:
    """Replace the file in one step."""
    draft = path.with_name(f".{path.name}.draft")
    draft.write_text(text)
    draft.replace(path)


@click.command()
@click.option("--upgrade", is_flag=True, help="Take newer versions of what is not pinned.")
def command(upgrade: bool) -> None:
    """Bring the lock and the constraints in line with the pins; run it in the checkout."""
    root = Path(__file__).resolve().parents[1]
    project = root / PROJECT
    before = project.read_text()
    write(project, with_constraints(before, []))
    try:
        if upgrade:
            (root / "uv.lock").unlink(missing_ok=True)
        lock = export(root, *EVERYTHING)
        roles = {role: export(root, *role_flags(extras)) for role, extras in ROLES.items()}
    except BaseException:
        write(project, before)
        raise
    write(root / LOCK, lock)
    for role, text in roles.items():
        write(root / ROLE_LOCKS / f"{role}.lock", text)
    write(project, with_constraints(before, constraints(lock)))
    click.echo(f"{LOCK}: {len(constraints(lock))} entries")


if __name__ == "__main__":
    command()
