"""From the turns of one conversation to its answers, on whatever branch, each with all that was said before it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

REPLIES = ("assistant", "tool")


@dataclass(frozen=True, slots=True)
class PathStep:
    """A turn of a conversation. ``position`` is its place on the active path from 0, None on another branch."""

    turn_id: str
    parent_id: str
    role: str
    position: int | None = None


@dataclass(frozen=True, slots=True)
class AnswerPath:
    """A turn of the assistant with the ids of the turns up to it, itself the last.

    ``asked_id`` is the last turn of the user before it. It ``closes`` when no call or result follows in the same reply,
    and is ``continued`` when the user went on after it on the active path.
    """

    turn_id: str
    path_ids: tuple[str, ...]
    asked_id: str | None
    is_active: bool
    closes: bool
    is_continued: bool


def answer_paths(steps: Iterable[PathStep]) -> list[AnswerPath]:
    """Return the answers of a conversation in the order of the active path, then of their ids.

    A turn of another branch hangs on its parents: up to one of the active path, else to the first that is here.
    """
    known = {step.turn_id: step for step in steps}
    active = sorted((s for s in known.values() if s.position is not None), key=lambda s: s.position or 0)
    after = {before.turn_id: step for before, step in zip(active, active[1:], strict=False)}
    followed = {s.parent_id for s in known.values() if s.position is None and s.role in REPLIES}
    others = sorted((s for s in known.values() if s.position is None), key=lambda s: s.turn_id)
    place = {step.turn_id: nth for nth, step in enumerate(active)}
    found = []
    for step in (*active, *others):
        if step.role != "assistant":
            continue
        path = [*active[: place[step.turn_id] + 1]] if step.turn_id in place else _branch(step, known, active, place)
        following = after.get(step.turn_id)
        is_active = step.turn_id in place
        found.append(
            AnswerPath(
                turn_id=step.turn_id,
                path_ids=tuple(one.turn_id for one in path),
                asked_id=next((one.turn_id for one in reversed(path) if one.role == "user"), None),
                is_active=is_active,
                closes=following.role not in REPLIES if following else is_active or step.turn_id not in followed,
                is_continued=following is not None and following.role == "user",
            )
        )
    return found


def _branch(
    leaf: PathStep, known: Mapping[str, PathStep], active: Sequence[PathStep], place: Mapping[str, int]
) -> list[PathStep]:
    path = [leaf]
    # A turn_id is a hash over its parent's, so the walk up ends.
    while (parent := known.get(path[-1].parent_id)) is not None and parent.turn_id not in place:
        path.append(parent)
    trunk = active[: place[parent.turn_id] + 1] if parent is not None else []
    return [*trunk, *reversed(path)]
