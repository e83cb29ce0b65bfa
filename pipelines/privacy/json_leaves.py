"""The strings and long numbers of a JSON text, each with a map from its decoded characters to their source."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import orjson

from pipelines.privacy.folding import compose

MAX_NESTING = 2
"""How often JSON inside a JSON string is opened."""

_TOKENS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|-?[0-9][0-9.eE+-]*|[{}\[\]:,]')
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})(?:\\u([dD][c-fC-F][0-9a-fA-F]{2}))?|(.))")
_SINGLE = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_SHORT_NUMBER = 7


class Leaf(NamedTuple):
    """A decoded string, key or number.

    ``starts[i]`` is the source place of its character i, with one more for the end; None is one to one.
    ``label`` is the key that it is the value of, empty for a key itself. ``quote`` is what must enclose text in its
    place: a number has no quotes of its own, and inside a string they are escaped. ``depth`` counts the JSON strings
    that it stands in.
    """

    text: str
    starts: Sequence[int] | None
    label: str | None
    quote: str
    depth: int = 0

    def escaped(self, text: str) -> str:
        """Return ``text`` as it must be written in the place of a part of the leaf."""
        for _ in range(self.depth):
            text = orjson.dumps(text).decode()[1:-1]
        return text


def looks_like_json(text: str) -> bool:
    """Tell whether a text begins and ends like a JSON object, array or string."""
    bare = text.strip()
    return len(bare) > 1 and bare[0] + bare[-1] in ("{}", "[]", '""')


def is_json(text: str) -> bool:
    """Tell whether a text is JSON."""
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    return True


def json_leaves(source: str) -> list[Leaf] | None:
    """Return all string leaves, keys and numbers of 7 digits and more, in source order; None when it is not JSON.

    Strings that hold JSON are opened up to two levels deep. Edits at the mapped places keep the text parseable and
    everything else byte for byte: white space, number forms, escapes, repeated keys.
    """
    return _leaves(source, None, 0) if looks_like_json(source) else None


def _leaves(source: str, outer: Sequence[int] | None, depth: int) -> list[Leaf] | None:
    if not is_json(source):
        return None
    found: list[Leaf] = []
    for start, end, label in _places(source):
        if source[start] == '"':
            text, starts = _decoded(source, start + 1, end - 1)
            mapped = compose(outer, starts) or starts
            inner = _leaves(text, mapped, depth + 1) if depth < MAX_NESTING and looks_like_json(text) else None
            found.extend([Leaf(text, mapped, label, "", depth + 1)] if inner is None else inner)
        elif end - start >= _SHORT_NUMBER:
            starts = range(start, end + 1)
            quote = _escaped_quote(depth)
            found.append(Leaf(source[start:end], compose(outer, starts) or starts, label, quote, depth + 1))
    return found


def _places(source: str) -> Iterator[tuple[int, int, str | None]]:
    """Yield start, end and label of every string and number of a valid JSON text; a key's label is empty."""
    labels: list[str | None] = []
    in_object: list[bool] = []
    label: str | None = None
    expects_key = False
    for token in _TOKENS.finditer(source):
        start, end = token.span()
        mark = source[start]
        if mark in "{[":
            labels.append(label)
            in_object.append(mark == "{")
            expects_key = mark == "{"
        elif mark in "}]":
            label = labels.pop()
            in_object.pop()
        elif mark == ",":
            expects_key = in_object[-1]
        elif mark == ":":
            expects_key = False
        elif expects_key:
            yield start, end, ""
            label = source[start + 1 : end - 1]
        else:
            yield start, end, label


def _decoded(source: str, start: int, end: int) -> tuple[str, Sequence[int]]:
    """Return the string between two quotes and the source place of each of its characters."""
    if source.find("\\", start, end) < 0:
        return source[start:end], range(start, end + 1)
    pieces: list[str] = []
    starts: list[int] = []
    done = start
    for escape in _ESCAPE.finditer(source, start, end):
        pieces.append(source[done : escape.start()])
        starts.extend(range(done, escape.start()))
        decoded, done = _unescaped(escape)
        pieces.append(decoded)
        starts.extend([escape.start()] if len(decoded) == 1 else [escape.start(), escape.start() + 6])
    pieces.append(source[done:end])
    starts.extend(range(done, end + 1))
    return "".join(pieces), starts


def _unescaped(escape: re.Match[str]) -> tuple[str, int]:
    """Return the character (two where the pair is none) of an escape and the end of its source."""
    if escape[3]:
        return _SINGLE.get(escape[3], escape[3]), escape.end()
    high = int(escape[1], 16)
    if not escape[2]:
        return chr(high), escape.end()
    low = int(escape[2], 16)
    if 0xD800 <= high < 0xDC00:
        return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00)), escape.end()
    return chr(high) + chr(low), escape.end()


def _escaped_quote(depth: int) -> str:
    return "\\" * (2**depth - 1) + '"'
