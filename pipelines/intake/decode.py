"""The bytes of a record -> its log entries, or a typed reason for each that cannot be read."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, NoReturn

import orjson

from schemas.records import DeadReason

MAX_ENTRIES = 100_000
"""Entries that one record may hold. Each costs a row even when it is broken, so 16 MB of ``0,0,0`` must stay one."""

PROBED_LINES = 1_000
"""Lines among which JSON lines must have one good one, so that a broken pretty-printed object is told cheaply."""

BYTE_ORDER_MARK = b"\xef\xbb\xbf"

_SURROGATE_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")


class Undecodable(Exception):  # noqa: N818 - the name of the outcome
    """A record or a line that is no JSON. The text holds counts and positions, never values."""

    def __init__(self, reason: DeadReason, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


@dataclass(slots=True)
class LoggedEntry:
    """One log entry as decoded, or why it cannot be. ``payload`` holds its own bytes, None means the whole record.

    ``to_repair`` says that strings may hold lone surrogates or NUL; ``is_element`` that it comes from a JSON array.
    """

    value: Any = None
    payload: bytes | None = None
    to_repair: bool = False
    failure: Undecodable | None = None
    is_element: bool = False


def decode_entries(value: bytes) -> list[LoggedEntry]:
    """Return the entries of a record: one JSON object, a JSON array of them, or JSON lines split at line feeds alone.

    The list is never empty. A bad line or element fails by itself. Raises Undecodable when the record fails as a
    whole: ``empty_value``, ``bad_utf8``, ``bad_json``, ``too_deep``, ``too_large`` (too many entries),
    ``not_an_object`` (an array without any object) or ``no_messages`` (an empty array).
    """
    if value.startswith(BYTE_ORDER_MARK):
        value = value[len(BYTE_ORDER_MARK) :]
    try:
        loaded, to_repair = load_json(value)
    except Undecodable as failure:
        if not value or value.isspace():
            raise Undecodable(DeadReason.EMPTY_VALUE, f"{len(value)} bytes of white space") from None
        return _decode_lines(value, failure)
    if isinstance(loaded, list):
        return _elements(loaded, to_repair)
    return [LoggedEntry(loaded, None, to_repair)]


def load_json(raw: bytes) -> tuple[Any, bool]:
    """Parse JSON text; also tell whether strings may hold lone surrogates or NUL, which nothing downstream can store.

    Strict but for lone surrogate escapes, which some producers write when they cut an emoji in two. Of a name that an
    object has twice the last value counts, as RFC 8259 finds in most parsers; a whole number beyond 64 bits is read in
    double precision, and one beyond that is no JSON here, nor are NaN and infinities. Raises Undecodable.
    """
    try:
        return orjson.loads(raw), b"\\" in raw and b"\\u0000" in raw
    except orjson.JSONDecodeError as error:
        problem = error
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        raise Undecodable(DeadReason.BAD_UTF8, f"byte {error.start} of {len(raw)} is not UTF-8") from None
    if _SURROGATE_ESCAPE.search(raw):
        try:
            return json.loads(text, parse_constant=_refuse_constant, parse_float=_finite), True
        except RecursionError:
            raise Undecodable(DeadReason.TOO_DEEP, "nested deeper than the parser goes") from None
        except ValueError:
            pass
    if problem.msg.startswith("depth limit"):
        raise Undecodable(DeadReason.TOO_DEEP, "nested deeper than 1,024 levels")
    raise Undecodable(DeadReason.BAD_JSON, f"JSON breaks at character {problem.pos} of {len(text)}")


def _decode_lines(value: bytes, failure: Undecodable) -> list[LoggedEntry]:
    """Read JSON lines; the record's own failure stands unless one of the first lines is an object with keys."""
    if value.count(b"\n") > MAX_ENTRIES:
        raise failure
    entries: list[LoggedEntry] = []
    found_one = False
    for line in value.split(b"\n"):
        if line and not line.isspace():
            if not found_one and len(entries) >= PROBED_LINES:
                raise failure
            try:
                loaded, to_repair = load_json(line)
                entries.append(LoggedEntry(loaded, line, to_repair))
                found_one = found_one or (isinstance(loaded, dict) and bool(loaded))
            except Undecodable as bad_line:
                entries.append(LoggedEntry(None, line, False, bad_line))
    if not found_one:
        raise failure
    return entries


def _elements(loaded: list[Any], to_repair: bool) -> list[LoggedEntry]:
    if not loaded:
        raise Undecodable(DeadReason.NO_MESSAGES, "the record is an empty array")
    if not any(isinstance(element, dict) for element in loaded):
        raise Undecodable(DeadReason.NOT_AN_OBJECT, f"an array of {len(loaded)} elements, none of them an object")
    if len(loaded) > MAX_ENTRIES:
        raise Undecodable(DeadReason.TOO_LARGE, f"{len(loaded)} entries in one record, at most {MAX_ENTRIES} are read")
    return [LoggedEntry(element, None, to_repair, is_element=True) for element in loaded]


def encode_element(element: Any) -> bytes | None:
    """Return the JSON bytes of an array's element, for its dead letter; None where only the whole record can serve."""
    try:
        return orjson.dumps(element)
    except TypeError:
        pass
    try:
        return json.dumps(element).encode()
    except (ValueError, RecursionError):
        return None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if number in (float("inf"), float("-inf")):
        raise ValueError("a number beyond the range of double precision")
    return number
