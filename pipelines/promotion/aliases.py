"""Which model is served: one champion and one challenger a tenant, and the way back. No I/O."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from typing import Any

CHAMPION, CHALLENGER = "champion", "challenger"
Row = dict[str, Any]


class AliasError(ValueError):
    """An alias that cannot be moved as asked; the message says why and what to do."""

    safe_to_show = True


def champion_of(models: Iterable[Mapping[str, Any]], tenant: str) -> Row | None:
    """Return the tenant's champion; None before the first promotion."""
    return next((dict(m) for m in models if m["tenant"] == tenant and m["alias"] == CHAMPION), None)


def promoted(models: Iterable[Mapping[str, Any]], name: str, at: dt.datetime, reason: str) -> list[Row]:
    """Return the rows that change when ``name`` becomes champion of its tenant; the champion so far loses the alias.

    Raises ``AliasError`` for an unknown model, or one that was trained on rows erased since.
    """
    rows = [dict(m) for m in models]
    model = _named(rows, name)
    if model["contains_erased"]:
        raise AliasError(f"{name} was trained on rows that were erased since; train again without them")
    before = champion_of(rows, model["tenant"])
    if before is not None and before["model_version"] == name:
        return []
    changed = [{**model, "alias": CHAMPION, "promoted_at": at, "alias_reason": reason,
                "replaced": before["model_version"] if before else None}]  # fmt: skip
    if before is not None:
        changed.append({**before, "alias": None, "alias_reason": f"Replaced by {name}."})
    return changed


def challenged(models: Iterable[Mapping[str, Any]], name: str, reason: str) -> list[Row]:
    """Return the rows that change when ``name`` becomes challenger: a candidate held for want of evidence."""
    rows = [dict(m) for m in models]
    model = _named(rows, name)
    before = [m for m in rows if m["tenant"] == model["tenant"] and m["alias"] == CHALLENGER]
    changed = [{**m, "alias": None, "alias_reason": f"Followed by {name}."} for m in before]
    return [{**model, "alias": CHALLENGER, "alias_reason": reason}, *changed]


def rolled_back(models: Iterable[Mapping[str, Any]], tenant: str, at: dt.datetime, reason: str) -> list[Row]:
    """Return the rows that change when the champion steps back for the one that it replaced.

    Models that contain erased rows are passed over. Without a model to go back to the alias is taken away: the base
    then serves. Raises ``AliasError`` where there is no champion.
    """
    rows = [dict(m) for m in models]
    champion = champion_of(rows, tenant)
    if champion is None:
        raise AliasError(f"wanted a champion of tenant {tenant} to roll back, found none")
    by_name = {m["model_version"]: m for m in rows}
    name, seen = champion["replaced"], {champion["model_version"]}
    while name in by_name and name not in seen and by_name[name]["contains_erased"]:
        seen.add(name)
        name = by_name[name]["replaced"]
    told = f"Rolled back: {reason}"
    changed = [{**champion, "alias": None, "rolled_back_at": at, "alias_reason": told}]
    if name in by_name and name not in seen:
        words = f"Back after {champion['model_version']} was rolled back."
        changed.append({**by_name[name], "alias": CHAMPION, "alias_reason": words})
    return changed


def _named(rows: list[Row], name: str) -> Row:
    found = next((m for m in rows if m["model_version"] == name), None)
    if found is None:
        raise AliasError(f"wanted a model version, found none of the name {name}; `turnmill models list` shows them")
    return found
