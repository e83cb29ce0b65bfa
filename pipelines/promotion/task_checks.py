"""What an answer can be checked for without a model: the task is read off the answer that was wanted."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

EXACT_WORDS = 8
"""Longest wanted answer, in words, that is compared word by word; longer ones have many good wordings."""
TOOL_CALL = re.compile(r"<tool_call>\s*(.*?)\s*</tool_call>", re.DOTALL)
"""How the tiny base and the Hermes and Qwen families write a call (Hermes function calling, prompt format)."""
FENCE = re.compile(r"\A\s*```(?:json)?\s*\n(.*?)\n?```\s*\Z", re.DOTALL | re.IGNORECASE)
REFUSAL = re.compile(
    r"\A\W*(?:(?:i(?:'|’)?m|i am|we(?:'|’)?re) (?:very |truly |so )?sorry[,.;:!]?(?: but)? |sorry[,.;:!]?(?: but)? |"
    r"unfortunately,? |as an? (?:ai|language model)[^.]{0,40}, )*"
    r"(?:i|we) (?:can(?:'|’)?t|cannot|can not|won(?:'|’)?t|will not|am unable to|(?:'|’)?m unable to|am not able to|"
    r"(?:'|’)?m not able to|must decline|have to decline|decline)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class CheckedAnswer:
    """What the checks found in one answer; None where a check does not apply to the wanted answer."""

    exact: bool | None
    json_valid: bool | None
    tool_call: bool | None
    refused: bool
    length_ratio: float
    """Characters of the answer per character wanted."""

    def scores(self) -> dict[str, float]:
        """The checks that apply, by name; higher is better for all but ``refused`` and ``length_ratio``."""
        found = {name: getattr(self, name) for name in ("exact", "json_valid", "tool_call", "refused")}
        return {k: float(v) for k, v in found.items() if v is not None} | {"length_ratio": self.length_ratio}


def check_answer(wanted: Mapping[str, Any], answer: str) -> CheckedAnswer:
    """Check ``answer``, text as a model writes it, against the wanted assistant message in TRL's form.

    A wanted tool call: equal names and arguments, in any order. Wanted JSON: JSON of the same kind (object or list)
    with all keys of the wanted object. A short wanted answer: the same words. ``refused`` is told for every answer.
    """
    calls = wanted.get("tool_calls") or []
    text = str(wanted.get("content") or "")
    wanted_json = None if calls else _json_of(text)
    is_short = not calls and wanted_json is None and 0 < len(text.split()) <= EXACT_WORDS
    length = len(text) if not calls else len(text) + sum(len(orjson.dumps(call["function"])) for call in calls)
    return CheckedAnswer(
        exact=_words(answer) == _words(text) if is_short else None,
        json_valid=_fits(wanted_json, _json_of(answer)) if wanted_json is not None else None,
        tool_call=_called_alike(calls, answer) if calls else None,
        refused=bool(REFUSAL.match(answer)),
        length_ratio=len(answer) / max(1, length),
    )


def tool_calls_in(answer: str) -> list[tuple[str, bytes]]:
    """Return the tool calls that ``answer`` writes as (name, canonical arguments); what is no call is left out."""
    found = []
    for body in TOOL_CALL.findall(answer):
        call = _parsed(body)
        if isinstance(call, dict) and isinstance(call.get("name"), str):
            found.append(_called({"function": call}))
    return [(name, arguments) for name, arguments in found]


def _called_alike(wanted: list[Mapping[str, Any]], answer: str) -> bool:
    return sorted(_called(call) for call in wanted) == sorted(tool_calls_in(answer))


def _called(call: Mapping[str, Any]) -> tuple[str, bytes]:
    function = call["function"]
    arguments = function.get("arguments")
    if isinstance(arguments, str):
        parsed = _parsed(arguments)
        arguments = arguments if parsed is None else parsed
    return str(function.get("name")), orjson.dumps(arguments, option=orjson.OPT_SORT_KEYS)


def _fits(wanted: Any, found: Any) -> bool:
    if isinstance(wanted, dict):
        return isinstance(found, dict) and wanted.keys() <= found.keys()
    return isinstance(found, type(wanted))


def _json_of(text: str) -> Any:
    """Return the object or list that ``text`` is, in a fence or bare; None for all else, numbers and words too."""
    fenced = FENCE.match(text)
    value = _parsed(fenced[1] if fenced else text)
    return value if isinstance(value, dict | list) else None


def _parsed(text: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return None


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())
