import datetime as dt

from pipelines.adapters import delta, streams
from pipelines.conversations.current import turns_current
from pipelines.conversations.settle import settle_dead_letters, settle_feedback, settle_turns
from schemas import DEAD_LETTERS, FEEDBACK, LANDING, TURNS

NOON = dt.datetime(2026, 1, 1, 12, tzinfo=dt.UTC)


def land(spark, lake, *rows):
    frame = spark.createDataFrame([LANDING.row(**row) for row in rows], LANDING.spark_schema)
    delta.append(frame.coalesce(1), lake, LANDING)


def drain(spark, lake, table, stage):
    landing = delta.read_stream(spark, lake, LANDING, withEventTimeOrder=table is TURNS)
    writer = stage(landing).writeStream.format("delta").option("checkpointLocation", str(lake.checkpoint(table.name)))
    query = writer.trigger(availableNow=True).start(str(lake.table(table.name)))
    query.awaitTermination()
    return delta.read(spark, lake, table)


def test_each_outcome_settles_in_its_own_table(spark, lake):
    land(
        spark,
        lake,
        {"offset": 0, "turn_id": "a"},
        {"offset": 1, "outcome": "feedback", "feedback_id": "f", "kind": "thumb", "value": -1.0},
        {"offset": 2, "outcome": "dead", "reason": "bad_json", "payload_encrypted": b"x"},
        {"offset": 3, "outcome": "dead", "reason": "anonymise_failed", "payload_encrypted": b"x"},
        {"offset": 4, "outcome": "tombstone"},
    )
    for table, stage in ((TURNS, settle_turns), (FEEDBACK, settle_feedback), (DEAD_LETTERS, settle_dead_letters)):
        delta.create_table(lake, table)
        found = drain(spark, lake, table, stage).orderBy("offset").collect()
        assert [row["offset"] for row in found] == {"turns": [0], "feedback": [1], "dead_letters": [2, 3]}[table.name]
        if table is DEAD_LETTERS:
            assert [row["stage"] for row in found] == ["parse", "anonymise"]


def test_a_repeat_is_dropped_also_in_a_later_batch_and_another_consent_is_not(spark, lake):
    delta.create_table(lake, TURNS)
    land(spark, lake, {"offset": 0}, {"offset": 1}, {"offset": 2, "consent": "none"})
    assert drain(spark, lake, TURNS, settle_turns).count() == 2
    land(spark, lake, {"offset": 3, "landed_at": NOON}, {"offset": 4, "tenant": "other", "landed_at": NOON})
    found = drain(spark, lake, TURNS, settle_turns)
    assert sorted((row["tenant"], row["consent"]) for row in found.collect()) == [
        ("default", "none"),
        ("default", "training"),
        ("other", "training"),
    ]


def test_the_first_snapshot_loses_no_row_to_the_horizon(spark, lake):
    delta.create_table(lake, TURNS)
    for day in (9, 1, 5):
        land(spark, lake, {"offset": day, "turn_id": f"t{day}", "landed_at": NOON + dt.timedelta(days=day)})
    assert drain(spark, lake, TURNS, settle_turns).count() == 3


def test_turns_current_shows_the_first_row_under_the_strictest_consent(spark):
    rows = [
        TURNS.row(turn_id="a", offset=7, consent="training"),
        TURNS.row(turn_id="a", offset=3, consent="training"),
        TURNS.row(turn_id="a", offset=9, consent="analytics"),
        TURNS.row(turn_id="a", tenant="other", offset=1),
    ]
    current = turns_current(spark.createDataFrame(rows, TURNS.spark_schema)).orderBy("tenant").collect()
    assert [(row["tenant"], row["offset"], row["consent"]) for row in current] == [
        ("default", 3, "analytics"),
        ("other", 1, "training"),
    ]


def test_a_delete_in_landing_does_not_stop_the_stream(spark, lake):
    from delta.tables import DeltaTable

    delta.create_table(lake, TURNS)
    land(spark, lake, {"offset": 0, "turn_id": "a"})
    drain(spark, lake, TURNS, settle_turns)
    DeltaTable.forPath(spark, str(lake.table(LANDING.name))).delete("offset = 0")
    land(spark, lake, {"offset": 1, "turn_id": "b", "landed_at": NOON})
    assert drain(spark, lake, TURNS, settle_turns).count() == 2


def test_an_error_is_told_without_its_message():
    told = streams.told("ingest", ValueError("secret@example.com [SOME_CLASS] more"))
    assert "secret" not in str(told)
