"""Text that comes in chunks: held back until it can no longer grow into a personal value."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pipelines.privacy.anonymizer import Anonymizer, Edit, LeftValueError

HOLD = 256
"""Characters at the end that wait: longer than any value that has spaces in it, with the words that announce it."""
STEP = 64
_SHARE = 16
"""A part in so many of a long text waits too, so that the cost stays linear in it."""
_BLOCK_START, _BLOCK_END = "-----BEGIN ", "-----END "
_JSON_START = re.compile(
    r"""\s*(?:\{\s*(?:["}]|$)|\[\s*(?:["{\[\]0-9-]|true|false|null|$)|"(?:[^"\\]|\\.)*+\\?(?:"\s*)?$)""", re.DOTALL
)
"""How text begins that may turn out to be JSON; a quoted text only as long as nothing follows it."""


class HeldBackText:
    """Anonymises a text while it streams: ``feed`` chunks, then ``close``; what they return joins to the clean text.

    The result is that of the whole text, however it is cut, but for one thing: a copy of a value that went out before
    later text told that it is personal. Key blocks and text that begins like JSON wait for their end. ``known`` are
    ids of persons as in ``Anonymizer.text``. After an error nothing more may be sent.
    """

    def __init__(self, anonymizer: Anonymizer, tenant: str, known: Sequence[str] = ()) -> None:
        self.anonymizer, self.tenant, self.known = anonymizer, tenant, known
        self._text = ""
        self._new: list[str] = []
        self._new_size = 0
        self._released = 0

    def feed(self, chunk: str) -> str:
        """Take a chunk and return what can be sent on; often nothing. Raises as ``Anonymizer.text`` does."""
        self._new.append(chunk)
        self._new_size += len(chunk)
        waiting = len(self._text) - self._released + self._new_size
        if waiting < HOLD + STEP + len(self._text) // _SHARE:
            return ""
        return self._release(is_end=False)

    def close(self) -> str:
        """Return the rest; the object is at its end."""
        return self._release(is_end=True)

    def _release(self, *, is_end: bool) -> str:
        self._text = "".join((self._text, *self._new))
        self._new, self._new_size = [], 0
        if not is_end and _JSON_START.match(self._text):
            return ""
        clean = self.anonymizer.text(self.tenant, self._text, self.known)
        if is_end and not self._released:
            return clean.text
        edits = sorted(clean.edits)
        end = len(self._text) if is_end else _boundary(self._text, edits)
        if end <= self._released:
            return ""
        pieces: list[str] = []
        done = self._released
        for edit in edits:
            if edit.start < self._released < edit.end:
                raise LeftValueError(f"a value grew over text that was sent already: {edit.kind} 1")
            if self._released <= edit.start and edit.end <= end:
                pieces += (self._text[done : edit.start], edit.replacement)
                done = edit.end
        pieces.append(self._text[done:end])
        self._released = end
        return "".join(pieces)


def _boundary(text: str, edits: Sequence[Edit]) -> int:
    """Return up to where nothing can grow any more: a white space before the held end, outside of values and blocks."""
    end = _space_before(text, len(text) - HOLD)
    opened = text.rfind(_BLOCK_START, 0, end)
    if opened >= 0 and text.find(_BLOCK_END, opened) < 0:
        end = min(end, opened)
    for edit in reversed(edits):
        if edit.start < end < edit.end:
            end = edit.start
    return end


def _space_before(text: str, place: int) -> int:
    while place > 0 and not text[place].isspace():
        place -= 1
    return max(place, 0)
