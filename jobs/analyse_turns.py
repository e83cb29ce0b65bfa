"""``turnmill analyse``: topics, drift, neighbours and a map of what the turns mean."""

from __future__ import annotations

from jobs.lazy_group import Entry, LazyGroup

COMMANDS: dict[str, Entry] = {
    "topics": ("jobs.analyse_windows:topics", "Clusters of turns by meaning, with the words that name them."),
    "drift": ("jobs.analyse_windows:drift", "Whether two windows differ in meaning, and which topics grew."),
    "neighbours": ("jobs.analyse_windows:neighbours", "The turns nearest to a turn."),
    "map": ("jobs.analyse_windows:turn_map", "A table of turns in two dimensions, for plotting."),
}

command = LazyGroup("analyse", entries=COMMANDS, help="Topics, drift, neighbours and a map of what the turns mean.")
