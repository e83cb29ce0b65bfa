"""``turnmill dataset``: what was cut, what is in it, whether it is still the same, and the forms that trainers read."""

from __future__ import annotations

from jobs.lazy_group import LazyGroup

command = LazyGroup(
    "dataset",
    entries={
        "list": ("jobs.dataset_list:list_versions", "List dataset versions, the newest first."),
        "show": ("jobs.dataset_list:show_version", "Show the manifest of a version."),
        "diff": ("jobs.dataset_diff:compare_versions", "Compare two versions, example by example."),
        "export": ("jobs.dataset_export:export_version", "Write a version in the form of a trainer."),
        "verify": ("jobs.dataset_verify:verify_version", "Read a version again and compare its hashes."),
    },
    help="List, show, compare, export and verify dataset versions, without Spark and Java.",
)
