"""``turnmill config``: what applies to each command, and whether the environment or a default says so.

A flag wins over its variable, a variable over the default. Secrets are masked.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import PurePath
from typing import Any
from urllib.parse import urlsplit

import click
from click.core import ParameterSource
from rich.table import Table as RichTable

from jobs.command_line import COMMANDS, main
from jobs.options import Exit, Settings, UserError, turnmill_command, variable_of

OTHER_VARIABLES = frozenset(
    {
        "TURNMILL_CACHE",
        "TURNMILL_DRIVER_MEMORY",
        "TURNMILL_MAVEN_REPOSITORY",
        "TURNMILL_QDRANT_API_KEY",
        "TURNMILL_SPARK_CORES",
        "TURNMILL_SPARK_MASTER",
        "TURNMILL_SUPERVISED",
    }
)
"""Variables that are no flag's."""

SHARED = frozenset({"lake", "keys", "bootstrap", "as_json", "debug"})
MASK = "***"
_SECRET = re.compile(r"(key|secret|token|password)$", re.IGNORECASE)


@dataclass(frozen=True)
class Setting:
    """The value of one flag: of which command (empty: of all), and where it comes from."""

    command: str
    flag: str
    value: str
    source: str
    variable: str


def settings_of(name: str, command: click.Command) -> Iterator[Setting]:
    """Yield what applies to the flags of a command, those first that all commands share, whose ``command`` is empty.

    Raises ``UserError`` for a variable whose value its flag does not take.
    """
    context = command.make_context(name, [], resilient_parsing=True)
    for parameter in command.params:
        if not isinstance(parameter, click.Option) or parameter.is_eager:
            continue
        key, variable = parameter.name or "", variable_of(parameter) or ""
        value, told = context.params.get(key), os.environ.get(variable)
        if told and value is None:
            wanted = f"{variable}: wanted {parameter.type.name} as for {_flag(parameter)}"
            raise UserError(f"{wanted}, found {_masked(key, told)!r}", Exit.WRONG_USE)
        came_from = "environment" if context.get_parameter_source(key) is ParameterSource.ENVIRONMENT else "default"
        yield Setting("" if key in SHARED else name, _flag(parameter), shown(key, value), came_from, variable)


def _flag(option: click.Option) -> str:
    return max(option.opts, key=len)


def shown(name: str, value: Any) -> str:
    """Return a value as text; a secret, and the user part of an address, are masked."""
    if value is None or value == ():
        return "-"
    if isinstance(value, tuple | list):
        return " ".join(shown(name, one) for one in value)
    # A callback may have read a policy from its file: it goes by its name.
    return _masked(name, str(value if isinstance(value, PurePath) else getattr(value, "name", value)))


def _masked(name: str, text: str) -> str:
    if _SECRET.search(name):
        return MASK
    if "://" in text and "@" in urlsplit(text).netloc:
        parts = urlsplit(text)
        return parts._replace(netloc=f"{MASK}@{parts.netloc.rpartition('@')[2]}").geturl()
    return text


def commands(group: click.Group = main, before: str = "") -> Iterator[tuple[str, click.Command]]:
    """Yield every command by the words that call it."""
    context = click.Context(group)
    for name in group.list_commands(context):
        try:
            command = group.get_command(context, name)
        except click.ClickException:  # its libraries are not installed: it takes no settings here
            continue
        if isinstance(command, click.Group):
            yield from commands(command, f"{before}{name} ")
        elif command is not None:
            yield f"{before}{name}", command


def unknown_variables(known: set[str], environment: Mapping[str, str]) -> list[str]:
    """Return the names that look like ours and set nothing: most likely a slip of the pen."""
    return sorted(name for name in environment if name.startswith("TURNMILL_") and name not in known | OTHER_VARIABLES)


@turnmill_command("config", help="Show what applies to each command, and where it comes from.")
@click.argument("names", nargs=-1, metavar="[COMMAND]...")
def command(settings: Settings, names: tuple[str, ...]) -> None:
    """Show the flags of a command, or what is shared and what the environment sets for any; exit 2 for no such one."""
    every = {name: list(settings_of(name, one)) for name, one in commands()}
    wanted = " ".join(names)
    if names and wanted not in every:
        raise click.UsageError(f"wanted a command, found {wanted!r}; one of {', '.join(COMMANDS)}.")
    shared = [one for one in every["config"] if not one.command]
    mine = [one for name, of_command in every.items() for one in of_command if one.command and wanted in ("", name)]
    found = shared + [one for one in mine if names or one.source == "environment"]
    unknown = unknown_variables({one.variable for of_command in every.values() for one in of_command}, os.environ)
    others = {name: shown(name, os.environ[name]) for name in sorted(OTHER_VARIABLES & set(os.environ))}
    if settings.json:
        settings.emit({"settings": [asdict(one) for one in found], "other": others, "unknown": unknown})
        return
    table = RichTable("command", "flag", "value", "from", "variable")
    for setting in found:
        table.add_row(setting.command or "(all)", setting.flag, setting.value, setting.source, setting.variable)
    for name, value in others.items():
        table.add_row("-", "-", value, "environment", name)
    settings.console.print(table)
    for name in unknown:
        settings.console.print(f"{name} sets nothing: no flag has this variable.", markup=False)


if __name__ == "__main__":
    command()
