"""OTLP/JSON export requests -> the spans and log records in them, each a log entry of its own.

Source: opentelemetry-proto, trace.proto and logs.proto in their JSON form; some exporters write the names in snake
case. One request holds what a process did in some seconds, model calls and all else.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pipelines.intake.decode import MAX_ENTRIES, LoggedEntry, Undecodable
from pipelines.intake.formats import matching_formats
from pipelines.intake.items import Entry
from pipelines.intake.shape import wrong_type
from schemas.records import DeadReason

GENAI = "gen_ai."
OF_THE_RESOURCE = ("user.id", "enduser.id", "session.id", "gen_ai.")
"""How the resource attributes begin that a record takes over where it has none of the name: whose talk, and which."""


@dataclass(frozen=True, slots=True)
class _Signal:
    """The names of one kind of envelope, each in camel and snake case; older exporters have other names of scopes."""

    resources: tuple[str, ...]
    scopes: tuple[str, ...]
    records: tuple[str, ...]
    called: str


_SIGNALS = (
    _Signal(
        ("resourceSpans", "resource_spans"),
        ("scopeSpans", "scope_spans", "instrumentationLibrarySpans", "instrumentation_library_spans"),
        ("spans",),
        "spans",
    ),
    _Signal(
        ("resourceLogs", "resource_logs"),
        ("scopeLogs", "scope_logs", "instrumentationLibraryLogs", "instrumentation_library_logs"),
        ("logRecords", "log_records", "logs"),
        "log records",
    ),
)


def expand_envelope(entry: Any, *, to_repair: bool = False) -> list[LoggedEntry] | None:
    """Return the entries of an OTLP/JSON envelope, in logged order; None when ``entry`` is no envelope.

    A span or log record of a model call is an entry of its own, with the attributes of its resource that say whose talk
    it is. All others of the envelope are one more entry at the end, with the failure ``no_genai_attributes``, whose
    value is an envelope of them alone. Scope and further resource attributes are left out of the entries. The list is
    never empty. ``to_repair`` is handed on to each entry.

    Raises BadShape for an envelope whose lists are none, Undecodable: ``too_large`` (too many entries) or
    ``no_messages`` (nothing in the envelope).
    """
    if not isinstance(entry, dict) or not any(name in entry for signal in _SIGNALS for name in signal.resources):
        return None
    sorted_out = _Sorted(to_repair)
    for signal in _SIGNALS:
        for name in signal.resources:
            for resource, record in _records(entry, name, signal):
                sorted_out.add(signal, resource, record)
    return sorted_out.entries()


class _Sorted:
    """The records of an envelope: model calls, and the rest."""

    def __init__(self, to_repair: bool) -> None:
        self.to_repair = to_repair
        self.calls: list[LoggedEntry] = []
        self.rest: dict[str, list[Entry]] = {}
        self.left: list[str] = []

    def add(self, signal: _Signal, resource: Entry, record: Any) -> None:
        if _is_model_call(record):
            self.calls.append(LoggedEntry(_with_resource(record, resource), None, self.to_repair, is_element=True))
            return
        self.left.append(signal.called)
        groups = self.rest.setdefault(signal.resources[0], [])
        if not groups or groups[-1]["resource"] is not resource:
            groups.append({"resource": resource, signal.scopes[0]: [{signal.records[0]: []}]})
        groups[-1][signal.scopes[0]][0][signal.records[0]].append(record)

    def entries(self) -> list[LoggedEntry]:
        total = len(self.calls) + len(self.left)
        if not total:
            raise Undecodable(DeadReason.NO_MESSAGES, "the OTLP envelope holds neither spans nor log records")
        if total > MAX_ENTRIES:
            detail = f"{total} entries in one envelope, at most {MAX_ENTRIES} are read"
            raise Undecodable(DeadReason.TOO_LARGE, detail)
        if not self.left:
            return self.calls
        kinds = " and ".join(sorted(set(self.left), reverse=True))
        detail = f"{len(self.left)} of {total} {kinds} of the envelope have no {GENAI}* attributes"
        failure = Undecodable(DeadReason.NO_GENAI_ATTRIBUTES, detail)
        return [*self.calls, LoggedEntry(self.rest, None, self.to_repair, failure, is_element=True)]


def _records(entry: Entry, name: str, signal: _Signal) -> Iterator[tuple[Entry, Any]]:
    """Yield each record with its resource."""
    for group in _items(entry, (name,)):
        resource = group.get("resource")
        resource = resource if isinstance(resource, dict) else {}
        for scope in _items(group, signal.scopes):
            for record in _items(scope, signal.records, of_objects=False):
                yield resource, record


def _items(holder: Entry, names: tuple[str, ...], *, of_objects: bool = True) -> Iterator[Any]:
    for name in names:
        items = holder.get(name)
        if items is None:
            continue
        if not isinstance(items, list):
            raise wrong_type(name, "a list", items)
        for item in items:
            if of_objects and not isinstance(item, dict):
                raise wrong_type(f"each of {name}", "an object", item)
            yield item


def _is_model_call(record: Any) -> bool:
    """Tell by ``gen_ai.`` in the names of attributes or events, or by any format that knows the record."""
    if not isinstance(record, dict):
        return False
    names = [record.get(key) for key in ("name", "eventName", "event_name")]
    if any(isinstance(name, str) and name.startswith(GENAI) for name in [*names, *_keys(record)]):
        return True
    events = record.get("events")
    for event in events if isinstance(events, list) else ():
        if isinstance(event, dict) and any(key.startswith(GENAI) for key in [*_keys(event), *_named(event)]):
            return True
    return bool(matching_formats(record))


def _named(event: Entry) -> list[str]:
    name = event.get("name")
    return [name] if isinstance(name, str) else []


def _keys(holder: Entry) -> list[str]:
    """Return the names of attributes, an object or OTLP's list of pairs, and the event's name that is one of them."""
    attributes = holder.get("attributes")
    if isinstance(attributes, dict):
        pairs = attributes.items()
        return [*attributes, *(value for key, value in pairs if key == "event.name" and isinstance(value, str))]
    keys: list[str] = []
    for pair in attributes if isinstance(attributes, list) else ():
        if isinstance(pair, dict) and isinstance(key := pair.get("key"), str):
            keys.append(key)
            value = pair.get("value")
            text = value.get("stringValue", value.get("string_value")) if isinstance(value, dict) else None
            if key == "event.name" and isinstance(text, str):
                keys.append(text)
    return keys


def _with_resource(record: Entry, resource: Entry) -> Entry:
    """Return the record with the attributes of its resource that it needs and does not have."""
    inherited = resource.get("attributes")
    if not isinstance(inherited, (list, dict)):
        return record
    wanted = {key for key in _keys({"attributes": inherited}) if key.startswith(OF_THE_RESOURCE)}
    wanted -= set(_keys(record))
    if not wanted:
        return record
    own = record.get("attributes")
    if isinstance(own, dict) and isinstance(inherited, dict):
        return {**record, "attributes": {**{key: inherited[key] for key in wanted if key in inherited}, **own}}
    taken = [
        pair
        for pair in _pairs(inherited)
        if isinstance(pair, dict) and isinstance(key := pair.get("key"), str) and key in wanted
    ]
    return {**record, "attributes": [*_pairs(own), *taken]}


def _pairs(attributes: Any) -> list[Any]:
    """Return attributes as OTLP's pairs; a plain object's values stay plain, which readers take as they are."""
    if isinstance(attributes, dict):
        return [{"key": key, "value": value} for key, value in attributes.items()]
    return attributes if isinstance(attributes, list) else []
