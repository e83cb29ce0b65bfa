"""Names of scores that stand for a person's thumb: tracing tools list user feedback and judges' verdicts together."""

from __future__ import annotations

import re

_USER_FEEDBACK = re.compile(r"feedback|thumb|(?:^|[^a-z])(?:dis)?liked?(?:$|[^a-z])|upvote|downvote", re.IGNORECASE)
_DOWN = re.compile(r"down|dislike|negative", re.IGNORECASE)


def thumb_of(name: str, given: bool) -> float | None:
    """Return 1 or -1 for a yes or no under a name like user-feedback or thumbs_down; None under any other name."""
    if not _USER_FEEDBACK.search(name):
        return None
    return 1.0 if given != bool(_DOWN.search(name)) else -1.0
