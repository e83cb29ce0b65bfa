"""``turnmill runs``: what training ran, how it went, and the way to end it."""

from __future__ import annotations

from jobs.lazy_group import LazyGroup

command = LazyGroup(
    "runs",
    entries={
        "list": ("jobs.runs_show:list_runs", "List training runs, the newest first."),
        "show": ("jobs.runs_show:show_run", "Tell where a run stands and what came out."),
        "logs": ("jobs.runs_show:show_logs", "Print what the processes of a run wrote."),
        "join": ("jobs.runs_join:join_run", "Bring this machine's processes into a run of several machines."),
        "cancel": ("jobs.runs_show:cancel_run", "End the processes of a run on this machine."),
    },
    help="List, show and end training runs.",
)
