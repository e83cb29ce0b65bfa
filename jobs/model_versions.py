"""``turnmill models``: which models there are, which one serves, and the way back."""

from __future__ import annotations

from jobs.lazy_group import LazyGroup

command = LazyGroup(
    "models",
    entries={
        "list": ("jobs.models_list", "List models with verdict and alias, the newest first."),
        "show": ("jobs.models_list:show_model", "Tell how a model was judged."),
        "promote": ("jobs.models_alias:promote_model", "Make a model the champion of its tenant, by hand."),
        "rollback": ("jobs.models_alias:rollback_model", "Go back to the champion before."),
        "watch": ("jobs.models_watch", "Roll back a champion that people like less than the model before."),
    },
    help="List, promote, watch and roll back models.",
)
