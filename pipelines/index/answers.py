"""The texts of found turns, read from Delta: the index holds none, so there is one copy fewer to erase."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pipelines.index.lance import Hit, LanceIndex
from pipelines.index.standing import Standing
from schemas import TURNS


@dataclass(frozen=True)
class Answer:
    """A found turn with its text; ``version`` is the Delta version of each table that the index stands at."""

    turn_id: str
    text: str
    score: float
    conversation_ref: str | None
    version: dict[str, int]
    role: str
    lang: str


def find_answers(
    index: LanceIndex,
    connect: Callable[[], Any],
    vector: npt.NDArray[np.float32],
    k: int,
    tenant: str,
    *,
    role: str | None = None,
) -> list[Answer]:
    """Return the ``k`` nearest turns with their texts, best first, fewer only where the tenant has fewer.

    Texts are those of ``turns`` now: a turn that was removed since the last sync is left out at once.
    """
    wanted = k
    with connect() as connection:
        while True:
            standing, hits = index.search(vector, wanted, tenant, role=role)
            texts = _texts(connection, tenant, hits)
            answers = [_answer(hit, texts[hit.turn_id], standing) for hit in hits if hit.turn_id in texts]
            if len(answers) >= k or len(hits) < wanted:
                return answers[:k]
            wanted *= 2


def _answer(hit: Hit, text: str, standing: Standing) -> Answer:
    return Answer(hit.turn_id, text, hit.score, hit.conversation_ref, standing.versions, hit.role, hit.lang)


def _texts(connection: Any, tenant: str, hits: Sequence[Hit]) -> dict[str, str]:
    """Text by turn_id; ``landed_at`` lets Delta open only the files that hold a hit."""
    if not hits:
        return {}
    landed = {f"${name}": hit.landed_at for name, hit in ((f"at{i}", hit) for i, hit in enumerate(hits))}
    query = (
        f"SELECT turn_id, text, text_hash FROM {TURNS.name} "  # noqa: S608 - names of parameters only
        f"WHERE tenant = $tenant AND landed_at IN ({', '.join(landed)}) AND list_contains($turn_ids, turn_id)"
    )
    parameters = {name.removeprefix("$"): at for name, at in landed.items()}
    rows = connection.execute(query, {"tenant": tenant, "turn_ids": [hit.turn_id for hit in hits], **parameters})
    hashes = {hit.turn_id: hit.text_hash for hit in hits}
    return {turn_id: text for turn_id, text, text_hash in rows.fetchall() if hashes[turn_id] == text_hash}
