"""Settings that every Kafka client of ours starts from."""

from __future__ import annotations

import logging
from typing import Any

QUIET = logging.getLogger("turnmill.kafka")
QUIET.addHandler(logging.NullHandler())
QUIET.propagate = False


class KafkaError(RuntimeError):
    """A Kafka cluster does not do what is asked of it; the message names the cluster and what to do."""

    safe_to_show = True


def client_settings(bootstrap: str) -> dict[str, Any]:
    """Return the settings of a librdkafka client for the cluster at ``bootstrap`` (``HOST:PORT``, several with commas).

    The client's own log lines go to the logger ``turnmill.kafka``, which is silent unless a handler is added.
    """
    return {
        "bootstrap.servers": bootstrap,
        "client.id": "turnmill",
        "logger": QUIET,
        "socket.connection.setup.timeout.ms": 5000,
        "reconnect.backoff.max.ms": 2000,
    }
