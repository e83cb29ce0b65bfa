"""The lag counts what the tables got since the index's last sync, and since when it waits."""

from __future__ import annotations

import time

import pyarrow as pa
from deltalake import write_deltalake

from pipelines.index.lag import index_lag
from pipelines.index.standing import Standing
from schemas import EMBEDDINGS, TURN_SIGNALS, TURNS


def write(lake, table):
    lake.table(table.name).mkdir(parents=True, exist_ok=True)
    row = pa.Table.from_pylist([table.row()], schema=table.arrow_schema)
    write_deltalake(lake.table(table.name), row, mode="append")


def standing(**versions):
    return Standing("g1", 1, 1, 8, "m", "f", versions, {})


def test_an_index_at_the_newest_versions_has_no_lag(lake):
    write(lake, TURNS)
    lag = index_lag(lake.table, standing(turns=0, turn_signals=-1, embeddings=-1))
    assert lag.versions == {"turns": 0, "turn_signals": 0, "embeddings": 0}
    assert lag.seconds == 0


def test_commits_after_the_sync_count_by_table_from_the_oldest_on(lake):
    write(lake, TURNS)
    before = time.time()
    for table in (TURNS, TURNS, EMBEDDINGS):
        write(lake, table)
    lag = index_lag(lake.table, standing(turns=0, turn_signals=-1, embeddings=-1))
    assert lag.versions == {"turns": 2, "turn_signals": 0, "embeddings": 1}
    assert 0 < lag.seconds <= time.time() - before + 1


def test_without_an_index_all_commits_wait(lake):
    for table in (TURNS, TURN_SIGNALS):
        write(lake, table)
    assert index_lag(lake.table, None).versions == {"turns": 1, "turn_signals": 1, "embeddings": 0}
