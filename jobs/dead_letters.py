"""``turnmill dead-letters``: what could not be used, why, and how to try it again or let it go."""

from __future__ import annotations

from jobs.lazy_group import LazyGroup

command = LazyGroup(
    "dead-letters",
    entries={
        "list": ("jobs.letters_list:list_letters", "Count dead letters by reason; --by counts over time."),
        "show": ("jobs.letters_list:show_letter", "Decrypt one dead letter and print it."),
        "replay": ("jobs.letters_replay:replay_letters", "Send dead letters to Kafka again, each record once."),
        "expire": ("jobs.letters_expire:expire_letters", "Remove the payloads of letters that are older than a time."),
        "join": ("jobs.fragments_join", "Join pieces of streamed answers that came as records of their own."),
    },
    help="List, show, replay, expire and join what could not be used.",
)
