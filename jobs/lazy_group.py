"""A group of commands that imports the module of a command only when it is asked for."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import click

Entry = tuple[str, str]
"""Module or ``module:attribute`` that holds the command, and its one line in the list."""


class LazyGroup(click.Group):
    """Lists its commands without importing any, so that ``--help`` and a light command need no heavy library."""

    def __init__(self, name: str | None = None, *, entries: Mapping[str, Entry], **attrs: Any) -> None:
        super().__init__(name, **attrs)
        self.entries = entries

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order of the flow."""
        return list(self.entries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module of ``cmd_name``; name the extra to install where its libraries are missing."""
        if cmd_name not in self.entries:
            return None
        module, _, attribute = self.entries[cmd_name][0].partition(":")
        try:
            return getattr(importlib.import_module(module), attribute or "command")
        except ModuleNotFoundError as missing:
            raise click.ClickException(
                f"`{ctx.command_path} {cmd_name}` needs the Python package {missing.name}, which is not installed; "
                "install the extras: pip install 'turnmill[jobs,embed,train]'"
            ) from missing

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list without importing any command."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, words) for name, (_, words) in self.entries.items()])
