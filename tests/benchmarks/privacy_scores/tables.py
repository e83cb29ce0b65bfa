"""The report as Markdown tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Report = Mapping[str, Any]

_COLUMNS = (
    "system", "names left", "addresses left", "patterned left", "claimed left", "over, characters", "texts touched",
    "texts/s", "MB/s",
)  # fmt: skip


def tables(report: Report) -> str:
    """Return a table a set with all systems, and a table a set with the characters left by kind."""
    parts = []
    for name, entry in report["sets"].items():
        if "missing" in entry:
            parts.append(f"**{name}**: {entry['missing']}")
            continue
        parts.append(f"**{name}**: {entry['texts']} texts, {entry['megabytes']} MB")
        parts.append(_table(_COLUMNS, (_row(system, one) for system, one in entry["systems"].items())))
        parts.append(_kinds(entry["systems"]))
        if entry["unclaimed"]:
            parts.append("Claimed by none: " + ", ".join(f"{kind} ({n})" for kind, n in entry["unclaimed"].items()))
    parts.append(_talks(report))
    parts += [f"{name}: {about['missing']}" for name, about in report["systems"].items() if about.get("missing")]
    return "\n\n".join(part for part in parts if part)


def _row(system: str, one: Mapping[str, Any]) -> list[str]:
    over = one["over_redaction"]
    return [
        system,
        *(_left(one[group]) for group in ("names", "addresses", "patterned", "claimed")),
        f"{over['characters_percent']:.2f} %",
        f"{over['texts_touched_percent']:.1f} %",
        f"{one['texts_per_second']:,.0f}",
        f"{one['megabytes_per_second']:.2f}",
    ]


def _left(group: Mapping[str, Any]) -> str:
    return f"{group['characters_left_percent']:.1f} %" if group["entities"] else "-"


def _kinds(systems: Mapping[str, Any]) -> str:
    """Return the characters left by kind; what a system does not claim stands in brackets."""
    kinds = next(iter(systems.values()))["types"]
    if not kinds:
        return ""
    rows = []
    for kind, first in kinds.items():
        cells = [
            text if types[kind]["claimed"] else f"({text})"
            for types in (one["types"] for one in systems.values())
            for text in [f"{types[kind]['characters_left_percent']:.1f}"]
        ]
        rows.append([kind, str(first["entities"]), *cells])
    return _table(("characters left, %", "values", *systems), rows)


def _talks(report: Report) -> str:
    """Return consistency, structure and utility on the chat set."""
    systems = report["sets"].get("chat", {}).get("systems", {})
    rows = []
    for name, one in systems.items():
        same, kept, near = one["consistency"], one["structure"], one.get("utility", {})
        rows.append(
            [
                name,
                _percent(same["same_in_talk_percent"]),
                _percent(same["same_over_talks_percent"]),
                _percent(same["sharing_percent"]),
                *(_percent(kept.get(kind, {}).get("kept_percent")) for kind in ("json", "python")),
                f"{near['mean']:.3f}" if "mean" in near else "-",
                str(one["cases_passed"]) if "cases_passed" in one else "-",
            ]
        )
    head = ("system", "same in a talk", "same over talks", "sharing", "JSON kept", "code kept", "cosine", "open cases")
    return "**Talks and structure** (chat)\n\n" + _table(head, rows) if rows else ""


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.1f} %"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    rule = ["---", *("---:" for _ in head[1:])]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, rule, *rows))
