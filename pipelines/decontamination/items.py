"""Benchmark records -> items: what is asked and what is answered, apart, whatever the fields are called."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Side = Literal["prompt", "answer"]

PROMPT_FIELDS = (
    "prompt", "question", "problem", "query", "instruction", "turns", "goal", "premise", "ctx", "input", "text",
    "content",
)  # fmt: skip
ANSWER_FIELDS = (
    "answer", "answers", "reference", "reference_answer", "references", "solution", "canonical_solution", "output",
    "completion", "response", "target", "chosen",
)  # fmt: skip
ID_FIELDS = ("id", "question_id", "task_id", "item_id", "uid", "uuid", "key", "idx", "index")
"""Names by which public benchmarks call their fields, the first that a record has counts."""

USER_ROLES, ANSWER_ROLES = frozenset({"user", "human", "prompter"}), frozenset({"assistant", "gpt", "model", "bot"})


class BenchmarkError(ValueError):
    """A benchmark cannot be used. The message names file, record and fields, never their content."""

    safe_to_show = True


@dataclass(frozen=True, slots=True)
class BenchmarkItem:
    """One side of a record of a benchmark."""

    benchmark: str
    item_id: str
    side: Side
    text: str


@dataclass(frozen=True, slots=True)
class FieldNames:
    """Fields of a benchmark's records as the user names them; empty ones are found by ``PROMPT_FIELDS`` and so on.

    All fields that are named for a side count, joined by a line feed: ``("instruction", "input")``.
    """

    prompt: tuple[str, ...] = ()
    answer: tuple[str, ...] = ()
    item_id: str = ""


def records_in(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the records of a JSON value: an object, a string, an array, or an object around one array of objects."""
    if isinstance(value, list):
        for one in value:
            yield from records_in(one)
    elif isinstance(value, str):
        yield {"prompt": value}
    elif isinstance(value, Mapping):
        inner = [one for one in value.values() if isinstance(one, list) and one and isinstance(one[0], Mapping)]
        is_record = any(name in value for name in (*PROMPT_FIELDS, *ANSWER_FIELDS, "messages"))
        is_envelope = len(inner) == 1 and not is_record
        yield from records_in(inner[0]) if is_envelope else [value]


def items_of(record: Mapping[str, Any], benchmark: str, number: int, names: FieldNames) -> list[BenchmarkItem]:
    """Return the sides of a record that have text; ``number`` is its id where it has none of its own.

    Raises ``BenchmarkError`` where a field that the user named is not there, or no field can be told to be the prompt
    or the answer.
    """
    missing = sorted({*names.prompt, *names.answer, *filter(None, [names.item_id])} - record.keys())
    if missing:
        raise _unknown(benchmark, number, f"the field {', '.join(missing)}", record)
    item_id = str(next((record[n] for n in _id_fields(names) if record.get(n) not in (None, "")), number))
    told = {"prompt": _named(record, names.prompt), "answer": _named(record, names.answer)}
    if not names.prompt:
        told["prompt"] = _prompt(record)
    if not names.answer:
        told["answer"] = _first(record, ANSWER_FIELDS) or _spoken(record.get("messages"), ANSWER_ROLES)
    sides: tuple[Side, ...] = ("prompt", "answer")
    found = [BenchmarkItem(benchmark, item_id, side, told[side]) for side in sides if told[side].strip()]
    if not found:
        raise _unknown(benchmark, number, f"one of the fields {', '.join(PROMPT_FIELDS)}", record)
    return found


def _unknown(benchmark: str, number: int, wanted: str, record: Mapping[str, Any]) -> BenchmarkError:
    found = ", ".join(sorted(map(str, record)))[:200]
    return BenchmarkError(
        f"benchmark {benchmark}, record {number}: wanted {wanted} with text, found {found or 'no fields'}; "
        "name the fields of prompt and answer"
    )


def _id_fields(names: FieldNames) -> Iterable[str]:
    return (names.item_id,) if names.item_id else ID_FIELDS


def _prompt(record: Mapping[str, Any]) -> str:
    """Return what is asked: Alpaca's instruction with its input, the user's messages, or the first known field."""
    if _text(record.get("instruction")) and _text(record.get("input")):
        return _named(record, ("instruction", "input"))
    return _first(record, PROMPT_FIELDS) or _spoken(record.get("messages"), USER_ROLES)


def _first(record: Mapping[str, Any], fields: Iterable[str]) -> str:
    return next((text for name in fields if (text := _text(record.get(name)))), "")


def _named(record: Mapping[str, Any], fields: Iterable[str]) -> str:
    return "\n".join(filter(None, (_text(record.get(name)) for name in fields)))


def _spoken(messages: Any, roles: frozenset[str]) -> str:
    if not isinstance(messages, list):
        return ""
    said = [m for m in messages if isinstance(m, Mapping) and m.get("role", m.get("from")) in roles]
    return "\n".join(filter(None, (_text(m.get("content", m.get("value"))) for m in said)))


def _text(value: Any) -> str:
    """Return the text in a value; of lists and objects the strings inside, each on a line."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        told = [value[name] for name in ("content", "text", "value", "answer") if name in value]
        value = told or list(value.values())
    if isinstance(value, list | tuple):
        return "\n".join(filter(None, map(_text, value)))
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""
