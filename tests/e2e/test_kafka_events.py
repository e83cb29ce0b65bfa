"""Requests for runs are heard on a real broker, each until it was dealt with; decisions are told there."""

import orjson
import pytest
from confluent_kafka import Consumer

from pipelines.adapters.kafka_clients import KafkaError, client_settings
from pipelines.adapters.kafka_events import next_request, publish


def test_a_request_is_heard_until_it_was_dealt_with(kafka, topic):
    publish(kafka, {"id": "d-1", "type": "training.decided"}, topic=topic)
    publish(kafka, {"id": "e-1", "type": "training.wanted", "tenant": "acme"}, topic=topic)
    group = f"group-{topic}"
    with pytest.raises(RuntimeError, match="killed"), next_request(kafka, topic=topic, group=group) as request:
        raise RuntimeError("killed")
    with next_request(kafka, topic=topic, group=group) as request:
        assert (request.event_id, request.tenant) == ("e-1", "acme")
    with next_request(kafka, topic=topic, group=group, timeout=6) as request:
        assert request is None


def test_an_event_arrives_under_its_id(kafka, topic):
    publish(kafka, {"id": "d-1", "type": "training.decided", "verdict": "hold"}, topic=topic)
    consumer = Consumer({**client_settings(kafka), "group.id": topic, "auto.offset.reset": "earliest"})
    consumer.subscribe([topic])
    message = None
    while message is None:
        message = consumer.poll(10)
    consumer.close()
    assert (message.key(), orjson.loads(message.value())["verdict"]) == (b"d-1", "hold")


def test_a_cluster_that_is_not_there_is_told():
    with pytest.raises(KafkaError, match="to take an event"):
        publish("127.0.0.1:1", {"id": "d-1"}, timeout=2)
