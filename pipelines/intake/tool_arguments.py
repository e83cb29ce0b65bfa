"""Arguments of tool calls: kept as logged, compared in one canonical form."""

from __future__ import annotations

import json
from typing import Any, NoReturn

import orjson

from pipelines.intake.shape import BadShape
from schemas.records import DeadReason


def canonical_arguments(arguments: str) -> str | None:
    """Return the same text for equal JSON: keys sorted, no white space, ASCII; None where it is not JSON.

    NaN, infinities, concatenated values and JSON too deep for the parser are not JSON here. Integers of any size are
    kept exactly, which is why this is not orjson: two calls that differ in a long id must not become one.
    """
    try:
        value = json.loads(arguments, parse_constant=_refuse_constant)
        return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (ValueError, RecursionError):
        return None


def compact_json(value: Any, where: str) -> str:
    """Write a logged JSON value as compact JSON text, keys in logged order.

    Lone surrogates survive (they are repaired in the finished message). ``where`` names the field in errors.
    Raises BadShape (``too_deep``) for a value nested deeper than the writer goes.
    """
    try:
        return orjson.dumps(value).decode()
    except TypeError:
        pass
    try:
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    except RecursionError:
        raise BadShape(f"{where} is nested too deep", DeadReason.TOO_DEEP) from None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
