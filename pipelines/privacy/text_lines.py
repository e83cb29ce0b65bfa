"""JSON lines without their personal values: bare strings, objects with a text, whole log records."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from pipelines.privacy.anonymizer import Anonymized, Anonymizer, Edit, Row, Whose
from pipelines.privacy.json_pointers import Value, member, values_of

_TEXT, _REST = "text", "rest"
_USER_NAMES = ("user_id", "user")
_CONVERSATION_NAMES = ("conversation_id", "session_id", "thread_id")
Entity = dict[str, Any]


@dataclass(slots=True)
class Line:
    """One line of JSON: its source without the text, the text, and the values of the source by place."""

    rest: str
    text: str | None
    whose: Whose
    pointer: str = ""
    is_string: bool = False


def read_line(source: str, text_field: str) -> Line:
    """Return the parts of a line of valid JSON; raises ``orjson.JSONDecodeError`` for others.

    A bare string is a text; in an object the member ``text_field``, where it is a string, is read as text of its own
    and everything else as a record.
    """
    value = orjson.loads(source)
    if isinstance(value, str):
        return Line("", value, Whose(), is_string=True)
    if not isinstance(value, dict):
        return Line(source, None, Whose())
    whose = Whose(_told(value, _USER_NAMES), _told(value, _CONVERSATION_NAMES))
    text = value.get(text_field)
    pointer = "/" + text_field.replace("~", "~0").replace("/", "~1")
    place = member(source, pointer) if isinstance(text, str) else None
    if place is None:
        return Line(source, None, whose)
    return Line(source[: place.start] + "null" + source[place.end :], text, whose, pointer)


def _told(value: dict[str, Any], names: Sequence[str]) -> str | None:
    return next((value[name] for name in names if isinstance(value.get(name), str) and value[name]), None)


def anonymize_lines(lines: Sequence[Line], anonymizer: Anonymizer, tenant: str) -> list[bytes | Exception]:
    """Return the new JSON of each line with ``entities``, or why it must not pass.

    A bare string becomes {"text", "entities"}, an array {"record", "entities"}.
    """
    rows = [Row(tenant, _fields(line), _known(line), line.whose) for line in lines]
    results: list[bytes | Exception] = []
    for line, clean in zip(lines, anonymizer.batch(rows), strict=True):
        results.append(clean if isinstance(clean, Exception) else _written(line, clean))
    return results


def _fields(line: Line) -> dict[str, str]:
    fields = {_TEXT: line.text, _REST: line.rest}
    return {name: text for name, text in fields.items() if text}


def _known(line: Line) -> tuple[str, ...]:
    return (line.whose.user,) if line.whose.user else ()


def _written(line: Line, clean: dict[str, Anonymized]) -> bytes:
    nothing = Anonymized(line.text or "", [])
    text = clean.get(_TEXT, nothing)
    entities = [_entity(edit, edit.start, edit.end) for edit in text.edits]
    if line.is_string:
        return orjson.dumps({"text": text.text, "entities": entities})
    rest = clean[_REST]
    entities += _placed(line.rest, rest)
    new = rest.text
    if line.text is not None:
        place = member(new, line.pointer)
        if place is None:
            raise LookupError("the text's member is gone after the edit")
        new = new[: place.start] + orjson.dumps(text.text).decode() + new[place.end :]
    return _with_entities(new.strip(), entities)


def _with_entities(source: str, entities: list[Entity]) -> bytes:
    """Write ``entities`` into the line's object, its other members byte for byte as they are."""
    told = orjson.dumps(entities).decode()
    if not source.startswith("{"):
        return f'{{"record":{source},"entities":{told}}}'.encode("utf-8", "surrogatepass")
    if '"entities"' in source:
        return orjson.dumps({**orjson.loads(source), "entities": entities})
    comma = "" if source[1:-1].isspace() or len(source) == 2 else ","
    return f'{source[:-1]}{comma}"entities":{told}}}'.encode("utf-8", "surrogatepass")


def _placed(source: str, clean: Anonymized) -> list[Entity]:
    """Return the edits of a record as entities of its fields, offsets in the decoded strings.

    Pointers are those of the new record, since names of members may be personal themselves.
    """
    if not clean.edits:
        return []
    values = list(values_of(source))
    starts = [value.start for value in values]
    pointers = [value.pointer for value in values_of(clean.text)]
    entities = []
    for edit in sorted(clean.edits):
        place = bisect_right(starts, edit.start) - 1
        entities.append(_in_field(source, edit, values[place]._replace(pointer=pointers[place])))
    return entities


def _in_field(source: str, edit: Edit, value: Value) -> Entity:
    entity = _entity(edit, value.offset(source, edit.start), value.offset(source, edit.end))
    return {**entity, "field": value.pointer, **({"of": "name"} if value.is_name else {})}


def _entity(edit: Edit, start: int, end: int) -> Entity:
    return {"type": edit.kind, "start": start, "end": end, "replacement": edit.replacement, "score": edit.score}
