"""JSON inside JSON: bodies that a log holds as text."""

from __future__ import annotations

import json
from typing import Any, NoReturn

import orjson

from pipelines.intake.shape import BadShape


def looks_like_json(text: str) -> bool:
    """Tell whether the text begins like a JSON object or list. Plain words never do."""
    return text.lstrip()[:1] in ("{", "[")


def load_json(text: str, where: str) -> Any:
    """Return the value of a JSON text. Lone surrogates survive (they are repaired in the finished message).

    ``where`` names the field in errors. Raises BadShape for anything else: broken, cut, NaN, nested too deep.
    """
    try:
        return orjson.loads(text)
    except ValueError:
        pass
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise BadShape(f"{where} must be JSON, found text that does not parse") from None


def load_body(value: Any, where: str) -> Any:
    """Return a logged body: JSON text decoded, other values as they are; None for blank text. Raises BadShape."""
    if not isinstance(value, str):
        return value
    return load_json(value, where) if value.strip() else None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
