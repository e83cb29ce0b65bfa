"""The strings and long numbers of a JSON text, and a map from their decoded characters to their source."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import orjson

from pipelines.privacy.folding import compose

MAX_NESTING = 2
"""How often JSON inside a JSON string is opened."""

# A string in front of a colon is a key; numbers count from 7 characters on.
_TOKENS = re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)"([ \t\n\r]*:)?|([{}\[\]])|(-[0-9][0-9.eE+-]{5,}|[0-9][0-9.eE+-]{6,})')
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})(?:\\u([dD][c-fC-F][0-9a-fA-F]{2}))?|(.))")
_SINGLE = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


class Leaf(NamedTuple):
    """A decoded string, key or number.

    ``label`` is the key that it is the value of, empty for a key itself. ``quote`` is what must enclose text in its
    place: a number has no quotes of its own, and inside a string they are escaped. ``depth`` counts the JSON strings
    that it stands in, ``owner`` is the key of the object or array that it stands in.
    """

    text: str
    label: str | None
    quote: str
    depth: int = 0
    owner: str | None = None

    def escaped(self, text: str) -> str:
        """Return ``text`` as it must be written in the place of a part of the leaf."""
        for _ in range(self.depth):
            text = orjson.dumps(text).decode()[1:-1]
        return text


def looks_like_json(text: str) -> bool:
    """Tell whether a text begins and ends like a JSON object, array or string."""
    if text[:1].isalnum():
        return False
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

    Strings that hold JSON are opened up to two levels deep. Edits at the places that ``leaf_starts`` tells keep the
    text parseable and everything else byte for byte: white space, number forms, escapes, repeated keys.
    """
    return _leaves(source, 0) if looks_like_json(source) else None


def leaf_starts(source: str) -> list[Sequence[int]]:
    """Return for each of the leaves of a JSON text the source place of its characters, with one more for the end."""
    return list(_starts(source, None, 0))


def _leaves(source: str, depth: int) -> list[Leaf] | None:
    if not is_json(source):
        return None
    found: list[Leaf] = []
    labels: list[str | None] = []
    label: str | None = None
    for body, colon, bracket, number in _TOKENS.findall(source):
        if bracket:
            if bracket in "{[":
                labels.append(label)
            else:
                label = labels.pop()
        elif number:
            found.append(Leaf(number, label, _escaped_quote(depth), depth + 1))
        else:
            text = _decoded(body)
            inner = _leaves(text, depth + 1) if depth < MAX_NESTING and looks_like_json(text) else None
            if inner is None:
                found.append(Leaf(text, "" if colon else label, "", depth + 1, labels[-1] if labels else None))
            else:
                found += inner
            label = body if colon else label
    return found


def _starts(source: str, outer: Sequence[int] | None, depth: int) -> Iterator[Sequence[int]]:
    for token in _TOKENS.finditer(source):
        body, _, bracket, number = token.groups()
        if bracket:
            continue
        begin, end = token.span(4) if number else token.span(1)
        starts = range(begin, end + 1) if number else _starts_of(source, begin, end)
        mapped = compose(outer, starts) or starts
        text = "" if number or depth == MAX_NESTING else _decoded(body)
        if looks_like_json(text) and is_json(text):
            yield from _starts(text, mapped, depth + 1)
        else:
            yield mapped


def _decoded(body: str) -> str:
    """Return what stands between two quotes with its escapes undone."""
    return _ESCAPE.sub(_unescaped, body) if "\\" in body else body


def _starts_of(source: str, start: int, end: int) -> Sequence[int]:
    """Return the source place of each character of the string between two quotes."""
    if source.find("\\", start, end) < 0:
        return range(start, end + 1)
    starts: list[int] = []
    done = start
    for escape in _ESCAPE.finditer(source, start, end):
        at = escape.start()
        starts.extend(range(done, at))
        starts.extend((at,) if len(_unescaped(escape)) == 1 else (at, at + 6))
        done = escape.end()
    starts.extend(range(done, end + 1))
    return starts


def _unescaped(escape: re.Match[str]) -> str:
    """Return the character of an escape; two where a pair of escapes makes none."""
    if escape[3]:
        return _SINGLE.get(escape[3], escape[3])
    high = int(escape[1], 16)
    if not escape[2]:
        return chr(high)
    low = int(escape[2], 16)
    if 0xD800 <= high < 0xDC00:
        return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))
    return chr(high) + chr(low)


def _escaped_quote(depth: int) -> str:
    return "\\" * (2**depth - 1) + '"'
