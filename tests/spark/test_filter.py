"""The filter stage and its job: one row of signals per turn, in batch, in stream and after a replay."""

from jobs.filter_stream import filter_turns
from jobs.options import Settings
from jobs.streaming import Schedule
from pipelines.adapters import delta
from pipelines.quality.filter import tag_quality
from pipelines.quality.rules import RULE_VERSION
from schemas import TURN_SIGNALS, TURNS

LOOP = "I am not able to help with that request today. " * 30
CALL = {"id": "call_1", "name": "get_weather", "arguments": '{"city": "Oslo"}'}


def turn_rows():
    return [
        TURNS.row(turn_id="t1", role="system", text="You are a helpful assistant who answers in short sentences."),
        TURNS.row(turn_id="t2", role="user", text="yes"),
        TURNS.row(turn_id="t3", role="assistant", text=LOOP),
        TURNS.row(turn_id="t4", role="assistant", text="", tool_calls=[CALL]),
        TURNS.row(turn_id="t5", role="assistant", text="", tool_calls=None, parts=None, flags=None),
        TURNS.row(turn_id="t6", role="assistant", text="The capital of France is", finish_reason="length"),
        TURNS.row(turn_id="t7", role="tool", text=None),
    ]


REASONS = {"t1": None, "t2": None, "t3": "repetition", "t4": None, "t5": "empty", "t6": "truncated", "t7": None}


def turns_of(spark, rows):
    return spark.createDataFrame(rows, TURNS.spark_schema)


def reasons(frame):
    return {row.turn_id: row.reason for row in frame.collect()}


def test_each_turn_gets_one_valid_row_with_its_reason(spark):
    tagged = tag_quality(turns_of(spark, turn_rows()))
    assert tagged.columns == TURN_SIGNALS.column_names
    assert reasons(tagged) == REASONS
    assert tagged.where("keep != (reason is null)").count() == 0
    assert [row.broken for row in tagged.select(TURN_SIGNALS.violations().alias("broken")).distinct().collect()] == [[]]


def test_the_job_tags_what_is_there_and_later_only_what_is_new(spark, lake):
    settings = Settings(lake.path, lake.path.with_name("keys"))
    delta.append(turns_of(spark, turn_rows()), lake, TURNS)
    filter_turns(settings, Schedule())
    assert reasons(delta.read(spark, lake, TURN_SIGNALS)) == REASONS

    version = delta.version(lake, TURN_SIGNALS.name)
    filter_turns(settings, Schedule())
    assert delta.version(lake, TURN_SIGNALS.name) == version

    delta.append(
        turns_of(spark, [TURNS.row(turn_id="t8", text="How do I reset my router to its defaults?")]), lake, TURNS
    )
    filter_turns(settings, Schedule())
    signals = delta.read(spark, lake, TURN_SIGNALS)
    assert reasons(signals) == REASONS | {"t8": None}
    new = signals.where("turn_id = 't8'").collect()[0]
    assert (new.lang, new.keep, new.rule_version) == ("en", True, RULE_VERSION)
    assert new.tagged_at >= new.landed_at


def test_deleting_turns_does_not_stop_the_job(spark, lake):
    from delta.tables import DeltaTable

    settings = Settings(lake.path, lake.path.with_name("keys"))
    delta.append(turns_of(spark, turn_rows()), lake, TURNS)
    filter_turns(settings, Schedule())
    DeltaTable.forPath(spark, str(lake.table(TURNS.name))).delete("turn_id = 't3'")
    delta.append(turns_of(spark, [TURNS.row(turn_id="t8")]), lake, TURNS)
    filter_turns(settings, Schedule())
    assert set(reasons(delta.read(spark, lake, TURN_SIGNALS))) == set(REASONS) | {"t8"}
