"""Assembled conversations."""

import pyarrow as pa

from schemas.shared_columns import CONSENT, TENANT
from schemas.table import EXAMPLE_TIME, UTC_MICROSECONDS, Column, Table, at_least, not_null

FEEDBACK_SUMMARY = pa.struct(
    [("n", pa.int32()), ("thumbs_up", pa.int32()), ("thumbs_down", pa.int32()), ("edits", pa.int32())]
)
SIGNALS = pa.struct(
    [
        ("user_repeats", pa.int32()),
        ("assistant_repeats", pa.int32()),
        ("begins_with_answer", pa.bool_()),
        ("unanswered_calls", pa.int32()),
        ("pending_calls", pa.int32()),
        ("orphan_results", pa.int32()),
        ("language_mismatches", pa.int32()),
        ("ends_truncated", pa.bool_()),
        ("is_abandoned", pa.bool_()),
        ("reasks", pa.int32()),
        ("satisfaction", pa.float32()),
    ]
)
NO_SIGNALS = {
    field.name: None if field.name == "satisfaction" else False if pa.types.is_boolean(field.type) else 0
    for field in SIGNALS
}

CONVERSATIONS = Table(
    name="conversations",
    doc="One row per conversation: its active path of turns, its branches, its revision.",
    key=("tenant", "conversation_id"),
    columns=(
        TENANT,
        Column(
            "conversation_id",
            pa.string(),
            "root_id where the log has a conversation id, else the first turn that is unique to the path.",
            (not_null,),
            "c1",
        ),
        Column("root_id", pa.string(), "Keyed identity of the talk.", (not_null,), "r1"),
        Column("conversation_ref", pa.string(), "Keyed reference of the logged conversation id."),
        Column("user_ref", pa.string(), "Keyed reference of the logged user id."),
        Column(
            "user_refs",
            pa.list_(pa.string()),
            "Keyed references of all users whose turns the conversation holds, branches too, in order.",
            (),
            [],
        ),
        Column("stream", pa.string(), "Product or channel that the talk belongs to.", (not_null,), "default"),
        Column(
            "turn_ids",
            pa.list_(pa.string()),
            "Active path, first turn first, without system messages.",
            (not_null,),
            ["t1"],
        ),
        Column(
            "branch_turn_ids",
            pa.list_(pa.string()),
            "Turns of the conversation that are not on the active path.",
            (),
            [],
        ),
        Column("system_turn_id", pa.string(), "System message in force at the end of the active path."),
        Column("n_turns", pa.int32(), "Length of the active path.", (not_null, at_least(1)), 1),
        Column(
            "n_branches",
            pa.int32(),
            "Leaves of the tree of turns; 1 without regenerations or edits.",
            (not_null, at_least(1)),
            1,
        ),
        Column("started_at", UTC_MICROSECONDS, "Earliest time of a turn, UTC.", (not_null,), EXAMPLE_TIME),
        Column("last_at", UTC_MICROSECONDS, "Latest time of a turn, UTC.", (not_null,), EXAMPLE_TIME),
        Column("complete", pa.bool_(), "No turn for the idle time; a late turn opens it again.", (not_null,), True),
        Column("revision", pa.int32(), "Counts changes of the row, from 1.", (not_null, at_least(1)), 1),
        Column(
            "language",
            pa.string(),
            "Most frequent certain language of the user's turns; und without one.",
            (not_null,),
            "en",
        ),
        Column("n_kept", pa.int32(), "Turns of the active path that the filter keeps.", (not_null, at_least(0)), 1),
        Column("feedback", FEEDBACK_SUMMARY, "Counts of feedback on the turns of the conversation."),
        Column(
            "signals",
            SIGNALS,
            "Course of the active path. user_repeats, assistant_repeats: turns after one of the same role. "
            "begins_with_answer: nobody asked first. unanswered_calls: tool calls passed over; pending_calls: the talk "
            "ends before their results; orphan_results: results without a call. language_mismatches: answers surely in "
            "another language than the user's. ends_truncated: the last answer was cut. is_abandoned: the last turn has "
            "no answer. reasks: the user said nearly the same again. satisfaction: -1 to 1, thumbs up against thumbs "
            "down and reasks; null where nothing tells.",
            (),
            NO_SIGNALS,
        ),
        CONSENT,
        Column(
            "fingerprint",
            pa.string(),
            "Hash of all that a revision counts; equal rows are not written again.",
            (not_null,),
            "0" * 32,
        ),
    ),
    statistics=("tenant", "conversation_id", "root_id", "last_at"),
    holds_text=False,
)
