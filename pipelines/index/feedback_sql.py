"""The view ``feedback_current`` in SQL, for readers without Spark; the rule is that of ``conversations.feedback``."""

from __future__ import annotations

from schemas import FEEDBACK
from schemas.shared_columns import ARRIVAL

OPINION = ("tenant", "target_turn_id", "target_response_id", "conversation_ref", "user_ref", "kind", "measure")


def feedback_current_sql(source: str) -> str:
    """Return a query over ``source``: each rating once, and ``is_newest`` of what one person says of one thing."""
    columns = ", ".join(f'"{name}"' for name in FEEDBACK.column_names)
    arrival = ", ".join(f'"{name}"' for name in ARRIVAL)
    latest_first = ", ".join(["coalesce(created_at, kafka_at) DESC", *(f'"{name}" DESC' for name in ARRIVAL)])
    once = (
        f"SELECT {columns} FROM {source} "  # noqa: S608 - names of the schema only
        f"QUALIFY row_number() OVER (PARTITION BY tenant, feedback_id ORDER BY {arrival}) = 1"
    )
    newest = f"row_number() OVER (PARTITION BY {', '.join(OPINION)} ORDER BY {latest_first}) = 1"
    return f"SELECT *, {newest} AS is_newest FROM ({once})"  # noqa: S608 - as above
