"""Whether JSON and code still parse after the edit."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from privacy_scores.leaks import percent
from privacy_scores.outcome import Outcome
from privacy_sets.labelled import Sample

_BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)


def keeps_json(before: str, after: str) -> bool:
    """Tell whether a JSON text still parses, with the same objects, lists and number of keys."""
    try:
        return _shape(json.loads(before)) == _shape(json.loads(after))
    except ValueError:
        return False


def keeps_python(before: str, after: str) -> bool:
    """Tell whether a text has as many code blocks as before and each still compiles."""
    blocks = _BLOCK.findall(after)
    if len(blocks) != len(_BLOCK.findall(before)) or after.count("```") != before.count("```"):
        return False
    try:
        for block in blocks:
            ast.parse(block)
    except (SyntaxError, ValueError):
        return False
    return True


CHECKS: Mapping[str, Callable[[str, str], bool]] = {"json": keeps_json, "python": keeps_python}


def structure(samples: Sequence[Sample], outcomes: Sequence[Outcome]) -> dict[str, dict[str, float | int]]:
    """Return by structure the changed texts and the share of them, in percent, that still parse."""
    counts: dict[str, list[int]] = {}
    for sample, outcome in zip(samples, outcomes, strict=True):
        if sample.structure and outcome.text is not None and outcome.replaced:
            kept = counts.setdefault(sample.structure, [0, 0])
            kept[0] += 1
            kept[1] += CHECKS[sample.structure](sample.text, outcome.text)
    return {
        name: {"changed": changed, "kept_percent": percent(kept, changed)} for name, (changed, kept) in counts.items()
    }


def _shape(value: Any) -> Any:
    if isinstance(value, dict):
        return ["object", *(_shape(inner) for inner in value.values())]
    if isinstance(value, list):
        return ["list", *(_shape(inner) for inner in value)]
    return "leaf"
