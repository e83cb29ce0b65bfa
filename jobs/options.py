"""What every command shares: the global options, exit codes, errors without stack traces, JSON output."""

from __future__ import annotations

import functools
import os
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import Any

import click
import orjson
from rich.console import Console

from pipelines.adapters.lake import Lake
from pipelines.adapters.supervised import stop_with_supervisor


class Exit(IntEnum):
    """Exit codes of every command and job."""

    DONE = 0
    FAILED = 1
    WRONG_USE = 2
    DATA_GAP = 3
    GATE_HELD = 4
    SCHEMA_CHANGE = 5
    INTERRUPTED = 130


class UserError(click.ClickException):
    """A fault that the person at the terminal can mend: wanted, found, what to do next."""

    def __init__(self, message: str, exit_code: Exit = Exit.FAILED) -> None:
        super().__init__(message)
        self.exit_code = int(exit_code)  # type: ignore[misc]  # click declares it on the class


@dataclass(frozen=True)
class Settings:
    """The options that every command takes."""

    lake: Path
    keys: Path
    bootstrap: str | None = None
    json: bool = False
    debug: bool = False
    console: Console = field(default_factory=lambda: Console(stderr=True))

    @property
    def kafka_folder(self) -> Path:
        """Data of the embedded broker: beside the lake and never inside it, since raw text lives there."""
        return beside(self.lake, "kafka")

    @property
    def arguments(self) -> list[str]:
        """The shared options as another command is given them; whether it prints JSON is its caller's to say."""
        given = ["--lake", str(self.lake), "--keys", str(self.keys)]
        given += ["--bootstrap", self.bootstrap] if self.bootstrap else []
        return given + (["--debug"] if self.debug else [])

    def emit(self, figures: Mapping[str, Any]) -> None:
        """Print ``figures`` as one line of JSON on standard output."""
        click.echo(orjson.dumps(dict(figures), default=str).decode())


def existing_lake(settings: Settings) -> Lake:
    """Return the lake of a command that reads one, or say that there is none."""
    if not settings.lake.is_dir():
        raise UserError(f"wanted a lake at {settings.lake}, found none; run an ingest first, or give --lake.")
    return Lake(settings.lake)


def beside(lake: Path, suffix: str) -> Path:
    """Return the folder beside the lake that holds what must never be inside it, for instance ``lake.keys``."""
    return lake.with_name(f"{lake.name}.{suffix}")


SHARED_OPTIONS = (
    click.option("--lake", type=click.Path(path_type=Path), envvar="TURNMILL_LAKE", default=Path("lake"),
                 show_default=True, help="Folder of the lake."),
    click.option("--keys", type=click.Path(path_type=Path), envvar="TURNMILL_KEYS", default=None,
                 help="Folder of the keys.  [default: beside the lake, NAME.keys]"),
    click.option("--bootstrap", envvar="TURNMILL_BOOTSTRAP", default=None, metavar="HOST:PORT",
                 help="Kafka cluster to use instead of the embedded broker."),
    click.option("--json", "as_json", is_flag=True, help="Print one JSON line instead of tables."),
    click.option("--debug", is_flag=True, envvar="TURNMILL_DEBUG", help="Show stack traces."),
)  # fmt: skip


def turnmill_command(
    name: str, *, lake_default: Path | None = None, **attrs: Any
) -> Callable[[Callable[..., Any]], click.Command]:
    """Make a click command whose first parameter is ``Settings`` and that knows the options of every command."""

    def wrap(function: Callable[..., Any]) -> click.Command:
        @functools.wraps(function)
        def run(lake: Path, keys: Path | None, bootstrap: str | None, as_json: bool, debug: bool, **rest: Any) -> Any:
            lake = lake.absolute()
            settings = Settings(lake, keys.absolute() if keys else beside(lake, "keys"), bootstrap, as_json, debug)
            if debug:
                os.environ["TURNMILL_DEBUG"] = "1"
            stop_with_supervisor()
            with told_plainly(settings):
                return function(settings, **rest)

        callback: Callable[..., Any] = run
        for option in reversed(SHARED_OPTIONS):
            callback = option(callback)
        command: click.Command = click.command(name, **attrs)(callback)  # type: ignore[no-untyped-call]
        give_variables(command)
        if lake_default is not None:
            next(p for p in command.params if p.name == "lake").default = lake_default
        return command

    return wrap


def give_variables(command: click.Command) -> None:
    """Let each flag of a command be told by the environment too: ``TURNMILL_COMMAND_FLAG``; the flag wins."""
    for parameter in command.params:
        if isinstance(parameter, click.Option) and parameter.envvar is None and parameter.name != "as_json":
            flag = max(parameter.opts, key=len).lstrip("-")
            parameter.envvar = f"TURNMILL_{command.name}_{flag}".upper().replace("-", "_")


def variable_of(option: click.Option) -> str | None:
    """Return the variable of a flag; None where it has none."""
    return option.envvar if isinstance(option.envvar, str) else None


@contextmanager
def told_plainly(settings: Settings) -> Iterator[None]:
    """Turn an unexpected error into one line on standard error; with ``--debug`` the stack trace comes first."""
    try:
        yield
    except (click.ClickException, click.exceptions.Exit, click.Abort):
        raise
    except KeyboardInterrupt:
        click.echo("Interrupted.", err=True)
        sys.exit(Exit.INTERRUPTED)
    except Exception as error:
        if settings.debug:
            traceback.print_exception(error)
        # An unforeseen message may quote data, so only the kind of the error is told without --debug.
        told = str(error) if getattr(error, "safe_to_show", False) else f"unexpected {type(error).__name__}"
        advice = "" if settings.debug else "  (run again with --debug to see where)"
        click.echo(f"Error: {told}{advice}", err=True)
        sys.exit(exit_code(error))


def exit_code(error: Exception) -> Exit:
    """Return the exit code of an error that an adapter or a stage raised."""
    return Exit(getattr(error, "exit_code", Exit.FAILED))
