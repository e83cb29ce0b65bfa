"""The topics of Turnmill, created with settings that keep raw text for a day and take records above the limit."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic, ResourceType

from pipelines.adapters.kafka_clients import KafkaError, client_settings
from pipelines.adapters.kafka_settings import DEFAULT_PARTITIONS, TOPIC_SETTINGS
from schemas.records import MAX_RECORD_BYTES, TOPIC_MESSAGE_BYTES, TOPICS

ANSWER_SECONDS = 30.0


@dataclass(frozen=True)
class TopicReport:
    """Which topics were made, which were there, and what is wrong with those that were there."""

    created: tuple[str, ...] = ()
    existing: tuple[str, ...] = ()
    warnings: tuple[str, ...] = field(default=())


def topic_partitions(bootstrap: str, timeout: float = ANSWER_SECONDS) -> dict[str, int]:
    """Return the names of the cluster's topics with their numbers of partitions, internal ones left out.

    Errors: ``KafkaError`` when no broker answers within ``timeout`` seconds.
    """
    try:
        topics = AdminClient(client_settings(bootstrap)).list_topics(timeout=timeout).topics
    except KafkaException as failure:
        raise KafkaError(
            f"No Kafka broker answered at {bootstrap} within {timeout:.0f} s; check the address of --bootstrap, "
            "or start the embedded broker with `turnmill kafka start`."
        ) from failure
    return {name: len(topic.partitions) for name, topic in topics.items() if not name.startswith("__")}


def ensure_topics(
    bootstrap: str, *, partitions: int = DEFAULT_PARTITIONS, topics: tuple[str, ...] = TOPICS
) -> TopicReport:
    """Create the topics that are missing; leave the others as they are, and report a too small ``max.message.bytes``.

    ``partitions`` holds for new topics; the replication factor is the cluster's default. Two callers at once are fine.
    Errors: ``KafkaError`` when no broker answers or a topic cannot be created.
    """
    present = topic_partitions(bootstrap)
    client = AdminClient(client_settings(bootstrap))
    missing = [name for name in topics if name not in present]
    created = []
    wanted = [NewTopic(name, partitions, -1, config=TOPIC_SETTINGS) for name in missing]
    for name, future in (client.create_topics(wanted) if wanted else {}).items():
        try:
            future.result(ANSWER_SECONDS)
            created.append(name)
        except KafkaException as failure:
            if failure.args[0].name() != "TOPIC_ALREADY_EXISTS":
                raise KafkaError(
                    f"Topic {name} could not be created at {bootstrap}: {failure.args[0].name()}. "
                    f"Create it yourself with max.message.bytes={TOPIC_MESSAGE_BYTES} and a short retention.ms."
                ) from failure
    _wait_until_led(client, missing, bootstrap)
    existing = tuple(name for name in topics if name not in created)
    return TopicReport(tuple(created), existing, _warnings(client, existing))


def _wait_until_led(client: AdminClient, topics: Sequence[str], bootstrap: str) -> None:
    """Wait until each partition has a leader: a topic is created some time before the brokers know of it."""
    until = time.monotonic() + ANSWER_SECONDS
    while topics:
        known = client.list_topics(timeout=ANSWER_SECONDS).topics
        partitions = [known[name].partitions.values() if name in known else () for name in topics]
        if all(of_topic and all(one.leader >= 0 for one in of_topic) for of_topic in partitions):
            return
        if time.monotonic() > until:
            raise KafkaError(f"New topics at {bootstrap} have no leader after {ANSWER_SECONDS:.0f} s; see its log.")
        time.sleep(0.05)


def _warnings(client: AdminClient, topics: tuple[str, ...]) -> tuple[str, ...]:
    warnings = []
    resources = [ConfigResource(ResourceType.TOPIC, name) for name in topics]
    for resource, future in (client.describe_configs(resources) if resources else {}).items():
        try:
            limit = int(future.result(ANSWER_SECONDS)["max.message.bytes"].value)
        except KafkaException as failure:
            warnings.append(f"Topic {resource.name}: its settings cannot be read ({failure.args[0].name()}).")
            continue
        if limit < MAX_RECORD_BYTES:
            warnings.append(
                f"Topic {resource.name} takes records of at most {limit} bytes; records up to {MAX_RECORD_BYTES} are "
                f"valid, so set its max.message.bytes to {TOPIC_MESSAGE_BYTES}."
            )
    return tuple(warnings)
