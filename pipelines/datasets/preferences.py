"""What people preferred among the answers to one question, and how far that can be trusted. Ids and values, no text.

Order of trust: an edit by a person, a regeneration that was kept, a vote between answers (open-webui#231,
tensorzero#562 ask for the first two). What contradicts itself gives no pair.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from schemas.training_examples import EVIDENCE

EDIT, REGENERATION, VOTE, NEAR_EQUAL_PROMPTS, THUMB = EVIDENCE
ASKED_AGAIN = ("regenerate", "retry")
LIKED_BY_USE = "copy"


@dataclass(frozen=True, slots=True)
class Judgement:
    """One person's newest opinion of an answer in one way. ``voter`` is empty where no user was logged."""

    feedback_id: str
    turn_id: str
    kind: str
    value: float | None = None
    measure: str = ""
    voter: str = ""


@dataclass(frozen=True, slots=True)
class Rival:
    """One of the answers to a question. ``arrived`` orders them by time; ``closes`` and ``is_continued`` as in paths.

    ``is_logged`` tells that the log names the conversation: only there are two answers to equal words surely two tries.
    Choices of one response share its ``response_id``.
    """

    turn_id: str
    conversation_id: str
    arrived: tuple[Any, ...]
    is_active: bool = True
    is_continued: bool = False
    closes: bool = True
    is_logged: bool = True
    response_id: str | None = None


@dataclass(frozen=True, slots=True)
class Preference:
    """One answer before another. Without ``chosen_id`` the chosen side is the text of the feedback (an edit)."""

    evidence: str
    chosen_id: str | None
    rejected_id: str
    feedback_ids: tuple[str, ...] = ()
    is_contradicted: bool = False

    @property
    def trust(self) -> int:
        """Trust level, 1 is best."""
        return trust_of(self.evidence)


def trust_of(evidence: str) -> int:
    """Return the trust level of a kind of evidence, 1 is best."""
    return EVIDENCE.index(evidence) + 1


def preferences(
    rivals: Sequence[Rival], judgements: Sequence[Judgement], evidence: Collection[str] = EVIDENCE
) -> list[Preference]:
    """Return what is preferred among the answers to one question, each two answers once, in the order of their ids.

    Only kinds in ``evidence`` are looked at.
    The most trusted evidence names a pair; evidence for the opposite, of whatever kind, makes it contradicted.
    Edits are pairs of their own: nothing speaks against a text that nobody else has seen.
    """
    judgements = sorted(judgements, key=lambda one: one.feedback_id)
    found = [one for tell in (_regenerations, _votes) for one in tell(rivals, judgements) if one.evidence in evidence]
    between: dict[tuple[str, ...], list[Preference]] = defaultdict(list)
    for one in found:
        between[tuple(sorted((one.chosen_id or "", one.rejected_id)))].append(one)
    edits = _edits(judgements) if EDIT in evidence else ()
    pairs = [*edits, *(_settled(told) for told in between.values())]
    return sorted(pairs, key=lambda one: (one.rejected_id, one.chosen_id or "", one.feedback_ids))


def label_of(judgements: Iterable[Judgement]) -> tuple[bool | None, tuple[str, ...]] | None:
    """Return what thumbs say of one answer, and their ids; the label is None where people disagree.

    None without any thumb that points up or down.
    """
    thumbs = sorted((j.feedback_id, j.value > 0) for j in judgements if j.kind == "thumb" and j.value)
    if not thumbs:
        return None
    labels = {up for _, up in thumbs}
    return labels.pop() if len(labels) == 1 else None, tuple(one for one, _ in thumbs)


def _edits(judgements: Sequence[Judgement]) -> Iterator[Preference]:
    for one in judgements:
        if one.kind == "edit":
            yield Preference(EDIT, None, one.turn_id, (one.feedback_id,))


def _regenerations(rivals: Sequence[Rival], judgements: Sequence[Judgement]) -> Iterator[Preference]:
    """Yield the answer that a user stayed with before each earlier one that the user had made anew.

    A user stayed when the talk went on, the answer was liked or used, or the log says that the draft was sent back.
    """
    of_turn: dict[str, list[Judgement]] = defaultdict(list)
    for one in judgements:
        of_turn[one.turn_id].append(one)
    sent_back = {turn: [j for j in told if j.kind in ASKED_AGAIN] for turn, told in of_turn.items()}
    for kept in rivals:
        if not (kept.closes and kept.is_active) or sent_back.get(kept.turn_id):
            continue
        opinion = label_of(of_turn[kept.turn_id])
        used = [j.feedback_id for j in of_turn[kept.turn_id] if j.kind == LIKED_BY_USE]
        praise = [*used, *(opinion[1] if opinion and opinion[0] else ())]
        for draft in rivals:
            asked = [j.feedback_id for j in sent_back.get(draft.turn_id, ())]
            if not _is_draft(draft, kept, asked=bool(asked)) or not (kept.is_continued or praise or asked):
                continue
            praised = label_of(of_turn[draft.turn_id])
            against = (opinion is not None and not opinion[0]) or (praised is not None and praised[0] is not False)
            told = tuple(sorted((*asked, *praise)))
            yield Preference(REGENERATION, kept.turn_id, draft.turn_id, told, is_contradicted=against)


def _is_draft(draft: Rival, kept: Rival, *, asked: bool) -> bool:
    """Tell an earlier try from another choice of the same response, and from the same words in another talk."""
    if draft.turn_id == kept.turn_id or not draft.closes or draft.arrived >= kept.arrived:
        return False
    if kept.response_id is not None and draft.response_id == kept.response_id:
        return False
    if draft.is_logged and kept.is_logged:
        return draft.conversation_id == kept.conversation_id and not draft.is_active
    return asked


def _votes(rivals: Sequence[Rival], judgements: Sequence[Judgement]) -> Iterator[Preference]:
    """Yield each best answer before each that it beats: by votes, where more is better, and by ranks from 0."""
    closing = {one.turn_id for one in rivals if one.closes}
    ballots: dict[tuple[str, str, str], dict[str, Judgement]] = defaultdict(dict)
    for one in judgements:
        if one.kind in ("vote", "rank") and one.value is not None and one.turn_id in closing:
            ballots[one.kind, one.measure, one.voter][one.turn_id] = one
    signs: dict[tuple[str, str], dict[int, set[str]]] = defaultdict(lambda: {1: set(), -1: set()})
    for (kind, _, _), ballot in ballots.items():
        for first, second in combinations(sorted(ballot), 2):
            a, b = (ballot[turn].value or 0.0 for turn in (first, second))
            if a != b:
                sign = 1 if (a > b) != (kind == "rank") else -1
                signs[first, second][sign] |= {ballot[turn].feedback_id for turn in (first, second)}
    beaten = {pair[1] if told[1] else pair[0] for pair, told in signs.items() if not (told[1] and told[-1])}
    for (first, second), told in sorted(signs.items()):
        chosen, rejected = (first, second) if told[1] else (second, first)
        if chosen not in beaten:
            ids = tuple(sorted(told[1] | told[-1]))
            yield Preference(VOTE, chosen, rejected, ids, is_contradicted=bool(told[1] and told[-1]))


def _settled(told: Sequence[Preference]) -> Preference:
    """Return one preference for all that is told of two answers."""
    best = min(told, key=lambda one: one.trust)
    against = any(one.is_contradicted or one.chosen_id != best.chosen_id for one in told)
    ids = {one for same in told for one in same.feedback_ids}
    return replace(best, feedback_ids=tuple(sorted(ids)), is_contradicted=against)
