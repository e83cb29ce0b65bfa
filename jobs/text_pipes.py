"""``turnmill pipe``: single stages as filters, JSON lines in and JSON lines out, without Kafka, Spark or a lake.

turnmill pipe parse < in.jsonl > out.jsonl
"""

from __future__ import annotations

from jobs.lazy_group import LazyGroup

command = LazyGroup(
    "pipe",
    entries={
        "parse": ("jobs.pipe_parse:parse", "Log entries of any format -> their turns, raw."),
        "anonymize": ("jobs.pipe_anonymize:anonymize", "Texts or log entries -> the same without personal values."),
        "quality": (
            "jobs.pipe_quality:quality",
            "Texts or log entries -> the same with quality signals and a verdict.",
        ),
        "dedup": ("jobs.pipe_dedup:dedup", "Texts or log entries -> the same, each told which earlier one it repeats."),
        "decontaminate": (
            "jobs.pipe_decontaminate:decontaminate",
            "Texts or log entries -> the same, each told which benchmark items it holds.",
        ),
    },
    help="Filters without Kafka and Spark: JSON lines in, JSON lines out, counts on stderr.",
)
