"""A schema registry by its REST interface (Confluent's, which Redpanda, Karapace and Apicurio also speak)."""

from __future__ import annotations

import functools
import os
import stat
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import orjson
import urllib3
from urllib3.util import Retry, Timeout, make_headers, parse_url

from pipelines.intake.writer_schemas import AVRO, SchemaKey, SchemasUnavailable, WriterSchema

TRIES = 5
BACKOFF_SECONDS = 0.25
"""Wait before the second try; it doubles, so that the tries span about four seconds, the restart of a registry node."""

MAX_WAIT_SECONDS = 10
"""Longest wait that a busy registry may ask for: a batch that fails is tried again anyway."""

TIMEOUT = Timeout(connect=5.0, read=15.0)
PASSING_STATES = frozenset({429, 500, 502, 503, 504})

UNKNOWN_SECONDS = 60.0
"""How long a schema counts as unknown before it is asked for again: a producer may be ahead of a follower node."""

MAX_UNKNOWN = 10_000
MAX_REFERENCES = 1_000

_ACCEPT = "application/vnd.schemaregistry.v1+json, application/json"
_FOREIGN_ACCESS = stat.S_IRWXG | stat.S_IRWXO


class SchemaRegistryConfigError(ValueError):
    """The address or the credentials of the registry cannot be used; the message never quotes a credential."""

    safe_to_show = True
    exit_code = 2


class _NotThereError(Exception):
    """The registry says that it does not hold what was asked for."""


@dataclass(frozen=True)
class SchemaRegistry:
    """Gives schemas by id or GUID; what was found is kept for the life of the process, since schemas never change.

    ``auth`` is a file of mode 0600 that holds ``user:password``, ``ca`` a file of certificates to trust instead of the
    system's. Pickles as these three; credentials are read where they are used. Raises SchemaRegistryConfigError.
    """

    url: str
    auth: Path | None = None
    ca: Path | None = None

    def __post_init__(self) -> None:
        try:
            address = parse_url(self.url)
        except urllib3.exceptions.LocationParseError:
            address = None
        if address is None or address.scheme not in ("http", "https") or not address.host:
            raise SchemaRegistryConfigError("the schema registry must be an http or https address")
        if address.auth:
            raise SchemaRegistryConfigError("the address of the schema registry must not hold credentials: name a file")

    def check(self) -> SchemaRegistry:
        """Read the credentials and certificates and return self; asks nothing of the registry."""
        _client(self)
        return self

    def schema(self, key: SchemaKey) -> WriterSchema | None:
        """Return the schema with its references; None when the registry answers that it has none.

        Raises SchemasUnavailable when it does not answer in time, refuses the credentials, or answers as no registry
        does: a record must not be given up for that.
        """
        unknown_since = _UNKNOWN.get((self, key))
        if unknown_since is not None and time.monotonic() - unknown_since < UNKNOWN_SECONDS:
            return None
        try:
            return _known(self, key)
        except _NotThereError:
            if len(_UNKNOWN) >= MAX_UNKNOWN:
                _UNKNOWN.clear()
            _UNKNOWN[self, key] = time.monotonic()
            return None


_UNKNOWN: dict[tuple[SchemaRegistry, SchemaKey], float] = {}


@functools.lru_cache(maxsize=4096)
def _known(registry: SchemaRegistry, key: SchemaKey) -> WriterSchema:
    answer = _answer(registry, f"schemas/ids/{key}" if isinstance(key, int) else f"schemas/guids/{quote(key, '')}")
    references: dict[tuple[str, int], str] = {}
    _collect(registry, answer, references, frozenset())
    return WriterSchema(answer.get("schemaType") or AVRO, _text(registry, answer), tuple(references.values()))


