"""What the course of a talk tells of its quality: order of roles, tool calls, languages, the user's contentment.

Pure functions over the active path; ids, roles, languages and sketches only, no text. They tag and judge nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from pipelines.conversations.nodes import Node
from pipelines.quality.language import CLOSE, SURE, UNDETERMINED
from pipelines.quality.sketch import similarity

SAME_QUESTION = 0.8
"""Similarity of sketches from which a user asks the same again; unrelated texts stay below 0.6
(``pipelines.quality.sketch``)."""
QUESTION_WORDS = 7
"""Words that a turn needs to be told from a phrase: below it most repeats in Schema-Guided Dialogue and hh-rlhf are
thanks, confirmations and questions of one form ("What does ... mean?")."""
QUESTIONS_BACK = 8
"""Earlier turns of the user that a turn is compared with: who was not understood says so at once, and the cost of a
long talk must not grow with its square."""
MAX_OPEN_CALLS = 1_000
"""Calls of one answer that are paired with results; the same bound as intake's."""


class ToolPairs(NamedTuple):
    """Faults of tool use on a path. ``unanswered``: the talk went on without the result; ``pending``: it ends there."""

    unanswered: int
    pending: int
    orphans: int


def conversation_signals(path: Sequence[Node]) -> dict[str, Any]:
    """Return the struct ``signals`` of ``conversations`` for an active path, first turn first, no system messages.

    What each field means stands at the table. Branches that the user left do not count.
    """
    tools = tool_pairs(path)
    return {
        "user_repeats": repeated_roles(path, "user"),
        "assistant_repeats": repeated_roles(path, "assistant"),
        "begins_with_answer": path[0].role != "user",
        "unanswered_calls": tools.unanswered,
        "pending_calls": tools.pending,
        "orphan_results": tools.orphans,
        "language_mismatches": language_mismatches(path),
        "ends_truncated": path[-1].role == "assistant" and path[-1].is_truncated,
        "is_abandoned": path[-1].role != "assistant",
        "reasks": (asked_again := reasks(path)),
        "satisfaction": satisfaction(path, asked_again),
    }


def repeated_roles(path: Sequence[Node], role: str) -> int:
    """Count turns of ``role`` directly after another one of it.

    Logs that split one message, lost the other side, or name the wrong speaker (unsloth issue 334, smol-course
    issue 260) show it. Results of several tools follow each other rightly, so ask for user or assistant.
    """
    return sum(one.role == role == other.role for one, other in zip(path, path[1:], strict=False))


def tool_pairs(path: Sequence[Node]) -> ToolPairs:
    """Pair the calls of each answer with the results directly after it, by id or, where either has none, by order.

    Looks forward only: an id that is used again later is a new call (turnstone PR 346).
    """
    unanswered, orphans = 0, 0
    waiting: list[str | None] = []
    for node in path:
        if node.role == "tool":
            place = _call_of(node.tool_call_id, waiting)
            if place is None:
                orphans += 1
            else:
                del waiting[place]
        else:
            unanswered += len(waiting)
            waiting = list(node.call_ids[:MAX_OPEN_CALLS])
    return ToolPairs(unanswered, len(waiting), orphans)


def _call_of(answered: str | None, waiting: Sequence[str | None]) -> int | None:
    if answered is not None and answered in waiting:
        return waiting.index(answered)
    return next((place for place, call in enumerate(waiting) if call is None or answered is None), None)


def language_mismatches(path: Sequence[Node]) -> int:
    """Count answers that are surely in another language than what the user wrote last in a sure one.

    Uncertain languages and pairs that identifiers take for each other (``pipelines.quality.language.CLOSE``) do not
    count. A wish for another language ("say it in Italian") does: the count is a hint, and no verdict.
    """
    asked, found = UNDETERMINED, 0
    for node in path:
        if not is_sure(node):
            continue
        if node.role == "user":
            asked = node.lang or UNDETERMINED
        elif node.role == "assistant" and asked != UNDETERMINED:
            found += not _may_be_one(asked, node.lang or UNDETERMINED)
    return found


def is_sure(node: Node) -> bool:
    """Tell whether the language of a turn is certain enough to hold it against another."""
    return node.lang not in (None, UNDETERMINED) and (node.lang_score or 0.0) >= SURE


def _may_be_one(one: str, other: str) -> bool:
    return one == other or any(one in group and other in group for group in CLOSE)


def reasks(path: Sequence[Node]) -> int:
    """Count turns of the user that say nearly what the user said in one of the ``QUESTIONS_BACK`` turns before.

    A user who asks again was not served (the implicit signal of "query reformulation": Hassan et al., CIKM 2013).
    Turns of few words ("yes", "thanks a lot for your help") count neither as question nor as repeat.
    """
    long_enough = (node for node in path if node.role == "user" and node.n_words >= QUESTION_WORDS)
    asked = [node.text_sketch for node in long_enough if node.text_sketch is not None]
    return sum(
        any(similarity(sketch, earlier) >= SAME_QUESTION for earlier in asked[max(0, nth - QUESTIONS_BACK) : nth])
        for nth, sketch in enumerate(asked)
    )


def satisfaction(path: Sequence[Node], asked_again: int) -> float | None:
    """Return how content the user was, -1 to 1: thumbs up against thumbs down and questions asked again.

    None where nothing tells. Only what was said of turns of the path counts.
    """
    up, down = (sum(node.feedback[place] for node in path) for place in (1, 2))
    told = up + down + asked_again
    return (up - down - asked_again) / told if told else None
