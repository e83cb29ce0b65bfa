"""Send single records again and learn where each one landed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from confluent_kafka import Producer

from pipelines.adapters.kafka_clients import client_settings
from schemas.records import TOPIC_MESSAGE_BYTES

Place = tuple[str, int, int]
ANSWER_SECONDS = 60.0


def send_and_locate(
    records: Sequence[tuple[str, bytes, Mapping[str, bytes]]], bootstrap: str, timeout: float = ANSWER_SECONDS
) -> list[Place | None]:
    """Send (topic, value, headers) records in order; return where each one is, None where unacknowledged."""
    places: list[Place | None] = [None] * len(records)
    settings = {"enable.idempotence": True, "compression.type": "zstd", "message.max.bytes": TOPIC_MESSAGE_BYTES}
    producer = Producer({**client_settings(bootstrap), **settings})

    def told(i: int) -> Any:
        def place(error: object, message: Any) -> None:
            if error is None:
                places[i] = (message.topic(), message.partition(), message.offset())

        return place

    for i, (topic, value, headers) in enumerate(records):
        producer.produce(topic, value, headers=list(headers.items()), on_delivery=told(i))
        producer.poll(0)
    producer.flush(timeout)
    return places
