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
"""What a text may hold: each flag asks for its detectors."""

MIN_DIGITS = 7
"""The shortest number that is taken for personal: a local phone number."""
KEY_RUN = 20
"""The shortest API key that is known by its shape alone: an AWS key id."""

_DIGITS = b"0123456789"
_MARKS = b"@:=.\\-%"
_LEADS_OF_DISGUISES = bytes((0xC2, 0xC4, 0xCC, 0xCD, *range(0xD8, 0xE4), 0xEA, 0xEF, 0xF0, 0xF3))
_BORING = bytes(c for c in range(256) if c not in _DIGITS + _MARKS + _LEADS_OF_DISGUISES)
_NOT_DIGITS = bytes(c for c in range(256) if c not in _DIGITS)
_NOT_LEADS = bytes(c for c in range(256) if c not in _LEADS_OF_DISGUISES)
_RUNS = bytes(97 if chr(c).isascii() and (chr(c).isalnum() or c in b"_-") else 32 for c in range(256))
_LONG_RUN = b"a" * KEY_RUN
LABEL_STEMS = re.compile(
    r"pass|pwd|secret|token|key|auth|cred|bearer|contrase|senha|wachtwoord|has[lł]o|kennwort|пароль|密码|密碼"
)


def signals(text: str) -> int:
    """Return the flags of what ``text`` may hold; 0 means that no detector can find anything.

    With ``DISGUISES`` the other flags count only after the text has been folded.
    """
    raw = text.encode("utf-8", "surrogatepass")
    kept = raw.translate(None, _BORING)
    flags = 0
    if not text.isascii() and len(kept.translate(None, _NOT_LEADS)):
        flags = DISGUISES
    if kept:
        flags |= _signals_of(raw, kept)
    if b":" in kept or b"=" in kept:
        if LABEL_STEMS.search(text.lower()):
            flags |= LABELS
    elif "pass" in (lowered := text.lower()) or "pwd" in lowered or "--" in text:
        flags |= LABELS
    return flags


def _signals_of(raw: bytes, kept: bytes) -> int:
    flags = 0
    if b"@" in kept or (b"%" in kept and b"%40" in raw):
        flags |= AT
    if b"\\" in kept:
        flags |= ESCAPES
    if b"-----" in kept:
        flags |= KEY_SHAPES
    digits = len(kept.translate(None, _NOT_DIGITS))
    if digits:
        if digits >= MIN_DIGITS:
            flags |= NUMBERS
        if (digits >= 4 and kept.count(b".") >= 3) or kept.count(b":") >= 2 or digits + kept.count(b"-") >= 10:
            flags |= ADDRESSES
        if _LONG_RUN in raw.translate(_RUNS):
            flags |= KEY_SHAPES
    return flags