def _collect(
    registry: SchemaRegistry,
    answer: dict[str, Any],
    found: dict[tuple[str, int], str],
    above: frozenset[tuple[str, int]],
) -> None:
    """Add the texts that a schema refers to, each after those that it needs itself."""
    for reference in answer.get("references") or ():
        try:
            at = str(reference["subject"]), int(reference["version"])
        except (KeyError, TypeError, ValueError):
            raise _odd(registry, "a reference without subject and version") from None
        if at in found or at in above:
            continue
        if len(found) + len(above) >= MAX_REFERENCES:
            raise _odd(registry, f"a schema with more than {MAX_REFERENCES} references")
        # A subject that was deleted still explains the records that were written before.
        inner = _answer(registry, f"subjects/{quote(at[0], '')}/versions/{at[1]}?deleted=true")
        _collect(registry, inner, found, above | {at})
        found[at] = _text(registry, inner)


def _text(registry: SchemaRegistry, answer: dict[str, Any]) -> str:
    text = answer.get("schema")
    if not isinstance(text, str):
        raise _odd(registry, "an answer without a schema")
    return text


def _answer(registry: SchemaRegistry, path: str) -> dict[str, Any]:
    """Return the JSON object that the registry answers with."""
    client, headers = _client(registry)
    try:
        response = client.request("GET", f"{registry.url.rstrip('/')}/{path}", headers=headers, redirect=False)
    except urllib3.exceptions.HTTPError as failure:
        # The reason of a refused or broken connection is a class of its own; its text may hold the whole request.
        kind = type(getattr(failure, "reason", None) or failure).__name__
        raise SchemasUnavailable(f"the schema registry {_told(registry)} cannot be reached ({kind})") from None
    body = _object(response.data)
    if response.status == 200 and body is not None:  # noqa: PLR2004
        return body
    # A wrong path of the address is answered with 404 too, but not with the registry's own error code.
    if response.status == 404 and body is not None and isinstance(body.get("error_code"), int):  # noqa: PLR2004
        raise _NotThereError
    if response.status in (401, 403):
        raise SchemasUnavailable(f"the schema registry {_told(registry)} refuses the credentials ({response.status})")
    raise _odd(registry, f"status {response.status}")


def _object(data: bytes) -> dict[str, Any] | None:
    try:
        body = orjson.loads(data)
    except orjson.JSONDecodeError:
        return None
    return body if isinstance(body, dict) else None


def _odd(registry: SchemaRegistry, what: str) -> SchemasUnavailable:
    return SchemasUnavailable(f"the schema registry {_told(registry)} answers with {what}")


def _told(registry: SchemaRegistry) -> str:
    address = parse_url(registry.url)
    return f"{address.scheme}://{address.netloc}"


@functools.lru_cache(maxsize=16)
def _client(registry: SchemaRegistry) -> tuple[urllib3.PoolManager, dict[str, str]]:
    """Return the connections of this process, and the headers of each request."""
    retry = Retry(
        TRIES - 1,
        backoff_factor=BACKOFF_SECONDS,
        status_forcelist=PASSING_STATES,
        raise_on_status=False,
        redirect=False,
        retry_after_max=MAX_WAIT_SECONDS,
    )
    headers = {"accept": _ACCEPT}
    if registry.auth is not None:
        headers |= make_headers(basic_auth=_credentials(registry.auth))
    if registry.ca is not None and not registry.ca.is_file():
        raise SchemaRegistryConfigError(f"{registry.ca}: wanted a file of certificates, found none")
    ca = None if registry.ca is None else str(registry.ca)
    return urllib3.PoolManager(retries=retry, timeout=TIMEOUT, ca_certs=ca), headers


def _credentials(path: Path) -> str:
    """Return ``user:password`` of the file, which only its owner may read."""
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            text = file.read(4096).decode().strip()
    except (OSError, UnicodeDecodeError) as failure:
        raise SchemaRegistryConfigError(
            f"{path}: wanted user:password, cannot be read ({type(failure).__name__})"
        ) from None
    if mode & _FOREIGN_ACCESS:
        raise SchemaRegistryConfigError(
            f"{path}: wanted mode 0600, found {stat.S_IMODE(mode):04o}; run chmod 600 on it"
        )
    if ":" not in text or "\n" in text:
        raise SchemaRegistryConfigError(f"{path}: wanted one line user:password, found another form")
    return text
