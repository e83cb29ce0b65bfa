"""What intake makes of the log files of a set: how many turns, repeats and branches, and what it refused and why."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from pipelines.adapters.log_files import log_entries
from pipelines.intake.identity import KEY_BYTES, IdentityKey
from pipelines.intake.items import Feedback, Fragment, Rejection, Turn
from pipelines.intake.parse import parse_record

COLUMNS = ("records", "turns", "repeats", "branches", "feedback", "fragments", "dead letters", "MB", "seconds")


@dataclass(slots=True)
class Outcome:
    """Counts of one set. Each record is in one of them at least; ``unaccounted`` counts those that are in none.

    ``turns`` are distinct; ``repeats`` came again under the same id. ``branches`` are turns that are not the first
    under their parent, system messages aside. ``seconds`` are those of parsing alone, in one process.
    """

    records: int = 0
    turns: int = 0
    repeats: int = 0
    branches: int = 0
    feedback: int = 0
    fragments: int = 0
    dead_letters: dict[str, int] = field(default_factory=dict)
    unaccounted: int = 0
    bytes: int = 0
    seconds: float = 0.0


def outcome_of(files: Iterable[Path]) -> Outcome:
    """Read every entry of the files as intake does; the key of identity is a fixed one."""
    identity, found = IdentityKey(bytes(range(KEY_BYTES))), Outcome()
    parent_of: dict[str, str] = {}
    told: set[str] = set()
    reasons: Counter[str] = Counter()
    for file in files:
        for entry in log_entries(file):
            started = time.perf_counter()
            items = parse_record(entry, {}, identity)
            found.seconds += time.perf_counter() - started
            found.records += 1
            found.bytes += len(entry)
            found.unaccounted += not items
            for item in items:
                if isinstance(item, Turn):
                    found.repeats += item.turn_id in told
                    told.add(item.turn_id)
                    if item.message.role != "system":
                        parent_of[item.turn_id] = item.parent_id
                elif isinstance(item, Rejection):
                    reasons[str(item.reason)] += 1
                found.feedback += isinstance(item, Feedback)
                found.fragments += isinstance(item, Fragment)
    found.turns, found.dead_letters = len(told), dict(sorted(reasons.items()))
    found.branches = len(parent_of) - len(set(parent_of.values()))
    found.seconds = round(found.seconds, 3)
    return found


def total_of(outcomes: Sequence[Outcome]) -> Outcome:
    """Return the sums; sets share no turns."""
    total = Outcome()
    reasons: Counter[str] = Counter()
    for one in outcomes:
        reasons.update(one.dead_letters)
        for name, value in asdict(one).items():
            if name != "dead_letters":
                setattr(total, name, getattr(total, name) + value)
    total.dead_letters, total.seconds = dict(sorted(reasons.items())), round(total.seconds, 3)
    return total


def table(outcomes: dict[str, Outcome]) -> str:
    """Return the counts as a Markdown table, one row a set and the total last."""
    rows = [["dataset", *COLUMNS], ["---", *("---:" for _ in COLUMNS)]]
    rows += [_row(name, one) for name, one in outcomes.items()]
    rows.append(_row("total", total_of(list(outcomes.values()))))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _row(name: str, one: Outcome) -> list[str]:
    refused = ", ".join(f"{count:,} {reason}" for reason, count in one.dead_letters.items()) or "0"
    counts = (one.records, one.turns, one.repeats, one.branches, one.feedback, one.fragments)
    return [name, *(f"{count:,}" for count in counts), refused, f"{one.bytes / 1e6:.1f}", f"{one.seconds:.2f}"]
