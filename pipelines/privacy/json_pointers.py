"""Where the strings of a JSON text stand: their pointers (RFC 6901), and the places of members."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import orjson

_TOKENS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|-?[0-9][0-9.eE+-]*|true|false|null|[{}\[\]:,]')


class Value(NamedTuple):
    """A string, a number or a word of a JSON text; ``is_name`` tells the name of a member from its value."""

    start: int
    end: int
    pointer: str
    is_name: bool

    def offset(self, source: str, place: int) -> int:
        """Return how many characters of the decoded value stand before a place in the source."""
        if source[self.start] != '"':
            return max(place - self.start, 0)
        return len(orjson.loads(source[self.start : place] + '"'))


class _Level:
    """An open object or array: its pointer, the member at hand, whether a name comes next."""

    def __init__(self, pointer: str, *, is_object: bool) -> None:
        self.pointer, self.is_object, self.expects_name = pointer, is_object, is_object
        self.member = "" if is_object else "0"
        self.count = 0

    def next_member(self) -> None:
        self.count += 1
        self.expects_name = self.is_object
        if not self.is_object:
            self.member = str(self.count)

    def here(self) -> str:
        return f"{self.pointer}/{self.member}"


def values_of(source: str) -> Iterator[Value]:
    """Yield all values that are no objects or arrays, and the names of members, of a valid JSON text in its order."""
    levels: list[_Level] = []
    for token in _TOKENS.finditer(source):
        mark, (start, end) = token[0][0], token.span()
        here = levels[-1].here() if levels else ""
        if mark in "{[":
            levels.append(_Level(here, is_object=mark == "{"))
        elif mark in "}]":
            levels.pop()
        elif mark == ",":
            levels[-1].next_member()
        elif mark == ":":
            levels[-1].expects_name = False
        elif levels and levels[-1].expects_name:
            name: str = orjson.loads(token[0])
            levels[-1].member = name.replace("~", "~0").replace("/", "~1")
            yield Value(start, end, levels[-1].here(), True)
        else:
            yield Value(start, end, here, False)


def member(source: str, pointer: str) -> Value | None:
    """Return the value at a pointer of a valid JSON text; the last of a repeated name counts, as for parsers."""
    found = None
    for value in values_of(source):
        if value.pointer == pointer and not value.is_name:
            found = value
    return found
