"""The figures of one system on one set, and the tables of all of them."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from privacy_scores.consistency import consistency
from privacy_scores.leaks import Leak, leaks, total
from privacy_scores.outcome import Outcome
from privacy_scores.over_redaction import over_redaction
from privacy_scores.structure import structure
from privacy_sets.labelled import ADDRESSES, KINDS, NAMES, PATTERNED, LabelledSet, Sample

Figures = dict[str, Any]


def figures(
    whole: LabelledSet, outcomes: Sequence[Outcome], seconds: Sequence[float], claims: Sequence[str]
) -> Figures:
    """Return all measures of one system on one set; a rate is the median of the passes after the first, if any."""
    samples = whole.samples
    by_kind = leaks(samples, outcomes)
    pace = statistics.median(seconds[1:] or seconds)
    result: Figures = {
        "refused_texts": sum(outcome.text is None for outcome in outcomes),
        "types": {kind: by_kind[kind].rates() | {"claimed": kind in claims} for kind in KINDS if kind in by_kind},
        "names": _sum(by_kind, (NAMES,)),
        "addresses": _sum(by_kind, (ADDRESSES,)),
        "patterned": _sum(by_kind, PATTERNED),
        "claimed": _sum(by_kind, claims),
        "over_redaction": over_redaction(samples, outcomes),
        "consistency": consistency(samples, outcomes),
        "structure": structure(samples, outcomes),
        "passes": len(seconds),
        "texts_per_second": round(len(samples) / pace, 1),
        "megabytes_per_second": round(whole.bytes / pace / 1e6, 4),
    }
    if languages := _languages(samples, outcomes):
        result["languages"] = languages
    return result


def unclaimed(results: Mapping[str, Figures], claims: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Return the labelled kinds that no system claims, with the number of their values."""
    claimed = {kind for kinds in claims.values() for kind in kinds}
    first = next(iter(results.values()), {"types": {}})
    return {kind: one["entities"] for kind, one in first["types"].items() if kind not in claimed}


def worse_than_peers(results: Mapping[str, Figures], ours: str) -> dict[str, dict[str, list[float]]]:
    """Return by kind the peers that claim it and leave fewer of its characters than ours: [theirs, ours] in percent."""
    if ours not in results:
        return {}
    worse: dict[str, dict[str, list[float]]] = {}
    for name, result in results.items():
        for kind, one in result["types"].items():
            mine = results[ours]["types"].get(kind)
            left = one["characters_left_percent"]
            if name != ours and one["claimed"] and mine and left < mine["characters_left_percent"]:
                worse.setdefault(kind, {})[name] = [left, mine["characters_left_percent"]]
    return worse


def _sum(by_kind: Mapping[str, Leak], kinds: Sequence[str]) -> dict[str, float | int]:
    return total(by_kind[kind] for kind in kinds if kind in by_kind).rates()


def _languages(samples: Sequence[Sample], outcomes: Sequence[Outcome]) -> Figures:
    """Return names, addresses and patterned kinds by language; nothing for a set of one language."""
    codes = sorted({sample.language for sample in samples})
    if len(codes) < 2:
        return {}
    rows: Figures = {}
    for code in codes:
        pairs = [pair for pair in zip(samples, outcomes, strict=True) if pair[0].language == code]
        by_kind = leaks([sample for sample, _ in pairs], [outcome for _, outcome in pairs])
        groups = {"names": (NAMES,), "addresses": (ADDRESSES,), "patterned": PATTERNED}
        sums = {name: _sum(by_kind, kinds) for name, kinds in groups.items()}
        rows[code] = {
            name: {"entities": one["entities"], "characters_left_percent": one["characters_left_percent"]}
            for name, one in sums.items()
        }
    return rows
