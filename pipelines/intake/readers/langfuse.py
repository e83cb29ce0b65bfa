"""Langfuse: a trace with its observations and scores, an observation by itself, or a score that comes late.

Source: langfuse, fern/apis/server/definition/commons.yml, and the field reference of its storage exports. Model turns
come from GENERATION observations; a trace without any has its own input and output.
"""

from __future__ import annotations

import datetime as dt
from typing import Any

from pipelines.intake.items import Entry, Rating, Talk
from pipelines.intake.prefix_tree import PrefixTree
from pipelines.intake.readers.call_facts import CallFacts
from pipelines.intake.readers.langfuse_keys import field, id_of, key_of, text_of, time_of
from pipelines.intake.readers.langfuse_scores import DATA_TYPES, read_score, response_id_of
from pipelines.intake.readers.traced_call import read_traced_call
from pipelines.intake.shape import BadShape, objects, optional_list
from schemas.records import DeadReason

NAME = "langfuse"
VERSION = 1
TELLS = frozenset({"observations", "traceId", "trace_id", "dataType", "data_type"})
EXCLUDES: frozenset[str] = frozenset()

MODEL_CALL = "GENERATION"
OBSERVATION_TYPES = frozenset(
    {
        MODEL_CALL,
        "SPAN",
        "EVENT",
        "AGENT",
        "TOOL",
        "CHAIN",
        "RETRIEVER",
        "EVALUATOR",
        "EMBEDDING",
        "GUARDRAIL",
    }
)
LAST = dt.datetime.max.replace(tzinfo=dt.UTC)


def matches(entry: Entry) -> bool:
    """Tell a trace by its ``observations``, an observation by trace and type, a score by trace and data type."""
    return _is_trace(entry) or _is_observation(entry) or _is_score(entry)


def read(entry: Entry) -> Talk:
    """Read all model calls as one tree, and the scores. Raises BadShape for a field of another type.

    The talk is the session, without one the trace. Calls come in the order of their start, equal ones parent first,
    then as logged.
    """
    if _is_trace(entry):
        return _read_trace(entry)
    if _is_score(entry):
        rating = read_score(entry)
        rating.response_id = response_id_of(entry)
        return Talk([], _conversation_id(entry), id_of(entry, "userId"), ratings=[rating])
    if text_of(entry, "type") != MODEL_CALL:
        raise BadShape(f"an observation holds model turns only as {MODEL_CALL}", DeadReason.NO_MESSAGES)
    talk = _read_generation(entry)
    talk.conversation_id = _conversation_id(entry) or talk.conversation_id
    talk.user_id = id_of(entry, "userId") or talk.user_id
    return talk


def in_order(observations: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return observations by start time; equal times by the parent link, then as logged."""
    parents = {id_of(item, "id"): id_of(item, "parentObservationId") for item in observations}
    depths = _depths(parents)
    return sorted(observations, key=lambda item: (time_of(item, "startTime") or LAST, depths[id_of(item, "id")]))


def _depths(parents: dict[str | None, str | None]) -> dict[str | None, int]:
    """Return how many parents each id has. A loop ends where it closes: its members have some depth, no order."""
    depths: dict[str | None, int] = {}
    for item in parents:
        path: list[str | None] = []
        walked: set[str | None] = set()
        while item in parents and item not in depths and item not in walked:
            path.append(item)
            walked.add(item)
            item = parents[item]  # noqa: PLW2901 - the walk goes up from each id
        depth = depths.get(item, -1)
        for below in reversed(path):
            depth += 1
            depths[below] = depth
    return depths


def _is_trace(entry: Entry) -> bool:
    return isinstance(entry.get("observations"), list)


def _is_observation(entry: Entry) -> bool:
    kind = entry.get("type")
    if not isinstance(kind, str) or kind not in OBSERVATION_TYPES:
        return False
    return field(entry, "traceId") is not None and key_of(entry, "startTime") in entry


def _is_score(entry: Entry) -> bool:
    if field(entry, "dataType") not in DATA_TYPES or "name" not in entry:
        return False
    return any(field(entry, name) is not None for name in ("traceId", "observationId", "sessionId"))


def _conversation_id(record: dict[str, Any]) -> str | None:
    return id_of(record, "sessionId") or id_of(record, "traceId")


def _read_trace(entry: Entry) -> Talk:
    """Read a trace; downloads keep its own fields under ``trace``, lists of traces hold ids for observations."""
    inner = entry.get("trace")
    trace = inner if isinstance(inner, dict) else entry
    observations = _records(entry, "observations")
    generations = [item for item in in_order(observations) if text_of(item, "type") == MODEL_CALL]
    tree = PrefixTree()
    reply_of: dict[str | None, int] = {}
    talk = Talk(tree.messages, id_of(trace, "sessionId") or id_of(trace, "id"), id_of(trace, "userId"))
    for generation in generations:
        call = _read_generation(generation)
        places = tree.add(call.messages)
        talk.user_id = talk.user_id or call.user_id
        if places and call.messages[-1].role == "assistant" and generation.get("output") is not None:
            reply_of[id_of(generation, "id")] = places[-1]
    if not generations:
        _read_own_call(trace, tree, reply_of)
    roots = {id_of(item, "id") for item in observations if id_of(item, "parentObservationId") is None}
    for score in _records(entry, "scores") or (_records(trace, "scores") if trace is not entry else []):
        talk.ratings.append(_targeted(score, reply_of, roots))
    return talk


def _records(source: dict[str, Any], key: str) -> list[dict[str, Any]]:
    """Return the objects of a list; a list of traces has ids in their place, which say nothing."""
    if all(isinstance(item, str) for item in optional_list(source, key)):
        return []
    return objects(source, key)


def _read_own_call(trace: dict[str, Any], tree: PrefixTree, reply_of: dict[str | None, int]) -> None:
    call_input, call_output = trace.get("input"), trace.get("output")
    if call_input is None and call_output is None:
        return
    call = read_traced_call(call_input, call_output)
    facts = CallFacts(time_of(trace, "timestamp"), response_id=id_of(trace, "id"))
    replies = facts.add_to(call, call_output is not None)
    places = tree.add(call.messages)
    if replies:
        reply_of[None] = places[-1]


def _read_generation(generation: dict[str, Any]) -> Talk:
    call_input, call_output = generation.get("input"), generation.get("output")
    if call_input is None and call_output is None:
        return Talk([])
    call = read_traced_call(call_input, call_output)
    facts = CallFacts(
        time_of(generation, "startTime"),
        time_of(generation, "endTime"),
        text_of(generation, "model") or text_of(generation, "providedModelName"),
        id_of(generation, "id"),
    )
    facts.add_to(call, call_output is not None)
    return call


def _targeted(score: dict[str, Any], reply_of: dict[str | None, int], roots: set[str | None]) -> Rating:
    """Read a score of the trace. One of a root observation judges the whole call, as one of the trace does."""
    rating = read_score(score)
    judged = response_id_of(score)
    if judged in reply_of:
        rating.target = reply_of[judged]
    elif judged is None or judged in roots:
        rating.target = list(reply_of.values())[-1] if reply_of else None
    else:
        rating.response_id = judged
    return rating
