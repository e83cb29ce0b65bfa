"""What a stretch of bytes says once escapes are undone: JSON, percent, form and base64 encodings, nested too."""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator
from urllib.parse import unquote_to_bytes

_DEPTH = 4
_UNICODE = re.compile(rb"\\[uU]([0-9a-fA-F]{4})(?:\\[uU]([dD][c-fC-F][0-9a-fA-F]{2}))?")
_SHORT_ESCAPES = (
    (b'\\"', b'"'),
    (b"\\/", b"/"),
    (b"\\n", b"\n"),
    (b"\\t", b"\t"),
    (b"\\r", b"\r"),
    (b"\\b", b"\b"),
    (b"\\f", b"\f"),
)
_PERCENT = re.compile(rb"%[0-9a-fA-F]{2}")
_BASE64_RUN = re.compile(rb"[A-Za-z0-9+/_-]{12,}(?:(?<=[A-Za-z0-9+/_-]{60})(?:\r?\n[A-Za-z0-9+/_-]+)*)?")
_READABLE = re.compile(rb"[\t\n\r\x20-\x7e]{12,}")
_NO_CONTROL = bytes(range(32, 256)) + b"\t\n\r\f\x1b\x00"
_STANDARD_BASE64 = bytes.maketrans(b"-_", b"+/")
_OF_TEXT = bytes(range(32, 127)) + b"\t\n\r\x00"
_BACKSLASH = re.compile(rb"\\")
_UTF16_LE = re.compile(rb"(?:[\x20-\xff][\x00-\x04]){8,}")
_UTF16_BE = re.compile(rb"(?:[\x00-\x04][\x20-\xff]){8,}")
_UTF32 = re.compile(rb"(?:[\x20-\x7e]\x00{3}){8,}")
_WIDE_SIGN = re.compile(rb"\x00[\x20-\xff]\x00[\x20-\xff]\x00|\x00{3}[\x20-\x7e]\x00")
_BREAK = b"\x00\x00"
_KEPT_BACKSLASH = b"\x00\\\x00"


def views_of(content: bytes, reach: int = 1024) -> Iterator[tuple[str, bytes]]:
    """Yield the decoded forms of any bytes: of text all that ``text_views`` says, of binary its readable stretches."""
    if is_text(content):
        yield from text_views(content, reach)
        return
    yield "", content
    yield from text_views(_BREAK.join(_READABLE.findall(content)), reach)
    if (wide := undo_wide(content)) is not None:
        yield "wide", wide


def is_text(content: bytes) -> bool:
    """Tell text from binary by a sample of bytes: control characters other than NUL are rare in it."""
    sample = content[:: max(1, len(content) // 16_384)]
    return len(sample.translate(None, _NO_CONTROL)) * 50 <= max(len(sample), 50)


def text_views(text: bytes, reach: int = 1024, depth: int = _DEPTH) -> Iterator[tuple[str, bytes]]:
    """Yield (how it was decoded, bytes) for ``text`` and each decoded form of it, up to ``depth`` layers.

    The name is empty for the text itself, else the layers from the outside in, for instance ``json>percent``. A decoded
    form holds only what lies within ``reach`` bytes of an escape: what no escape touches reads the same undecoded.
    """
    yield "", text
    if depth == _DEPTH and _WIDE_SIGN.search(text):
        wide = undo_wide(text)
        if wide is not None:
            yield "wide", wide
    if depth == 0:
        return
    for name, decode in _LAYERS:
        decoded = decode(text, reach)
        if decoded is not None:
            for inner, view in text_views(decoded, reach, depth - 1):
                yield f"{name}>{inner}" if inner else name, view


def undo_json(text: bytes, reach: int) -> bytes | None:
    """Undo one layer of JSON string escapes anywhere in ``text``; None when there is none."""
    escaped = _near(text, _BACKSLASH, reach) if b"\\" in text else b""
    decoded = escaped.replace(b"\\\\", _KEPT_BACKSLASH)
    for escape, plain in _SHORT_ESCAPES:
        decoded = decoded.replace(escape, plain)
    decoded = _UNICODE.sub(_character, decoded).replace(_KEPT_BACKSLASH, b"\\")
    return None if decoded == escaped else decoded


def undo_percent(text: bytes, reach: int) -> bytes | None:
    """Undo one layer of percent-encoding; None when there is none."""
    escaped = _near(text, _PERCENT, reach) if b"%" in text else b""
    return unquote_to_bytes(escaped) if escaped else None


def undo_form(text: bytes, reach: int) -> bytes | None:
    """Undo form encoding, where a space is a plus sign; None when no percent sign shows that it may be one."""
    escaped = _near(text, _PERCENT, reach) if b"%" in text and b"+" in text else b""
    return unquote_to_bytes(escaped.replace(b"+", b" ")) if b"+" in escaped else None


def undo_wide(text: bytes) -> bytes | None:
    """Return runs of eight or more characters in UTF-16 or UTF-32 as UTF-8; None when there is none."""
    if b"\x00" not in text:
        return None
    runs = [run.decode("utf-16-le", "ignore").encode("utf-8", "ignore") for run in _UTF16_LE.findall(text)]
    runs += [run.decode("utf-16-be", "ignore").encode("utf-8", "ignore") for run in _UTF16_BE.findall(text)]
    runs += [run.replace(b"\x00", b"") for run in _UTF32.findall(text)]
    return _BREAK.join(runs) if runs else None


def _near(text: bytes, escape: re.Pattern[bytes], reach: int) -> bytes:
    """Return the stretches of ``text`` within ``reach`` of an escape, with a break between two."""
    stretches, start, end = [], 0, -1
    place = 0
    while (found := escape.search(text, place)) is not None:
        if found.start() - reach > end:
            if end >= 0:
                stretches.append(text[start:end])
            start = max(found.start() - reach, 0)
        end = found.end() + 2 * reach
        # What an escape before this place reaches is in the stretch already.
        place = end - reach
    if end >= 0:
        stretches.append(text[start:end])
    return _BREAK.join(stretches)


def undo_base64(text: bytes, _reach: int = 0) -> bytes | None:
    """Decode each base64 run of 12 characters or more that holds text, a break between them; None when there is none.

    A line of 60 characters or more goes on in the next line. A run in one letter case is a word, a hash or an id.
    """
    decoded = []
    for run in _BASE64_RUN.findall(text):
        if run.islower() or run.isupper() or run.isdigit():
            continue
        letters = run.translate(_STANDARD_BASE64, b"\r\n")
        whole = letters[: len(letters) - (len(letters) % 4 == 1)]
        try:
            plain = binascii.a2b_base64(whole + b"=" * (-len(whole) % 4))
        except binascii.Error:
            continue
        if _reads_like_text(plain):
            decoded.append(plain)
    return _BREAK.join(decoded) if decoded else None


def _reads_like_text(plain: bytes) -> bool:
    """Tell text from what base64 makes of words and hashes: few control bytes in the first 48."""
    head = plain[:48]
    return len(head.translate(None, _OF_TEXT)) * 3 < len(head)


def _character(match: re.Match[bytes]) -> bytes:
    high, low = int(match[1], 16), match[2]
    if low is None:
        return chr(high).encode("utf-8", "replace")
    if 0xD800 <= high < 0xDC00:
        return chr(0x10000 + ((high - 0xD800) << 10) + (int(low, 16) - 0xDC00)).encode()
    return chr(high).encode("utf-8", "replace") + b"?"


_LAYERS = (
    ("json", undo_json),
    ("percent", undo_percent),
    ("form", undo_form),
    ("base64", undo_base64),
)
