"""A look at the bytes of a text that lets clean text go within microseconds."""

from __future__ import annotations

import re

AT = 1
NUMBERS = 2
ADDRESSES = 4
LABELS = 8
KEY_SHAPES = 16
ESCAPES = 32
DISGUISES = 64
PAIRS = 128
"""What a text may hold: each flag asks for its detectors."""

MIN_DIGITS = 6
"""The fewest digits of a number that is taken for personal: a British national insurance number."""
KEY_RUN = 20
"""The shortest API key that is known by its shape alone: an AWS key id."""

_DIGITS = b"0123456789"
_MARKS = b"@:=.\\-%"
_LEADS_OF_DISGUISES = bytes((0xC2, 0xC4, 0xCC, 0xCD, *range(0xD8, 0xE4), 0xEA, 0xEF, 0xF0, 0xF3))
_BORING = bytes(c for c in range(256) if c not in _DIGITS + _MARKS + _LEADS_OF_DISGUISES)
_NOT_DIGITS = bytes(c for c in range(256) if c not in _DIGITS)
_NOT_LEADS = bytes(c for c in range(256) if c not in _LEADS_OF_DISGUISES)
_RUNS = bytes(97 if chr(c).isascii() and (chr(c).isalnum() or c in b"_-") else 32 for c in range(256))
_WIDE_COLON = "：".encode()
_LONG_RUN = b"a" * KEY_RUN
LABEL_STEMS = re.compile(
    r"pass|pwd|secret|token|key|auth|cred|bearer|contrase|senha|wachtwoord|has[lł]o|kennwort|пароль|密码|密碼"
)
"""In lower-case text: what names of secrets hold."""
_LABEL = re.compile(
    rf"(?:{LABEL_STEMS.pattern})[\w.-]{{0,40}}[\"'`*)\]\\]{{0,4}}\s{{0,4}}"
    r"(?:[:=>：\"'`“‘„«]|(?:is|was|ist|es|est|lautet|è)\b|(?<=bearer)\s|(?<=bearer\s)\S)"
)
_SPOKEN_LABEL = re.compile(r"[Pp](?:[Aa][Ss][Ss]|[Ww][Dd])")


def signals(text: str) -> int:
    """Return the flags of what ``text`` may hold; 0 means that no detector can find anything.

    With ``DISGUISES`` the other flags count only after the text has been folded.
    """
    raw = text.encode("utf-8", "surrogatepass")
    kept = raw.translate(None, _BORING)
    flags = 0
    if kept:
        if len(raw) != len(text) and kept.translate(None, _NOT_LEADS):
            flags = DISGUISES | (PAIRS if _WIDE_COLON in raw else 0)
        flags |= _signals_of(raw, kept)
    if len(raw) >= KEY_RUN and _LONG_RUN in raw.translate(_RUNS):
        flags |= KEY_SHAPES
    if flags & PAIRS or _SPOKEN_LABEL.search(text):
        flags &= ~PAIRS
        if b"--" in raw or _LABEL.search(text.lower()):
            flags |= LABELS
    return flags


def _signals_of(raw: bytes, kept: bytes) -> int:
    flags = 0
    if b"@" in kept or (b"%" in kept and b"%40" in raw):
        flags = AT
    if b"\\" in kept:
        flags |= ESCAPES
    if b"-----" in kept:
        flags |= KEY_SHAPES
    colons = kept.count(b":")
    if colons or b"=" in kept:
        flags |= PAIRS
    digits = len(kept.translate(None, _NOT_DIGITS))
    if digits:
        if digits >= MIN_DIGITS:
            flags |= NUMBERS
        if b" is" in raw and (b"ey is" in raw or b"oken is" in raw or b"ecret is" in raw):
            flags |= PAIRS
        dotted = digits >= 4 and kept.count(b".") >= 3
        if dotted or colons >= 5 or (colons >= 2 and b"::" in raw) or kept.count(b"-") >= 5:
            flags |= ADDRESSES
    return flags
