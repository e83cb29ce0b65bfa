"""The view ``turns_current`` in SQL, for readers without Spark; the rule is that of ``conversations.current``."""

from __future__ import annotations

from schemas import TURNS
from schemas.shared_columns import ARRIVAL, CONSENTS


def turns_current_sql(source: str) -> str:
    """Return a query: per (tenant, turn_id) of ``source`` the row that landed first, under the strictest consent.

    ``source`` is a table, or a query in parentheses, that holds all rows of each turn that it holds at all.
    """
    strictest = " ".join(f"WHEN {rank} THEN '{consent}'" for rank, consent in enumerate(CONSENTS))
    rank = " ".join(f"WHEN '{consent}' THEN {rank}" for rank, consent in enumerate(CONSENTS))
    order = ", ".join(f'"{name}"' for name in ARRIVAL)
    columns = ", ".join(
        f"CASE max(CASE consent {rank} END) OVER (PARTITION BY tenant, turn_id) {strictest} END AS consent"
        if name == "consent"
        else f'"{name}"'
        for name in TURNS.column_names
    )
    return (
        f"SELECT {columns} FROM {source} "  # noqa: S608 - names of the schema only
        f"QUALIFY row_number() OVER (PARTITION BY tenant, turn_id ORDER BY {order}) = 1"
    )
