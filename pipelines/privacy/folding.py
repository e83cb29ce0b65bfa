"""Unicode disguises undone for detection, with an exact map back: one unit is the code point, everywhere."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

_FULL_WIDTH = {chr(c): chr(c - 0xFEE0) for c in range(0xFF01, 0xFF5F)}
_PUNCTUATION = frozenset(
    "\u3002" + "".join(c for c, plain in _FULL_WIDTH.items() if not plain.isalnum() and plain not in "@.+-_")
)
_WIDE_DIGITS = (0x1D7CE, 0x1D800), (0x1E950, 0x1E95A), (0x1FBF0, 0x1FBFA)
_DIGITS = {
    chr(c): str(int(chr(c)))
    for first, end in ((0x80, 0xFF00), *_WIDE_DIGITS)
    for c in range(first, end)
    if chr(c).isdecimal()
}
_DASHES = dict.fromkeys("\u2010\u2011\u2012\u2013\u2212\ufe63", "-")
_NARROW_SPACES = dict.fromkeys("\u00a0\u2002\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f", " ")
_OTHERS = {"\u3002": ".", "\ufe52": ".", "\uff61": ".", "\ufe6b": "@", "\u0130": "I", "\u2024": "."}
_ONE_TO_ONE = _NARROW_SPACES | _DASHES | _OTHERS | _FULL_WIDTH | _DIGITS
"""One character for one. The wide space U+3000 is not in it: it parts numbers that must not be joined."""

_INVISIBLE = (
    "\u00ad\u0300-\u036f\u061c\u180b-\u180e\u1ab0-\u1aff\u1dc0-\u1dff\u200b-\u200f\u202a-\u202e\u2060-\u2064"
    "\u2066-\u2069\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f\ufeff"
)
"""Combining marks, variation selectors and characters without width, as a regex class."""

_INVISIBLE_BEYOND = "\U000e0001-\U000e01ef"
_TRIGGER = re.compile(
    "[" + "".join(re.escape(c) for c in _ONE_TO_ONE if c < "\uffff" and c not in _PUNCTUATION) + _INVISIBLE + "]"
)
# Beyond U+FFFF the regex engine compares range after range, so that class stands alone.
_TRIGGER_BEYOND = re.compile(
    "[" + "".join(f"{chr(first)}-{chr(end - 1)}" for first, end in _WIDE_DIGITS) + _INVISIBLE_BEYOND + "]"
)
_ASCII = bytes(range(128))
_FEW = 16
_MAPPED = re.compile("[" + "".join(map(re.escape, _ONE_TO_ONE)) + "]")
_REMOVED = re.compile(f"[{_INVISIBLE}{_INVISIBLE_BEYOND}]+")


class Folded(NamedTuple):
    """A text as detectors see it. ``starts[i]`` is where character i begins in the source; None is one to one.

    ``starts`` has one more entry than ``text``: the end. A mark that was removed belongs to the character before it.
    """

    text: str
    starts: Sequence[int] | None = None

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the place in the source of ``text[start:end]``."""
        return (start, end) if self.starts is None else (self.starts[start], self.starts[end])


def fold(text: str) -> Folded:
    """Return the text with full-width forms, native digits, dashes and narrow spaces as ASCII, invisible marks removed.

    Restricted on purpose: no NFKC, so nothing grows or joins. Linear; plain text comes back as the same object, and so
    does text whose only wide forms are the marks of Chinese and Japanese prose.
    """
    if text.isascii() or not _has_trigger(text):
        return Folded(text)
    starts: list[int] = []
    pieces: list[str] = []
    done = 0
    for gap in _REMOVED.finditer(text):
        pieces.append(text[done : gap.start()])
        starts.extend(range(done, gap.start()))
        done = gap.end()
    pieces.append(text[done:])
    plain = _mapped("".join(pieces))
    if not starts and done == 0:
        return Folded(plain)
    starts.extend(range(done, len(text) + 1))
    return Folded(plain, starts)


def _mapped(text: str) -> str:
    # Few kinds of characters occur in one text: replacing each is faster than a look at every place.
    kinds = [kind for kind in set(text) if kind in _ONE_TO_ONE]
    if len(kinds) > _FEW:
        return _MAPPED.sub(lambda found: _ONE_TO_ONE[found[0]], text)
    for kind in kinds:
        text = text.replace(kind, _ONE_TO_ONE[kind])
    return text


def _has_trigger(text: str) -> bool:
    foreign = text.encode("utf-8", "surrogatepass").translate(None, _ASCII).decode("utf-8", "surrogatepass")
    return _TRIGGER.search(foreign) is not None or _TRIGGER_BEYOND.search(foreign) is not None


def lower(text: str) -> str:
    """Return a text in lower case, one character for one."""
    lowered = text.lower()
    if len(lowered) != len(text):
        lowered = "".join(low if len(low := c.lower()) == 1 else c for c in text)
    return lowered


def compose(outer: Sequence[int] | None, inner: Sequence[int] | None) -> Sequence[int] | None:
    """Chain two maps: ``inner`` leads into a text that ``outer`` leads on from."""
    if outer is None or inner is None:
        return inner if outer is None else outer
    return [outer[i] for i in inner]
