"""The texts of found turns, read from Delta: the index holds none, so there is one copy fewer to erase."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from pipelines.index.filters import EVERYTHING, Predicate
from pipelines.index.rows import Found, Hit, Vector
from pipelines.index.terms import hashed_terms
from pipelines.index.vector_index import VectorIndex
from schemas import TURNS

Mode = Literal["vector", "text", "hybrid"]

RRF_K = 60
"""Of reciprocal rank fusion (Cormack, Clarke, Buettcher, SIGIR 2009): how little the first ranks stand out."""

CANDIDATES = 50
"""Hits of each list, at least, that a fusion looks at."""


@dataclass(frozen=True)
class Answer:
    """A found turn with its text.

    ``version`` is the Delta version of each table that the answer stands on; ``plan`` says how it was found. ``score``
    is a cosine; BM25 in mode text; the sum of reciprocal ranks in mode hybrid.
    """

    turn_id: str
    text: str
    score: float
    conversation_ref: str | None
    version: dict[str, int]
    role: str
    lang: str
    plan: str


@dataclass(frozen=True)
class Question:
    """What is searched for: the words, their vector, and which turns may answer."""

    text: str
    vector: Vector
    k: int = 10
    tenant: str = "default"
    where: Predicate = EVERYTHING
    mode: Mode = "vector"


Search = Callable[[int], Found]
"""Gives the best so many turns."""


def find_answers(index: VectorIndex, connect: Callable[[], Any], question: Question) -> list[Answer]:
    """Return the ``k`` best turns with their texts, fewer only where fewer fit (in mode text: share a word).

    Texts are those of ``turns`` now: a turn that was removed since the last sync is left out at once.
    """
    with connect() as connection:
        return answers_of(functools.partial(found_by, index, question), connection, question)


def found_by(index: VectorIndex, question: Question, k: int) -> Found:
    """Search the index in the question's mode."""
    terms = hashed_terms(question.text).split()
    by_vector = functools.partial(index.search, question.vector, tenant=question.tenant, where=question.where)
    by_terms = functools.partial(index.search_terms, terms, tenant=question.tenant, where=question.where)
    if question.mode == "vector":
        return by_vector(k)
    if question.mode == "text":
        return by_terms(k)
    wide = max(k, CANDIDATES)
    near, shared = by_vector(wide), by_terms(wide)
    return Found(near.standing, fused(near.hits, shared.hits, k=k), f"{near.plan}; fused with shared words")


def fused(*lists: Sequence[Hit], k: int) -> list[Hit]:
    """Return the ``k`` best hits of several ranked lists by reciprocal rank fusion; ties go by the first list."""
    scores: dict[tuple[str, str], float] = {}
    hits: dict[tuple[str, str], Hit] = {}
    for ranked in lists:
        for rank, hit in enumerate(ranked, start=1):
            key = (hit.tenant, hit.turn_id)
            scores[key] = scores.get(key, 0.0) + 1 / (RRF_K + rank)
            hits.setdefault(key, hit)
    best = sorted(hits, key=lambda key: -scores[key])[:k]
    return [replace(hits[key], score=scores[key]) for key in best]


def answers_of(search: Search, connection: Any, question: Question) -> list[Answer]:
    """Search for more until ``k`` hits have a text that the tables still hold, or there are no more hits."""
    wanted = question.k
    while True:
        found = search(wanted)
        texts = _texts(connection, question.tenant, found.hits)
        answers = [_answer(hit, texts[hit.turn_id], found) for hit in found.hits if hit.turn_id in texts]
        if len(answers) >= question.k or len(found.hits) < wanted:
            return answers[: question.k]
        wanted *= 2


def _answer(hit: Hit, text: str, found: Found) -> Answer:
    versions = found.standing.versions
    return Answer(hit.turn_id, text, hit.score, hit.conversation_ref, versions, hit.role, hit.lang, found.plan)


def _texts(connection: Any, tenant: str, hits: Sequence[Hit]) -> Mapping[str, str]:
    """Text by turn_id; ``landed_at`` lets Delta open only the files that hold a hit."""
    if not hits:
        return {}
    times = sorted({hit.landed_at for hit in hits})
    landed = {f"at{i}": at for i, at in enumerate(times)}
    query = (
        f"SELECT turn_id, text, text_hash FROM {TURNS.name} "  # noqa: S608 - names of parameters only
        f"WHERE tenant = $tenant AND landed_at IN ({', '.join(f'${name}' for name in landed)}) "
        "AND list_contains($turn_ids, turn_id)"
    )
    rows = connection.execute(query, {"tenant": tenant, "turn_ids": [hit.turn_id for hit in hits], **landed})
    hashes = {hit.turn_id: hit.text_hash for hit in hits}
    return {turn_id: text for turn_id, text, text_hash in rows.fetchall() if hashes[turn_id] == text_hash}
