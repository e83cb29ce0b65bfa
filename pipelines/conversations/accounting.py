"""Accounting by coordinates: each landed item is in exactly one place (CONTRACTS.md section 1)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Protocol


class SqlConnection(Protocol):
    """A connection on which the lake's tables are views, such as DuckDB's."""

    def sql(self, query: str) -> Any:
        """Run a query."""


@dataclass(frozen=True)
class Accounts:
    """Counts of items by where they are; ``pending`` ones have landed and are not settled yet.

    ``fragments_joined`` of the ``fragments`` are part of an answer by now; what a join made counts as an item too.
    """

    records: int
    items: int
    turns: int
    repeats: int
    feedback: int
    dead_letters: int
    tombstones: int
    fragments: int
    fragments_joined: int
    pending: int
    landed_twice: int
    settled_twice: int
    unexplained: int

    @property
    def balanced(self) -> bool:
        """Every item is in exactly one place and nothing is anywhere that did not land."""
        placed = self.turns + self.repeats + self.feedback + self.dead_letters + self.tombstones + self.fragments
        return placed == self.items and not (
            self.pending or self.landed_twice or self.settled_twice or self.unexplained
        )

    def figures(self) -> dict[str, Any]:
        """The counts and the verdict by name."""
        return {**asdict(self), "balanced": self.balanced}


AT = 'topic, partition, "offset", entry, position'

ACCOUNTS = f"""
WITH items AS MATERIALIZED (
    SELECT {AT}, outcome, tenant, turn_id, outcome = 'fragment' AS is_piece FROM landing
    WHERE NOT (outcome = 'fragment' AND joined_from IS NOT NULL)
),
joined AS MATERIALIZED (
    SELECT DISTINCT piece.* FROM (SELECT unnest(joined_from) AS piece FROM landing WHERE joined_from IS NOT NULL)
),
settled AS MATERIALIZED (
    SELECT {AT}, 'turn' AS place FROM turns
    UNION ALL SELECT {AT}, 'feedback' FROM feedback
    UNION ALL SELECT {AT}, 'dead' FROM dead_letters
),
known AS MATERIALIZED (SELECT DISTINCT tenant, turn_id FROM turns),
placed AS MATERIALIZED (
    SELECT items.outcome, items.is_piece, settled.place, known.turn_id AS known_turn
    FROM items
    LEFT JOIN (SELECT DISTINCT {AT}, place FROM settled) settled USING ({AT})
    LEFT JOIN known ON items.outcome = 'turn' AND known.tenant = items.tenant AND known.turn_id = items.turn_id
)
SELECT
    (SELECT count(*) FROM (SELECT DISTINCT topic, partition, "offset" FROM items)) AS records,
    count(*) AS items,
    count(*) FILTER (outcome = 'turn' AND place = 'turn') AS turns,
    count(*) FILTER (outcome = 'turn' AND place IS NULL AND known_turn IS NOT NULL) AS repeats,
    count(*) FILTER (outcome = 'feedback' AND place = 'feedback') AS feedback,
    count(*) FILTER (outcome = 'dead' AND place = 'dead') AS dead_letters,
    count(*) FILTER (outcome = 'tombstone') AS tombstones,
    count(*) FILTER (is_piece) AS fragments,
    (SELECT count(*) FROM items JOIN joined USING ({AT}) WHERE is_piece) AS fragments_joined,
    count(*) FILTER (place IS NULL AND (outcome IN ('feedback', 'dead') OR (outcome = 'turn' AND known_turn IS NULL)))
        AS pending,
    (SELECT count(*) FROM items) - (SELECT count(*) FROM (SELECT DISTINCT {AT}, is_piece FROM items)) AS landed_twice,
    (SELECT count(*) FROM settled) - (SELECT count(*) FROM (SELECT DISTINCT {AT} FROM settled)) AS settled_twice,
    (SELECT count(*) FROM settled ANTI JOIN items USING ({AT})) AS unexplained
FROM placed
"""  # noqa: S608 - constants of this module only


def accounts(connection: SqlConnection) -> Accounts:
    """Count every landed item by its place."""
    relation = connection.sql(ACCOUNTS)
    return Accounts(**dict(zip(relation.columns, map(int, relation.fetchone()), strict=True)))
