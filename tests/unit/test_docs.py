"""The README says what the code does: its generated parts are current, its commands and queries run."""

import re
import shlex
from pathlib import Path

import click
import pytest

from jobs.command_line import COMMANDS, main
from jobs.options import Exit
from jobs.readme_sections import sections, with_sections
from pipelines.adapters.lake import Lake
from schemas import TABLES
from schemas.records import DEAD_REASONS

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()


def part(name):
    return re.search(rf"<!-- begin {name} -->\n(.*?)<!-- end {name} -->", README, re.DOTALL)[1]


def code_blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.DOTALL | re.MULTILINE)


def first_column(text):
    return [line.split("|")[1].strip().strip("`") for line in text.splitlines()[2:]]


SHELL_LINES = [line for block in code_blocks("sh") for line in block.splitlines()]
TURNMILL_LINES = [line[line.index("turnmill ") :] for line in SHELL_LINES if re.search(r"(^|uv run )turnmill ", line)]


def test_the_generated_parts_are_current():
    assert with_sections(README) == README, "run: python -m jobs.readme_sections"


@pytest.mark.parametrize("name", list(sections()))
def test_every_generated_part_is_shown_once(name):
    assert README.count(f"<!-- begin {name} -->") == 1


def test_the_data_dictionary_holds_every_table():
    dictionary = part("data dictionary")
    for table in TABLES:
        assert table.markdown() in dictionary


def test_every_command_is_listed():
    assert first_column(part("commands")) == [f"turnmill {name}" for name in COMMANDS]


def test_every_dead_letter_reason_is_explained():
    rows = part("dead letter reasons").splitlines()[2:]
    assert rows == [f"| `{reason}` | {words} |" for reason, words in DEAD_REASONS.items()]


def test_every_exit_code_is_explained():
    assert first_column(part("exit codes")) == [str(int(code)) for code in Exit]


@pytest.mark.parametrize("line", TURNMILL_LINES)
def test_commands_and_flags_of_the_readme_exist(line):
    words = shlex.split(re.split(r" [<>|]", line)[0])[1:]
    context = click.Context(main)
    command = main.get_command(context, words[0])
    assert command is not None, f"no command {words[0]}"
    words = words[1:]
    while isinstance(command, click.Group):
        command = command.get_command(context, words.pop(0))
        assert command is not None, line
    known = {flag for parameter in command.params for flag in (*parameter.opts, *parameter.secondary_opts)}
    assert {word for word in words if word.startswith("--")} <= known
    arguments = [parameter for parameter in command.params if isinstance(parameter, click.Argument)]
    assert arguments or not [word for word in _operands(words, command)], f"{line}: takes no argument"


def _operands(words, command):
    flags = {flag for parameter in command.params if getattr(parameter, "is_flag", False) for flag in parameter.opts}
    taken = False
    for word in words:
        if taken:
            taken = False
        elif word.startswith("--"):
            taken = word not in flags
        else:
            yield word


@pytest.mark.parametrize("query", code_blocks("sql"))
def test_queries_of_the_readme_run(query, tmp_path):
    from pipelines.adapters.duck import connect

    assert connect(Lake(tmp_path / "lake"), ready_views=True).sql(query).fetchall() == []


def test_files_and_modules_named_in_the_readme_exist():
    for module in re.findall(r"python -m (jobs\.\w+)", README):
        assert (ROOT / module.replace(".", "/")).with_suffix(".py").is_file(), module
    for path in re.findall(r"(?:tests|jobs|pipelines)/[\w/]+\.py", README):
        assert (ROOT / path).is_file(), path
    for name in re.findall(r"^    (\w+)/", README, re.MULTILINE):
        assert (ROOT / "pipelines" / name).is_dir(), name


def test_every_environment_variable_is_documented():
    read = set()
    for package in ("jobs", "pipelines"):
        for path in (ROOT / package).rglob("*.py"):
            read |= set(re.findall(r"\bTURNMILL_[A-Z_]+\b", path.read_text()))
    assert read <= set(re.findall(r"\bTURNMILL_[A-Z_]+\b", README))


def test_the_checks_of_ci_begin_with_the_readme_test_command():
    script = (ROOT / ".ci" / "run").read_text()
    steps = [line for line in script.splitlines() if line.startswith("uv run ")]
    assert steps.index("uv run pytest") < steps.index("uv run pytest --long -m long")
    assert "uv run pytest" in SHELL_LINES
    assert "set -euo pipefail" in script
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o111
