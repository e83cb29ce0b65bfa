"""The decoding scan of a whole lake, with its positive control: the same lake written without anonymisation."""

from dataclasses import dataclass
from pathlib import Path

import pytest
from pyspark import cloudpickle

from jobs.filter_stream import filter_turns
from jobs.ingest_stream import ingest
from jobs.options import Settings
from jobs.settle_stream import settle
from jobs.streaming import Schedule
from pipelines.adapters.kafka_producer import load_records
from pipelines.intake.items import Feedback, Turn
from pipelines.intake.landing import Intake, RecordReader
from pipelines.privacy.lake_scanner import scan
from pipelines.privacy.turns import AnonymizedFeedback, AnonymizedTurn
from pipelines.synthetic.log_records import generate
from schemas.records import FEEDBACK_TOPIC

ONCE = Schedule(None)


class RawReader(RecordReader):
    """What the product must never be: it lands raw text. For the control of the scanner alone."""

    def spoken(self, item: Turn | Feedback, clean, payload):
        if isinstance(item, Turn):
            return self.turn(item, AnonymizedTurn(item.message, [], {}))
        return self.feedback(item, AnonymizedFeedback(item.rating, [], {}))


@dataclass(frozen=True)
class RawIntake(Intake):
    def reader(self, keys):
        return RawReader(self, keys)


@pytest.fixture(scope="module", autouse=True)
def _readers_travel_by_value():
    import sys

    module = sys.modules[__name__]
    cloudpickle.register_pickle_by_value(module)
    yield
    cloudpickle.unregister_pickle_by_value(module)


@pytest.fixture(scope="module")
def planted(kafka, tmp_path_factory):
    """Two lakes from the same records, with and without anonymisation, and the values planted in them."""
    import uuid

    from pipelines.adapters.kafka_topics import ensure_topics

    topic = f"test-{uuid.uuid4().hex[:12]}"
    ensure_topics(kafka, partitions=2, topics=(topic,))
    records = list(generate(120, seed=11))
    report = load_records([(r.value, r.headers) for r in records], kafka, topic=topic)
    assert report.acknowledged == len(records)
    folder: Path = tmp_path_factory.mktemp("at-rest")
    lakes = {}
    for name, kind in (("clean", Intake), ("raw", RawIntake)):
        settings = Settings(folder / name, folder / "keys", kafka)
        ingest(settings, ONCE, kind(settings.keys), topics=[topic])
        settle(settings, ONCE)
        filter_turns(settings, ONCE)
        lakes[name] = settings.lake
    assert any(r.topic == FEEDBACK_TOPIC for r in records)
    return lakes, [value for record in records for value in record.planted]


def test_no_planted_value_is_anywhere_in_the_lake(spark, planted):
    lakes, values = planted
    report = scan(lakes["clean"], [one.value for one in values], types=[one.type for one in values])
    assert report.found_by_type == {}
    assert report.not_understood == []
    assert len(values) > 100


def test_the_scan_finds_every_value_of_a_kept_field_in_a_lake_without_anonymisation(spark, planted):
    lakes, values = planted
    kept = [one for one in values if one.kept]
    report = scan(lakes["raw"], [one.value for one in kept], types=[one.type for one in kept])
    missed = [(one.type, one.where) for i, one in enumerate(kept) if i not in report.found]
    assert missed == []


def test_a_plain_byte_search_would_have_missed_values(spark, planted):
    lakes, values = planted
    stored = b"".join(path.read_bytes() for path in lakes["raw"].rglob("*.parquet"))
    kept = [one.value.encode() for one in values if one.kept]
    assert not all(value in stored for value in kept)
