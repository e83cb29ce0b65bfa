"""Images, audio and files of a log as references; their bytes wait in ``content`` for the keyed digest."""

from __future__ import annotations

import binascii
from urllib.parse import unquote_to_bytes

from pipelines.intake.items import MediaPart

PLACEHOLDER_STARTS = ("[", "<", "(")
"""How the marks begin that loggers leave in place of base64; none of them is in its alphabet."""


def inline_media(kind: str, media_type: str | None, base64_text: str) -> MediaPart:
    """Return the reference of base64 content; what does not decode (a placeholder of a logger) counts as text bytes."""
    try:
        if base64_text.startswith(PLACEHOLDER_STARTS):
            raise ValueError
        content = binascii.a2b_base64(base64_text)
    except ValueError:
        content = base64_text.encode("utf-8", "surrogatepass")
    return MediaPart(kind, media_type, bytes=len(content), content=content)


def linked_media(kind: str, media_type: str | None, uri: str) -> MediaPart:
    """Return the reference of media by URI or file id; a ``data:`` URI is inline content (RFC 2397)."""
    if uri[:5].lower() == "data:":
        head, _, data = uri[5:].partition(",")
        media_type = head.split(";", 1)[0].lower() or media_type
        if head.lower().endswith(";base64"):
            return inline_media(kind, media_type, data)
        content = unquote_to_bytes(data.encode("utf-8", "surrogatepass"))
        return MediaPart(kind, media_type, bytes=len(content), content=content)
    return MediaPart(kind, media_type, uri=uri, content=uri.encode("utf-8", "surrogatepass"))


def other_part(json_text: str) -> MediaPart:
    """Return the reference of a part of unknown type: its JSON is digested and measured, not kept."""
    content = json_text.encode("utf-8", "surrogatepass")
    return MediaPart("other", "application/json", bytes=len(content), content=content)
