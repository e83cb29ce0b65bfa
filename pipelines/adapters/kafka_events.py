"""Events of the flywheel on the topic ``turnmill.events``: decisions told, and requests for a run heard.

Failure contract: ``publish`` returns once the brokers have the event, else raises ``KafkaError``; a request is heard
again until the block that it was given to has ended well, so that a crash in between loses none.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import orjson
from confluent_kafka import Consumer, KafkaException, Message, Producer

from pipelines.adapters.kafka_clients import KafkaError, client_settings
from schemas.records import EVENTS_TOPIC

RUN_WANTED = "training.wanted"
DECIDED = "training.decided"
GROUP = "turnmill-trigger"
EVENT_ID = re.compile(r"[A-Za-z0-9_:.-]{1,128}")
MOST_EVENT_BYTES = 65_536


@dataclass(frozen=True)
class RunRequest:
    """An event that asks for a run: its id, and the tenant that it is for (None: whose dataset is newest)."""

    event_id: str
    tenant: str | None


def publish(bootstrap: str, event: Mapping[str, Any], *, topic: str = EVENTS_TOPIC, timeout: float = 30.0) -> None:
    """Send an event, keyed by its ``id``, and wait until the brokers have it."""
    failures: list[str] = []

    def told(error: Any, _: Message) -> None:
        if error is not None:
            failures.append(error.name())

    producer = Producer({**client_settings(bootstrap), "enable.idempotence": True})
    producer.produce(topic, orjson.dumps(dict(event), default=str), key=str(event["id"]), on_delivery=told)
    waiting = producer.flush(timeout)
    if waiting or failures:
        raise KafkaError(
            f"wanted {topic} at {bootstrap} to take an event, found {failures[0] if failures else 'silence'}"
        )


def read_request(value: bytes | None) -> RunRequest | None:
    """Return the request that a record holds; None for a record that is none, other events of ours among them."""
    if value is None or len(value) > MOST_EVENT_BYTES:
        return None
    try:
        told = orjson.loads(value)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(told, dict) or told.get("type") != RUN_WANTED:
        return None
    event_id, tenant = told.get("id"), told.get("tenant")
    if not isinstance(event_id, str) or not EVENT_ID.fullmatch(event_id):
        return None
    return RunRequest(event_id, tenant if isinstance(tenant, str) else None)


@contextmanager
def next_request(
    bootstrap: str, *, topic: str = EVENTS_TOPIC, group: str = GROUP, timeout: float = 10.0
) -> Iterator[RunRequest | None]:
    """Give the oldest request that no block has ended well with; None when there is none within ``timeout`` seconds.

    When the block ends well the request is done; when it raises, it is heard again.
    """
    consumer = Consumer({
        **client_settings(bootstrap), "group.id": group, "auto.offset.reset": "earliest", "enable.auto.commit": False,
        "enable.partition.eof": False,
    })  # fmt: skip
    consumer.subscribe([topic])
    try:
        request, has_read = _first_request(consumer, timeout)
        yield request
        if has_read:
            consumer.commit(asynchronous=False)
    except KafkaException as failure:
        raise KafkaError(f"wanted to read {topic} at {bootstrap}, found {failure.args[0].name()}") from failure
    finally:
        consumer.close()


def _first_request(consumer: Consumer, timeout: float) -> tuple[RunRequest | None, bool]:
    """Return the first request, and whether anything was read: what is no request is passed over for good."""
    deadline, has_read = time.monotonic() + timeout, False
    while (left := deadline - time.monotonic()) > 0:
        message = consumer.poll(left)
        if message is None or message.error():
            continue
        has_read = True
        request = read_request(message.value())
        if request is not None:
            return request, True
    return None, has_read
