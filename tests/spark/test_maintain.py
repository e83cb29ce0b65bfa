"""Upkeep beside a running stream: it reads on as if nothing had been."""

from __future__ import annotations

from pipelines.adapters import delta
from pipelines.adapters.lake import Lake
from pipelines.adapters.table_upkeep import MANY_SMALL, keep_up
from schemas import FEEDBACK


def append(lake, ids, nth):
    delta.append_rows([FEEDBACK.row(feedback_id=one) for one in ids], lake, FEEDBACK, txn=("test", nth))


def test_a_stream_reads_each_row_once_while_its_table_is_joined(spark, lake):
    for nth in range(MANY_SMALL):
        append(lake, [f"f{nth}"], nth)
    read = []
    stream = delta.read_stream(spark, lake, FEEDBACK, maxFilesPerTrigger=5)
    writer = stream.writeStream.option("checkpointLocation", str(lake.path / "checkpoint"))
    query = writer.foreachBatch(lambda frame, _: read.extend(row.feedback_id for row in frame.collect())).start()
    try:
        assert keep_up(lake, FEEDBACK.name, []).files_after == 1
        append(lake, ["late"], MANY_SMALL)
        query.processAllAvailable()
        assert keep_up(lake, FEEDBACK.name, []).files_after == 2
        append(lake, ["later"], MANY_SMALL + 1)
        query.processAllAvailable()
    finally:
        query.stop()
    assert sorted(read) == sorted([*(f"f{nth}" for nth in range(MANY_SMALL)), "late", "later"])


def test_a_merge_that_is_overtaken_by_a_join_is_made_again(spark, lake):
    for nth in range(MANY_SMALL):
        append(lake, [f"f{nth}"], nth)
    folder, passes = lake.path, spark.sparkContext.accumulator(0)

    def joined_meanwhile(batches):
        for batch in batches:
            keep_up(Lake(folder), FEEDBACK.name, [])
            yield batch
        passes.add(1)

    rows = [FEEDBACK.row(feedback_id=one) for one in ("f3", "new")]
    source = spark.createDataFrame(rows, FEEDBACK.spark_schema).coalesce(1)
    delta.merge(source.mapInArrow(joined_meanwhile, FEEDBACK.spark_schema), lake, FEEDBACK, update=False)
    assert passes.value == 2
    assert delta.read(spark, lake, FEEDBACK).count() == MANY_SMALL + 1
