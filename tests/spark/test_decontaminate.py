"""Leaks of benchmarks in examples, found by the workers."""

import pytest
from pyspark.sql import functions as F

from pipelines.datasets.decontaminate import LEAK_FLAGS, flag_leaks
from pipelines.decontamination.canaries import CanaryMissedError
from pipelines.decontamination.check import LeakCheck, leak_check
from pipelines.decontamination.items import BenchmarkItem
from schemas import TRAINING_EXAMPLES

ITEM = (
    "The keeper counts 214 ships in the first week of May, how many does he count in the second one if 31 are missing?"
)


def example(example_id, *texts):
    prompt = [{"role": "user", "text": text, "tool_calls": [], "tool_call_id": None} for text in texts]
    return TRAINING_EXAMPLES.row(example_id=example_id, prompt=prompt, completion=prompt[:0])


def frame(spark, rows):
    return spark.createDataFrame(rows, TRAINING_EXAMPLES.spark_schema).repartition(3)


def test_every_leak_is_a_row_and_clean_examples_have_none(spark):
    check = leak_check([BenchmarkItem("ships", "9", "prompt", ITEM), BenchmarkItem("more-ships", "2", "prompt", ITEM)])
    rows = [example("e1", ITEM), example("e2", "How do I bake bread?"), *(example(f"c{n}", ITEM) for n in range(20))]
    flags = flag_leaks(frame(spark, rows), check)
    assert flags.columns == LEAK_FLAGS.names
    found = {(row.example_id, row.benchmark, row.item, row.side, row.verdict) for row in flags.collect()}
    assert found == {
        (name, benchmark, item, "prompt", "contaminated")
        for name in ("e1", *(f"c{n}" for n in range(20)))
        for benchmark, item in (("ships", "9"), ("more-ships", "2"))
    }


def test_a_task_whose_canary_is_missed_fails(spark):
    seen = leak_check([BenchmarkItem("ships", "9", "prompt", ITEM)])
    other = leak_check([BenchmarkItem("ships", "9", "prompt", "What is 2+2?")])
    blind = LeakCheck(other.index, seen.limits, seen.planted, {})
    with pytest.raises(Exception, match=CanaryMissedError.__name__):
        flag_leaks(frame(spark, [example("e1", "Hello")]), blind).agg(F.count("*")).collect()
