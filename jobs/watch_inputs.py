"""What a watch of the champion looks at: ratings of its answers and of the model's before, read without Spark."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipelines.adapters.duck import connect
from pipelines.adapters.lake import Lake
from pipelines.promotion.live_feedback import Rating
from pipelines.training.signals import is_good

ANSWERS = """
SELECT turn_id, root_id, response_id, span_id FROM turns_current
WHERE tenant = $tenant AND role = 'assistant' AND consent <> 'none' AND coalesce(created_at, kafka_at) >= $since
  AND len(list_filter($names, name -> model = name OR ends_with(model, '/' || name))) > 0
"""
"""Gateways log a model with its provider in front, as ``provider/name``."""

RATINGS = f"""
WITH answers AS ({ANSWERS}),
named AS (SELECT DISTINCT turn_id, root_id, unnest([turn_id, response_id, span_id]) AS name FROM answers),
said AS (
  SELECT *, coalesce(target_turn_id, target_response_id) AS target FROM feedback_current
  WHERE is_newest AND tenant = $tenant AND consent <> 'none'
)
SELECT kind, value, coalesce(said.user_ref, said.conversation_ref, root_id) AS owner
FROM said JOIN named ON target = name
QUALIFY count(*) OVER (PARTITION BY feedback_id) = 1
ORDER BY feedback_id
"""  # noqa: S608 - the one query above, no value
"""Newest opinions of one answer each; one that names several answers judges none."""


@dataclass(frozen=True)
class Watched:
    """A champion and the model before it, each with the names that logs know it by."""

    champion: str
    before: str
    champion_names: tuple[str, ...]
    before_names: tuple[str, ...]
    promoted_at: dt.datetime


def watched(model: Mapping[str, Any], served_as: Mapping[str, Sequence[str]]) -> Watched:
    """Return what is compared: the model that the champion replaced or, where there was none, its base.

    A model is logged by its own name unless ``served_as`` names others; a base by its name without the revision.
    """
    before = model["replaced"] or str(model["parent"]).rpartition("@")[0] or str(model["parent"])
    name = model["model_version"]
    at: dt.datetime = model["promoted_at"] or model["created_at"]
    named = [tuple(served_as.get(one) or (one,)) for one in (name, before)]
    return Watched(name, before, named[0], named[1], at if at.tzinfo else at.replace(tzinfo=dt.UTC))


def ratings(lake: Lake, tenant: str, seen: Watched, days: float) -> tuple[list[Rating], list[Rating]]:
    """Return the ratings of the champion's answers since its promotion, and of those of the model before.

    Of the model before count answers from ``days`` before the promotion on, also later ones: both may serve at once.
    """
    connection = connect(lake)
    since = seen.promoted_at - dt.timedelta(days=days)
    sides = (seen.champion_names, seen.promoted_at), (seen.before_names, since)
    first, second = (
        connection.execute(RATINGS, {"tenant": tenant, "names": list(names), "since": at}).fetchall()
        for names, at in sides
    )
    return _ratings(first), _ratings(second)


def _ratings(rows: Sequence[tuple[str, float | None, str]]) -> list[Rating]:
    told = [(is_good(kind, value), owner) for kind, value, owner in rows]
    return [Rating(good, owner) for good, owner in told if good is not None]
