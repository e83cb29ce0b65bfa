"""What each micro-batch did."""

import pyarrow as pa

from schemas.table import EXAMPLE_TIME, UTC_MICROSECONDS, Column, Table, at_least, not_null

BATCH_LOG = Table(
    name="batch_log",
    doc="One row per micro-batch of a streaming query.",
    key=("query", "batch_id"),
    columns=(
        Column(
            "query",
            pa.string(),
            "Streaming query and checkpoint generation, for instance ingest/v1.",
            (not_null,),
            "ingest/v1",
        ),
        Column("batch_id", pa.int64(), "Micro-batch.", (not_null, at_least(0)), 0),
        Column("committed_at", UTC_MICROSECONDS, "When its checkpoint committed, UTC.", (not_null,), EXAMPLE_TIME),
        Column(
            "offsets_in", pa.map_(pa.string(), pa.int64()), "End offset by topic-partition, exclusive.", (not_null,), {}
        ),
        Column("rows_by_outcome", pa.map_(pa.string(), pa.int64()), "Rows written, by outcome.", (not_null,), {}),
        Column(
            "table_versions", pa.map_(pa.string(), pa.int64()), "Delta version of each table written.", (not_null,), {}
        ),
        Column("seconds", pa.float64(), "Time that it took; null where the process died before it told."),
        Column("key_epoch", pa.int32(), "Epoch of the surrogate and payload keys.", (), 1),
        Column("trace_id", pa.string(), "Trace id of the batch.", (not_null,), "0" * 32),
    ),
    statistics=("query", "batch_id", "committed_at"),
    holds_text=False,
)
