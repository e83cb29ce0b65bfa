"""Runs of digit groups and the windows of them that could be one number."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from pipelines.privacy.scan import Scan

_CANDIDATE = re.compile(r"[+(0-9](?:[ ./()-]{0,2}[0-9]){6,}")
_GROUP = re.compile(r"[0-9]+")
_LETTERS_BEFORE = re.compile(r"(?<![0-9A-Za-z_])[A-Za-z]{2,12}$")
_LETTERS_AFTER = re.compile(r"[A-Za-z]{2,12}(?![0-9A-Za-z_])")
_TO_SHAPE = str.maketrans("012345678", "999999999")
MAX_GROUPS = 8
MIN_DIGITS, MAX_DIGITS = 7, 19


class Window(NamedTuple):
    """Some neighbouring digit groups of one run. ``text`` is ``scan.text[start:end]``, a leading + or ( included."""

    start: int
    end: int
    text: str
    digits: str
    has_plus: bool
    is_glued: bool
    first_size: int

    @property
    def bare(self) -> Window:
        """The window without the plus sign of a phone number before it."""
        if not self.has_plus:
            return self
        skipped = len(self.text) - len(self.text.lstrip("+ ./("))
        return self._replace(start=self.start + skipped, text=self.text[skipped:], has_plus=False)

    @property
    def shape(self) -> str:
        """Every digit as 9, separators as they are."""
        return self.text.translate(_TO_SHAPE)


class Run(NamedTuple):
    """A maximal run of digit groups parted by at most two separators; ``offsets`` place the groups in ``digits``."""

    start: int
    groups: list[tuple[int, int]]
    digits: str
    offsets: list[int]


def runs(scan: Scan) -> Iterator[Run]:
    """Yield the runs of 7 digits and more, left to right, however long."""
    for found in _CANDIDATE.finditer(scan.text):
        start, end = found.span()
        groups = [group.span() for group in _GROUP.finditer(scan.text, start, end)]
        offsets = [0]
        for first, last in groups:
            offsets.append(offsets[-1] + last - first)
        yield Run(start, groups, "".join([scan.text[first:last] for first, last in groups]), offsets)


def windows(scan: Scan, run: Run, first: int) -> Iterator[Window]:
    """Yield the windows that begin at group ``first``, longest first, none cut out of a word or fraction."""
    text, groups, offsets = scan.text, run.groups, run.offsets
    if offsets[-1] - offsets[first] < MIN_DIGITS:
        return
    start = groups[first][0]
    opener = text[start - 1] if start > run.start or (first == 0 and start > 0) else ""
    has_plus = first == 0 and text[run.start] == "+"
    if has_plus:
        start = run.start
    before = text[start - 1] if start else " "
    glued = before.isascii() and (before.isalnum() or before in "_$")
    if glued and _LETTERS_BEFORE.search(text[max(0, start - 13) : start]) is None:
        return
    if before == "-" and start > 1 and text[start - 2].isascii() and text[start - 2].isalpha():
        glued = True
    if before in ".," and start > 1 and text[start - 2].isdigit():
        return
    for last in range(min(len(groups), first + MAX_GROUPS) - 1, first - 1, -1):
        end = groups[last][1]
        if not MIN_DIGITS <= offsets[last + 1] - offsets[first] <= MAX_DIGITS or _runs_on(text, end):
            continue
        digits = run.digits[offsets[first] : offsets[last + 1]]
        opened = start - 1 if opener == "(" and ")" in text[start:end] and not has_plus else start
        size = groups[first][1] - groups[first][0]
        is_glued = glued or _LETTERS_AFTER.match(text, end) is not None
        yield Window(opened, end, text[opened:end], digits, has_plus, is_glued, size)


def _runs_on(text: str, end: int) -> bool:
    """Tell whether the digits are the front part of a longer number or word."""
    after = text[end : end + 2]
    if not after:
        return False
    if after[0].isascii() and (after[0].isalnum() or after[0] == "_"):
        return after[0] not in "xXe" and _LETTERS_AFTER.match(text, end) is None
    return len(after) == 2 and after[0] in ".," and after[1].isdigit()
