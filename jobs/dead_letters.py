"""``turnmill dead-letters``: what could not be used, why, and how to try it again or let it go."""

from __future__ import annotations

import click

from jobs.letters_expire import expire_letters
from jobs.letters_list import list_letters, show_letter
from jobs.letters_replay import replay_letters

JOIN_WORDS = "Join pieces of streamed answers that came as records of their own."


class DeadLetters(click.Group):
    """Loads ``join`` on first use: it alone needs Spark before it is asked to do anything."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order of use."""
        return [*self.commands, "join"]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the job of ``join``."""
        if cmd_name != "join":
            return super().get_command(ctx, cmd_name)
        try:
            from jobs.fragments_join import command as join_fragments
        except ModuleNotFoundError as missing:
            raise click.ClickException(
                f"`turnmill dead-letters join` needs the Python package {missing.name}, which is not installed; "
                "install the extra: pip install 'turnmill[jobs]'"
            ) from missing
        return join_fragments

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list without importing ``join``."""
        words = [(name, one.get_short_help_str(limit=100)) for name, one in self.commands.items()]
        with formatter.section("Commands"):
            formatter.write_dl([*words, ("join", JOIN_WORDS)])


command = DeadLetters(
    "dead-letters",
    commands=[list_letters, show_letter, replay_letters, expire_letters],
    help="List, show, replay, expire and join what could not be used.",
)
