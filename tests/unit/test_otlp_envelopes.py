"""An OTLP envelope gives its model calls as entries and one more for all the rest: no span is lost in silence."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.intake.decode import MAX_ENTRIES, Undecodable
from pipelines.intake.otlp_envelopes import expand_envelope
from pipelines.intake.readers import otel_genai
from pipelines.intake.shape import BadShape
from schemas.records import DeadReason


def pair(key, text):
    return {"key": key, "value": {"stringValue": text}}


def call(number=1, *more):
    messages = json.dumps([{"role": "user", "parts": [{"type": "text", "content": f"question {number}"}]}])
    return {
        "spanId": f"{number:016x}",
        "name": "chat m",
        "attributes": [pair("gen_ai.input.messages", messages), *more],
    }


QUERY = {"spanId": "00000000000000aa", "name": "SELECT", "attributes": [pair("db.system", "postgresql")]}


def envelope(*spans, resource=None):
    return {"resourceSpans": [{"resource": {"attributes": resource or []}, "scopeSpans": [{"spans": list(spans)}]}]}


def values(entry):
    return [logged.value for logged in expand_envelope(entry) if logged.failure is None]


def rejections(entry):
    return [logged for logged in expand_envelope(entry) if logged.failure is not None]


@pytest.mark.parametrize("entry", [{}, {"messages": []}, {"attributes": {"gen_ai.x": 1}}, [], None, "resourceSpans", 7])
def test_what_is_no_envelope_is_left_alone(entry):
    assert expand_envelope(entry) is None


def test_each_model_call_of_all_resources_and_scopes_is_an_entry_in_order():
    entry = envelope(call(1), call(2))
    entry["resourceSpans"][0]["scopeSpans"].append({"scope": {"name": "lib"}, "spans": [call(3)]})
    entry["resourceSpans"].append({"scopeSpans": [{"spans": [call(4)]}]})
    assert values(entry) == [call(1), call(2), call(3), call(4)]
    assert rejections(entry) == []
    texts = [otel_genai.read(value).messages[0].text for value in values(entry)]
    assert texts == ["question 1", "question 2", "question 3", "question 4"]


def test_all_that_is_no_model_call_is_one_rejection_that_holds_it():
    entry = envelope(call(1), QUERY, call(2), QUERY, resource=[pair("service.name", "shop")])
    (rejection,) = rejections(entry)
    assert rejection.failure.reason == DeadReason.NO_GENAI_ATTRIBUTES
    assert rejection.failure.detail == "2 of 4 spans of the envelope have no gen_ai.* attributes"
    assert rejection.value == envelope(QUERY, QUERY, resource=[pair("service.name", "shop")])
    assert rejection.is_element
    assert values(entry) == [call(1), call(2)]
    assert expand_envelope(entry)[-1].failure is not None


def test_the_rejected_rest_of_an_envelope_is_again_an_envelope():
    (rejection,) = rejections(envelope(QUERY, call(1)))
    (again,) = rejections(rejection.value)
    assert again.value == rejection.value


@pytest.mark.parametrize(
    ("resources", "scopes", "records"),
    [
        ("resourceLogs", "scopeLogs", "logRecords"),
        ("resource_logs", "scope_logs", "log_records"),
        ("resource_spans", "scope_spans", "spans"),
        ("resourceSpans", "instrumentationLibrarySpans", "spans"),
    ],
)
def test_logs_spans_and_both_spellings_are_read(resources, scopes, records):
    assert values({resources: [{scopes: [{records: [call(1)]}]}]}) == [call(1)]


@pytest.mark.parametrize(
    "record",
    [
        {"eventName": "gen_ai.user.message", "body": {"stringValue": "hi"}},
        {"event_name": "gen_ai.choice"},
        {"attributes": [pair("event.name", "gen_ai.user.message")]},
        {"attributes": {"event.name": "gen_ai.user.message"}},
        {"name": "chat", "events": [{"name": "gen_ai.evaluation.result"}]},
        {"name": "chat", "events": [{"name": "x", "attributes": [pair("gen_ai.prompt", "hi")]}]},
        {"attributes": {"gen_ai.input.messages": []}},
    ],
)
def test_a_model_call_is_told_by_attributes_event_names_or_events(record):
    assert values({"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]}) == [record]


def attributes(entry):
    (value,) = values(entry)
    return {one["key"]: one["value"].get("stringValue") for one in value["attributes"]}


def test_the_resource_gives_only_what_says_whose_talk_it_is():
    resource = [pair("service.name", "shop"), pair("enduser.id", "u-1"), pair("gen_ai.conversation.id", "c-1")]
    found = attributes(envelope(call(1), resource=resource))
    assert set(found) == {"gen_ai.input.messages", "enduser.id", "gen_ai.conversation.id"}
    assert found["enduser.id"] == "u-1"


def test_the_own_attribute_of_a_span_wins_over_its_resource():
    found = attributes(envelope(call(1, pair("user.id", "own")), resource=[pair("user.id", "of the resource")]))
    assert found["user.id"] == "own"


def test_odd_attributes_of_a_resource_are_passed_over():
    odd = [None, 7, {"key": {}}, {"key": None}, {"value": 1}]
    assert set(attributes(envelope(call(1), resource=[*odd, pair("user.id", "u-1")]))) == {
        "gen_ai.input.messages",
        "user.id",
    }


def test_plain_objects_and_pairs_may_be_mixed():
    plain = {"attributes": {"gen_ai.x": 1}}
    assert values(envelope(plain, resource={"user.id": "u-1", "host": "h"})) == [
        {"attributes": {"user.id": "u-1", "gen_ai.x": 1}}
    ]
    (value,) = values(envelope(plain, resource=[pair("user.id", "u-1")]))
    assert value["attributes"] == [{"key": "gen_ai.x", "value": 1}, pair("user.id", "u-1")]


@pytest.mark.parametrize("record", [None, 7, "span", [], {"attributes": 7}, {"attributes": [1]}, {"events": [None]}])
def test_a_span_of_another_shape_is_in_the_rejection_and_its_neighbours_stay(record):
    entry = envelope(record, call(1))
    assert values(entry) == [call(1)]
    assert rejections(entry)[0].value["resourceSpans"][0]["scopeSpans"][0]["spans"] == [record]


@pytest.mark.parametrize(
    "entry",
    [
        {"resourceSpans": {}},
        {"resourceSpans": [7]},
        {"resourceSpans": [{"scopeSpans": {}}]},
        {"resourceSpans": [{"scopeSpans": [{"spans": {}}]}]},
    ],
)
def test_an_envelope_whose_lists_are_none_is_refused(entry):
    with pytest.raises(BadShape):
        expand_envelope(entry)


@pytest.mark.parametrize(
    "entry", [{"resourceSpans": []}, {"resource_logs": None}, {"resourceLogs": [{"scopeLogs": []}]}]
)
def test_an_empty_envelope_is_told(entry):
    with pytest.raises(Undecodable) as refused:
        expand_envelope(entry)
    assert refused.value.reason == DeadReason.NO_MESSAGES


def test_an_envelope_of_countless_spans_is_refused():
    with pytest.raises(Undecodable) as refused:
        expand_envelope(envelope(*[{}] * (MAX_ENTRIES + 1)))
    assert refused.value.reason == DeadReason.TOO_LARGE


def test_the_mark_of_strings_to_repair_is_handed_on():
    assert all(logged.to_repair for logged in expand_envelope(envelope(call(1), QUERY), to_repair=True))


anything = st.recursive(
    st.none() | st.integers() | st.sampled_from(["gen_ai.x", "user.id", "spans"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["resourceSpans", "scopeSpans", "spans", "resource_logs", "scope_logs", "log_records", "resource"]
                + ["attributes", "key", "value", "events", "name", "gen_ai.x"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(anything)
def test_any_json_is_expanded_left_or_refused_with_a_reason(entry):
    try:
        found = expand_envelope(entry)
    except (BadShape, Undecodable):
        return
    assert found is None or len(found) > 0


@given(st.lists(st.booleans(), min_size=1, max_size=20))
def test_every_span_is_in_exactly_one_place(calls):
    entry = envelope(*(call(i) if is_call else {**QUERY, "spanId": f"{i:016x}"} for i, is_call in enumerate(calls)))
    kept = [value["spanId"] for value in values(entry)]
    rest = [
        span["spanId"] for one in rejections(entry) for span in one.value["resourceSpans"][0]["scopeSpans"][0]["spans"]
    ]
    assert sorted(kept + rest) == [f"{i:016x}" for i in range(len(calls))]
    assert len(rejections(entry)) == (not all(calls))
