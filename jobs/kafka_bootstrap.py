"""Which Kafka a command talks to: the one it was given, else the embedded one."""

from __future__ import annotations

from jobs.options import Exit, Settings, UserError
from pipelines.adapters.kafka_broker import EmbeddedBroker


def bootstrap_for(settings: Settings) -> str:
    """Return the address of ``--bootstrap``, else of the embedded broker beside the lake when it runs.

    Errors: ``UserError`` that says how to start one.
    """
    if settings.bootstrap:
        return settings.bootstrap
    if (bootstrap := EmbeddedBroker(settings.kafka_folder).bootstrap) is not None:
        return bootstrap
    raise UserError(
        f"No Kafka: no --bootstrap was given, and no embedded broker runs beside the lake {settings.lake}. "
        f"Start one with `turnmill kafka start --lake {settings.lake}`.",
        Exit.FAILED,
    )
