"""Values that only the words before them make personal: the place where they begin, and how far they reach."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from pipelines.privacy.scan import Scan, Span, words_of

_FILLERS = (
    r"numbers?|num|no|nr|nos|n[°º]|nº|№|numero|número|numéro|nummer|numer|id|ids|code|código|codice|kod|is|was|ist"
    r"|war|es|est"
    r"|è|jest|to|of|de|del|do|da|du|der|des|van|the|patient|holder|inhaber|value|input|field"
)
_FOREIGN_FILLERS = r"号码|号碼|號碼|番号|编号|編號|号|號|为|為|是|は|번호|는|은|رقم|هو|номер|संख्या|नंबर|है"
_GAP = re.compile(
    rf"(?:[\s\"'`*_:：=#>|.,()\[\]/-]{{0,4}}(?:(?:{_FILLERS})(?![^\W_])|{_FOREIGN_FILLERS})){{0,3}}"
    r"[\s\"'`*_:：=#>|.()\[\]\\-]{0,8}"
)
"""What stands between a label and its value: marks, and words such as ``number`` and ``is``."""
_PIECE = re.compile(r"[A-Za-z0-9]{1,24}")
_JOINT = re.compile(r"[ ./-]")
_FIRST_OF_SCRIPTS = "\u0400"


class Labelled(NamedTuple):
    """A rule: what the words before say that a value is. ``label`` matches lower-case text, ``accepts`` proves.

    From ``enough`` digits on a space ends the value, since what follows may be another number.
    """

    kind: str
    label: re.Pattern[str]
    accepts: Callable[[str], bool]
    enough: int = 5


def value_starts(scan: Scan, flag: int, label: re.Pattern[str]) -> Iterator[int]:
    """Yield the places where a value may begin after each match of ``label``; 0 where the text's own label matches.

    Looked at is what stands near the cue words of the prefilter's ``flag``.
    """
    if scan.label and label.search(" ".join(words_of(scan.label))):
        yield 0
    for first, last in scan.cue_windows(flag):
        for found in label.finditer(scan.lowered, first, last):
            gap = _GAP.match(scan.lowered, found.end())
            yield gap.end() if gap else found.end()


def labelled_values(scan: Scan, flag: int, rules: Iterable[Labelled]) -> Iterator[Span]:
    """Find the values after the labels of ``rules``: letters and digits in groups, at least one digit in each.

    Canonical: capitals and digits alone.
    """
    for rule in rules:
        for start in value_starts(scan, flag, rule.label):
            end = number_end(scan.text, start, rule.enough)
            value = scan.text[start:end]
            if end > start and rule.accepts(value) and not scan.is_own_token(start, end):
                yield Span(start, end, rule.kind, compact(value))


def number_end(text: str, start: int, enough: int) -> int:
    """Return where a written number ends that begins at ``start``; ``start`` itself where there is none.

    Its groups hold a digit each or are up to three capitals. A space joins the next group only while the digits are
    less than ``enough``.
    """
    end = at = start
    digits = 0
    while (piece := _PIECE.match(text, at)) is not None:
        own = sum(map(str.isdigit, piece[0]))
        after = text[piece.end() : piece.end() + 1]
        if after == "_" or (after.isalnum() and after < _FIRST_OF_SCRIPTS):
            break
        if not own and not (len(piece[0]) <= 3 and piece[0].isupper()):
            break
        digits += own
        end = piece.end() if digits else end
        joint = _JOINT.match(text, piece.end())
        if joint is None or (joint[0] == " " and digits >= enough):
            break
        at = joint.end()
    return end


def compact(value: str) -> str:
    """Return a number without its separators, in capitals."""
    return "".join(c for c in value if c.isalnum()).upper()


def of_size(least: int, most: int, digits: int = 1) -> Callable[[str], bool]:
    """Return a test for ``least`` to ``most`` letters and digits, with at least ``digits`` digits, no year alone."""

    def accepts(value: str) -> bool:
        bare = compact(value)
        return least <= len(bare) <= most and sum(map(str.isdigit, bare)) >= digits and not _YEAR.fullmatch(value)

    return accepts


_YEAR = re.compile(r"(?:19|20)[0-9]{2}(?:[-/](?:19|20)?[0-9]{2})?")
