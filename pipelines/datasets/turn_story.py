"""What became of one turn, from its landing to dataset versions: ids, measures and verdicts, never text."""

from __future__ import annotations

from typing import Any

from schemas import CONVERSATIONS, TURN_SIGNALS
from schemas.shared_columns import COORDINATES

FACTS_OF_A_TURN = ("role", "consent", "flags", "finish_reason", "key_epoch", "created_at")
SHOWN_OF_A_TURN = ("tenant", "turn_id", "source", "landed_at", *FACTS_OF_A_TURN, *COORDINATES)
SHOWN_OF_A_CONVERSATION = tuple(
    c.name for c in CONVERSATIONS.columns if c.name not in ("turn_ids", "branch_turn_ids", "fingerprint")
)
SHOWN_OF_SIGNALS = tuple(
    c.name for c in TURN_SIGNALS.columns if c.name not in ("tenant", "turn_id", "parent_id", "root_id", "text_hash")
)


def turn_story(connection: Any, turn_id: str, tenant: str | None = None) -> list[dict[str, Any]]:
    """Return one story a tenant that has the turn, none where nobody has it; ``connection`` is DuckDB over the lake.

    A story has ``landed`` (coordinates, and how often it came again), ``turn``, ``signals`` (None before the filter),
    ``conversations``, and ``versions``: for each dataset version, newest first, what it did with the turn.
    """
    query = (
        f"SELECT {', '.join(_quoted(SHOWN_OF_A_TURN))} FROM turns_current "  # noqa: S608 - names of columns
        "WHERE turn_id = ? AND tenant = coalesce(?, tenant)"
    )
    found = _rows(connection, query, turn_id, tenant)
    return [_story(connection, turn) for turn in sorted(found, key=lambda turn: str(turn["tenant"]))]


def _story(connection: Any, turn: dict[str, Any]) -> dict[str, Any]:
    key = (turn["tenant"], turn["turn_id"])
    conversations = conversations_of(connection, *key)
    return {
        "tenant": turn["tenant"],
        "turn_id": turn["turn_id"],
        "landed": {
            "at": turn["landed_at"],
            **{name: turn[name] for name in COORDINATES},
            "source": turn["source"],
            "repeats": repeats_of(connection, *key),
        },
        "turn": {name: turn[name] for name in FACTS_OF_A_TURN},
        "signals": signals_of(connection, *key),
        "conversations": conversations,
        "versions": versions_of(connection, *key, [c["conversation_id"] for c in conversations]),
    }


def repeats_of(connection: Any, tenant: str, turn_id: str) -> int:
    """Return how often the turn landed again after the first time."""
    count = "SELECT count(*) AS n FROM landing WHERE tenant = ? AND turn_id = ? AND outcome = 'turn'"
    return int(max(_rows(connection, count, tenant, turn_id)[0]["n"] - 1, 0))


def signals_of(connection: Any, tenant: str, turn_id: str) -> dict[str, Any] | None:
    """Return what the newest rules of the filter say of the turn; None where it has not been seen."""
    query = (
        f"SELECT {', '.join(_quoted(SHOWN_OF_SIGNALS))} FROM turn_signals "  # noqa: S608 - names of columns
        "WHERE tenant = ? AND turn_id = ? "
        "ORDER BY rule_version DESC, tagged_at DESC, landed_at LIMIT 1"
    )
    return next(iter(_rows(connection, query, tenant, turn_id)), None)


def conversations_of(connection: Any, tenant: str, turn_id: str) -> list[dict[str, Any]]:
    """Return the conversations that the turn is in: on the active path (``position`` from 0) or on a branch (null)."""
    query = (
        f"SELECT {', '.join(_quoted(SHOWN_OF_A_CONVERSATION))}, "  # noqa: S608 - names of columns
        "nullif(coalesce(list_position(turn_ids, $2), 0), 0) - 1 AS position FROM conversations WHERE tenant = $1 "
        "AND (list_contains(turn_ids, $2) OR list_contains(branch_turn_ids, $2)) ORDER BY conversation_id"
    )
    return _rows(connection, query, tenant, turn_id)


def versions_of(connection: Any, tenant: str, turn_id: str, conversation_ids: list[str]) -> list[dict[str, Any]]:
    """Return what each dataset version did with the turn, newest first.

    ``drops`` of the turn, of its conversation or of pairs with it; ``example``, where the turn is the one to learn;
    ``in_prompts``, the number of examples that have it in their prompt.
    """
    drops = _rows(
        connection,
        "SELECT dataset_version, subject, rule, score, threshold, matched_id FROM drops WHERE tenant = $1 "
        "AND (subject_id = $2 OR (subject = 'conversation' AND list_contains($3, subject_id)) "
        "OR (subject = 'pair' AND list_contains(string_split(subject_id, '>'), $2))) ORDER BY subject, rule",
        tenant,
        turn_id,
        conversation_ids,
    )
    examples = _rows(
        connection,
        "SELECT dataset_version, example_id, kind, split, trust, turn_ids[-1] = $2 AS is_target "
        "FROM training_examples WHERE tenant = $1 AND list_contains(turn_ids, $2) ORDER BY example_id",
        tenant,
        turn_id,
    )
    versions = _rows(connection, "SELECT dataset_version, created_at, gate, policy, withdrawn_at FROM dataset_versions")
    told = {row["dataset_version"] for row in (*drops, *examples)}
    versions = [version for version in versions if version["dataset_version"] in told]
    versions.sort(key=lambda version: (version["created_at"], version["dataset_version"]), reverse=True)
    return [version | _part_in(version["dataset_version"], drops, examples) for version in versions]


def _part_in(name: str, drops: list[dict[str, Any]], examples: list[dict[str, Any]]) -> dict[str, Any]:
    ours = [row for row in examples if row["dataset_version"] == name]
    target = next((row for row in ours if row["is_target"]), None)
    dropped = [row for row in drops if row["dataset_version"] == name]
    return {
        "drops": [{k: v for k, v in row.items() if k != "dataset_version"} for row in dropped],
        "example": target and {k: target[k] for k in ("example_id", "kind", "split", "trust")},
        "in_prompts": sum(not row["is_target"] for row in ours),
    }


def _rows(connection: Any, query: str, *values: Any) -> list[dict[str, Any]]:
    answer = connection.execute(query, list(values))
    names = [column[0] for column in answer.description]
    return [dict(zip(names, row, strict=True)) for row in answer.fetchall()]


def _quoted(names: tuple[str, ...]) -> list[str]:
    return [f'"{name}"' for name in names]
