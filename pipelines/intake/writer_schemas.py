"""The schemas that producers wrote with, as a record names them: a source of them is handed to the stage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

SchemaKey = int | str
"""What a record names its schema by: the registry's id, or the GUID of the schema in lower-case hex with hyphens."""

AVRO = "AVRO"
JSON_SCHEMA = "JSON"
PROTOBUF = "PROTOBUF"


@dataclass(frozen=True, slots=True)
class WriterSchema:
    """A schema of a registry: its ``kind``, its text, and the texts that it refers to, each after those it needs."""

    kind: str
    text: str
    references: tuple[str, ...] = ()


class SchemasUnavailable(Exception):  # noqa: N818 - the state of the source
    """The source cannot be asked now: the batch must fail and be tried again, since nothing is wrong with the record.

    The text names the source and the kind of failure, never a credential.
    """

    safe_to_show = True


class SchemaSource(Protocol):
    """Where writer schemas come from."""

    def schema(self, key: SchemaKey) -> WriterSchema | None:
        """Return the schema under ``key``; None where the source has none. Raises SchemasUnavailable."""
