"""Items planted in every batch in the forms in which they leak. One that is not found proves the check blind."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

CANARIES = 16
"""Planted in each batch, a quarter of them in each form."""

_UPPER = str.maketrans(string.ascii_lowercase, string.ascii_uppercase)

FORMS: Mapping[str, Callable[[str], dict[str, Any]]] = {
    "verbatim": lambda text: _message("user", text),
    "cased": lambda text: _message("user", text.translate(_UPPER)),
    "spaced": lambda text: _message("assistant", "\n " + re.sub(" +", "  \t ", text) + " \n"),
    "in a tool result": lambda text: _message("tool", orjson.dumps({"results": [{"content": text}]}).decode()),
}
"""Form of a leak, and the message that it makes of an item's text."""


class CanaryMissedError(RuntimeError):
    """A planted item was not found, so nothing that the batch says can be believed."""

    safe_to_show = True


@dataclass(frozen=True)
class Canary:
    """An item by its number, and the message that it was planted in."""

    item: int
    form: str
    message: Mapping[str, Any]


def canaries(texts: Sequence[str]) -> tuple[Canary, ...]:
    """Return canaries of items at even steps among all, each form at least once."""
    steps = max(len(texts) // CANARIES, 1)
    chosen = [number for number in range(0, len(texts), steps) if _is_writable(texts[number])][:CANARIES]
    forms = list(FORMS)
    return tuple(
        Canary(item := chosen[n % len(chosen)], form := forms[n % len(forms)], FORMS[form](texts[item]))
        for n in range(max(len(chosen), len(forms)) if chosen else 0)
    )


def require_found(planted: Sequence[Canary], found: Sequence[Collection[int]]) -> None:
    """Raise ``CanaryMissedError`` unless each canary's item is among the items that were found in it."""
    missed = [one for one, items in zip(planted, found, strict=True) if one.item not in items]
    if missed:
        told = ", ".join(f"item {one.item} {one.form}" for one in missed[:5])
        raise CanaryMissedError(
            f"decontamination: wanted all {len(planted)} planted benchmark items found, missed {len(missed)} ({told}); "
            "the batch is not checked: look at the benchmark files and the thresholds"
        )


def _message(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "text": text, "tool_calls": [], "tool_call_id": None}


def _is_writable(text: str) -> bool:
    """Tell whether JSON can hold the text: lone surrogates it cannot."""
    return not any("\ud800" <= one <= "\udfff" for one in text)
