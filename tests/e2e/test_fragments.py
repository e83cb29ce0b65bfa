"""Pieces of streamed answers that come as Kafka records of their own."""

from __future__ import annotations

import json
import uuid

import pytest

from jobs.fragments_join import join
from jobs.ingest_stream import ingest
from jobs.options import Settings
from jobs.settle_stream import settle
from jobs.streaming import Schedule
from pipelines.adapters import delta
from pipelines.adapters.duck import connect
from pipelines.adapters.kafka_producer import load_records
from pipelines.adapters.kafka_topics import ensure_topics
from pipelines.adapters.lake import Lake
from pipelines.conversations.accounting import accounts
from pipelines.intake.landing import Intake
from schemas import LANDING

ONCE = Schedule(None)
SECRET = "marlo.quent@korvane-labs.com"


@pytest.fixture
def settings(kafka, tmp_path):
    return Settings(tmp_path / "lake", tmp_path / "keys", kafka)


@pytest.fixture
def topic(kafka):
    """A fresh topic of one partition: pieces of an answer belong under one key, which keeps their order."""
    name = f"test-{uuid.uuid4().hex[:12]}"
    ensure_topics(kafka, partitions=1, topics=(name,))
    return name


def chunk(delta, finish=None, stream="chatcmpl-1"):
    choices = [{"index": 0, "delta": delta, "finish_reason": finish}]
    return {"id": stream, "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": choices}


def land(settings, topic, *entries):
    records = [(json.dumps(entry).encode(), {"turnmill-conversation": "talk-1"}) for entry in entries]
    load_records(records, settings.bootstrap, topic=topic)
    ingest(settings, ONCE, Intake(settings.keys), topics=[topic])


def turns(settings):
    settle(settings, ONCE)
    return connect(Lake(settings.lake)).sql("SELECT role, text, tool_calls, flags FROM turns").fetchall()


def test_an_answer_in_pieces_over_two_batches_becomes_one_turn_and_hides_what_was_split(spark, settings, topic):
    first, second = SECRET[:9], SECRET[9:]
    land(settings, topic, chunk({"role": "assistant", "content": f"Write to {first}"}))
    waiting = join(settings)
    assert (waiting["joined"], waiting["pending"]) == (0, 1)
    assert turns(settings) == []

    land(settings, topic, chunk({"content": f"{second} today."}), chunk({}, "stop"))
    done = join(settings)
    assert (done["joined"], done["pending"]) == (3, 0)
    ((role, text, _, flags),) = turns(settings)
    assert role == "assistant"
    assert text.startswith("Write to ")
    assert text.endswith(" today.")
    assert second not in text
    assert flags == []

    version = delta.version(Lake(settings.lake), LANDING.name)
    assert join(settings)["items"] == 0
    assert delta.version(Lake(settings.lake), LANDING.name) == version
    found = accounts(connect(Lake(settings.lake)))
    assert found.balanced
    assert (found.fragments, found.fragments_joined, found.turns) == (3, 3, 1)


def test_an_answer_without_its_end_is_joined_after_the_wait_and_flagged(spark, settings, topic):
    land(settings, topic, chunk({"role": "assistant", "content": "Half an"}), chunk({"content": " answer"}))
    assert join(settings, wait_minutes=0)["joined"] == 2
    ((_, text, _, flags),) = turns(settings)
    assert text == "Half an answer"
    assert flags == ["stream_incomplete"]


def test_pieces_of_an_answer_that_also_came_whole_add_no_turn(spark, settings, topic):
    piece = {"type": "response.output_text.delta", "item_id": "msg_1", "output_index": 0, "content_index": 0,
             "sequence_number": 2, "delta": "Hel"}  # fmt: skip
    message = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
               "content": [{"type": "output_text", "text": "Hello"}]}  # fmt: skip
    whole = {"id": "resp_1", "object": "response", "status": "completed", "model": "m", "output": [message]}
    land(settings, topic, piece, {"type": "response.completed", "sequence_number": 9, "response": whole})
    done = join(settings, wait_minutes=0)
    assert done["pending"] == 0
    assert [(role, text) for role, text, _, _ in turns(settings)] == [("assistant", "Hello")]
    assert accounts(connect(Lake(settings.lake))).balanced
