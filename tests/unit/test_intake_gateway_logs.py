"""Logs of gateways and tracing tools: whose talk, which reply, what feedback, and a typed outcome for any oddity."""

import datetime as dt
import json
from pathlib import Path

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.intake.formats import FORMATS, matching_formats
from pipelines.intake.identity import IdentityKey
from pipelines.intake.items import Feedback, Message, Rejection, ToolCall, Turn
from pipelines.intake.parse import parse_record
from pipelines.intake.prefix_tree import PrefixTree
from pipelines.intake.readers.exchange import read_exchange
from pipelines.intake.readers.langfuse import in_order
from pipelines.intake.roles import chain
from pipelines.intake.shape import BadShape

KEY = IdentityKey(bytes(range(32)))


def said(role, content):
    return {"role": role, "content": content}


ASKED = {"model": "m", "messages": [said("user", "hi")]}
ANSWERED = {"id": "chatcmpl-1", "choices": [{"index": 0, "message": said("assistant", "yo"), "finish_reason": "stop"}]}
CLAUDE = {"id": "msg_1", "type": "message", "content": [{"type": "text", "text": "yo"}], "stop_reason": "end_turn"}

READ_HERE = {"litellm", "langfuse", "helicone", "databricks_inference", "mlflow_trace"}
LINES = Path(__file__).with_name("log_examples.jsonl").read_bytes().split(b"\n")
ROWS = [row for row in map(orjson.loads, filter(None, LINES)) if row["format"] in READ_HERE]
SAMPLES = {f"{row['format']} {row['dialect']}".strip(): row["entry"] for row in ROWS}
LITELLM, LANGFUSE, SCORE = SAMPLES["litellm"], SAMPLES["langfuse"], SAMPLES["langfuse score"]
HELICONE, DATABRICKS, MLFLOW = SAMPLES["helicone"], SAMPLES["databricks_inference"], SAMPLES["mlflow_trace"]
GENERATION = LANGFUSE["observations"][0]


def items_of(entry):
    return parse_record(orjson.dumps(entry), {}, KEY)


def turns_of(entry):
    items = items_of(entry)
    assert not [item for item in items if isinstance(item, Rejection)], items
    return [item for item in items if isinstance(item, Turn)]


def ratings_of(entry):
    return [item for item in items_of(entry) if isinstance(item, Feedback)]


def refusal_of(entry):
    (item,) = items_of(entry)
    assert isinstance(item, Rejection), item
    return item


def texts_of(entry):
    return [turn.message.text for turn in turns_of(entry)]


def plain_ids(*texts):
    """Return the turn ids of a talk between user and assistant in session s1 of user u1."""
    messages = [said(("user", "assistant")[number % 2], text) for number, text in enumerate(texts)]
    headers = {"turnmill-conversation": b"s1", "turnmill-user": b"u1"}
    return [turn.turn_id for turn in parse_record(orjson.dumps({"messages": messages}), headers, KEY)]


@pytest.mark.parametrize("name", SAMPLES)
def test_exactly_one_format_matches_each_sample(name):
    assert [log_format.NAME for log_format in FORMATS if log_format.matches(SAMPLES[name])] == [name.split()[0]]
    assert [log_format.NAME for log_format in matching_formats(SAMPLES[name])] == [name.split()[0]]


@pytest.mark.parametrize("name", ["langfuse", "helicone", "databricks_inference", "mlflow_trace"])
def test_the_same_talk_has_the_same_turns_whoever_logged_it(name):
    reply = "Hi" if name == "langfuse" else "yo"
    assert [turn.turn_id for turn in turns_of(SAMPLES[name])] == plain_ids("hi", reply)


def paths_of(value, path=()):
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, below in inner:
        yield from paths_of(below, (*path, key))


def replaced(value, path, new):
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = replaced(copy[path[0]], path[1:], new)
    return copy


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(sorted(SAMPLES)), st.data())
def test_any_field_may_hold_any_json_and_the_outcome_is_typed(name, data):
    sample = SAMPLES[name]
    path = data.draw(st.sampled_from([path for path in paths_of(sample) if path]))
    items = items_of(replaced(sample, path, data.draw(json_values)))
    assert items
    assert not [item for item in items if isinstance(item, Rejection) and item.reason == "internal_error"], items


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("odd", [None, True, 7, "words", "{broken", [], [7], {}, {"a": {}}])
def test_every_single_field_may_be_odd(name, odd):
    sample = SAMPLES[name]
    for path in paths_of(sample):
        if path:
            reasons = {item.reason for item in items_of(replaced(sample, path, odd)) if isinstance(item, Rejection)}
            assert "internal_error" not in reasons, path


@pytest.mark.parametrize("name", SAMPLES)
def test_refusals_never_repeat_the_log(name):
    for path in paths_of(SAMPLES[name]):
        for item in items_of(replaced(SAMPLES[name], path, "Ada of Oslo")) if path else ():
            if isinstance(item, Rejection):
                assert "Ada" not in item.detail


# Exchanges


def test_bodies_may_be_json_text_and_either_may_be_absent():
    talk = read_exchange(json.dumps(ASKED), json.dumps(ANSWERED))
    assert [message.text for message in talk.messages] == ["hi", "yo"]
    assert [message.text for message in read_exchange(ASKED, None).messages] == ["hi"]
    assert [message.text for message in read_exchange(None, CLAUDE).messages] == ["yo"]


def test_the_body_tells_the_api_of_the_request():
    request = {**ASKED, "system": "Be brief", "max_tokens": 9, "metadata": {"user_id": "u7"}}
    talk = read_exchange(request, CLAUDE)
    assert [message.role for message in talk.messages] == ["system", "user", "assistant"]
    assert talk.user_id == "u7"


def test_a_request_of_one_api_may_get_an_answer_of_another():
    call = {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "cat"}
    request = {"messages": [said("user", "?"), said("assistant", [call]), said("user", [result])]}
    messages = read_exchange(request, ANSWERED).messages
    assert [message.role for message in messages] == ["user", "assistant", "tool", "assistant"]
    assert messages[1].tool_calls[0].name == "look"
    assert messages[3].parent == 2


def test_a_text_completion_is_read():
    response = {"id": "cmpl-1", "object": "text_completion", "choices": [{"text": "yo", "finish_reason": "stop"}]}
    messages = read_exchange({"model": "m", "prompt": "hi"}, response).messages
    assert [(message.role, message.text) for message in messages] == [("user", "hi"), ("assistant", "yo")]


def test_an_agents_answer_goes_on_where_the_request_ended_or_repeats_it():
    steps = [said("assistant", "let me see"), said("assistant", "yo")]
    on = read_exchange(ASKED, {"messages": steps}).messages
    again = read_exchange(ASKED, {"messages": [*ASKED["messages"], *steps]}).messages
    assert [(message.text, message.parent) for message in on] == [("hi", -1), ("let me see", 0), ("yo", 1)]
    assert on == again


@pytest.mark.parametrize(
    ("request_body", "response_body", "reason"),
    [
        (None, None, "no_messages"),
        ("", " ", "no_messages"),
        ({"weights": [1]}, None, "bad_shape"),
        ("{cut", None, "bad_shape"),
        (7, None, "bad_shape"),
        (ASKED, 7, "bad_shape"),
        (ASKED, {"weights": [1]}, "bad_shape"),
        (ASKED, "plain words", "bad_shape"),
    ],
)
def test_bodies_of_no_chat_api_are_refused(request_body, response_body, reason):
    with pytest.raises(BadShape) as refused:
        read_exchange(request_body, response_body)
    assert refused.value.reason == reason


# Shared prefixes


@st.composite
def chains(draw):
    speakers = st.sampled_from(["user", "assistant", "system"])
    return [Message(draw(speakers), draw(st.sampled_from("ab"))) for _ in range(draw(st.integers(0, 5)))]


@given(st.lists(chains(), max_size=4))
def test_a_prefix_tree_keeps_every_branch_and_doubles_no_prefix(branches):
    tree = PrefixTree()
    for branch in branches:
        wanted = [(message.role, message.text) for message in branch]
        places = tree.add(chain(branch))
        assert [(tree.messages[place].role, tree.messages[place].text) for place in places] == wanted
    spoken = [(m.parent, m.role, m.text) for m in tree.messages if m.role != "system"]
    assert len(set(spoken)) == len(spoken)
    assert all(message.parent < place for place, message in enumerate(tree.messages))


def test_tool_calls_with_equal_json_are_one_message():
    tree = PrefixTree()
    for arguments in ('{"x":1}', '{ "x": 1 }', '{"x":2}'):
        tree.add([Message("assistant", tool_calls=[ToolCall("c", "look", arguments)])])
    assert len(tree.messages) == 2


def test_a_system_message_stands_before_the_messages_that_it_rules():
    tree = PrefixTree()
    for system, text in (("A", "1"), ("B", "2"), ("A", "3"), ("A", "4")):
        tree.add(chain([Message("system", system), Message("user", text)]))
    assert [message.text for message in tree.messages] == ["A", "1", "B", "2", "A", "3", "4"]


# LiteLLM


def test_litellm_gives_session_end_user_model_and_times():
    asked, answered = turns_of(LITELLM)
    assert asked.conversation_ref == KEY.conversation_ref("default", "s")
    assert asked.user_id == "u1"
    assert asked.message.created_at == dt.datetime(1970, 1, 1, 0, 0, 1, tzinfo=dt.UTC)
    assert answered.message.created_at == dt.datetime(1970, 1, 1, 0, 0, 2, tzinfo=dt.UTC)
    assert (answered.message.model, answered.message.response_id) == ("m", "chatcmpl-1")
    assert answered.message.flags == []


def test_a_cache_hit_is_flagged_on_the_reply_alone():
    asked, answered = turns_of({**LITELLM, "cache_hit": True})
    assert (asked.message.flags, answered.message.flags) == ([], ["cache_hit"])


def test_a_failed_call_keeps_its_history_alone():
    assert texts_of({**LITELLM, "status": "failure", "response": {"error": {"code": 500}}}) == ["hi"]


def test_redacted_text_is_no_content():
    history = {**LITELLM, "messages": "redacted-by-litellm"}
    (answered,) = turns_of(history)
    assert (answered.message.text, answered.message.flags) == ("yo", ["upstream_redacted"])
    for response in ("redacted-by-litellm", {"text": "redacted-by-litellm"}, None):
        assert texts_of({**LITELLM, "response": response}) == ["hi"]
    choice = {"message": said("assistant", "redacted-by-litellm")}
    nothing = {**history, "messages": [said("user", "redacted-by-litellm")], "response": {"choices": [choice]}}
    assert refusal_of(nothing).reason == "no_messages"
    assert "redacted" in refusal_of(nothing).detail
    assert refusal_of({**history, "response": "redacted-by-litellm"}).reason == "no_messages"


def test_a_redacted_message_in_the_middle_leaves_a_flag_on_the_next():
    messages = [said("user", "a"), said("assistant", "redacted-by-litellm"), said("user", "c")]
    turns = turns_of({**LITELLM, "messages": messages})
    assert [(turn.message.text, turn.message.flags) for turn in turns] == [
        ("a", []),
        ("c", ["upstream_redacted"]),
        ("yo", []),
    ]
    assert turns[1].parent_id == turns[0].turn_id


def test_the_calls_of_a_redacted_answer_stay():
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    choice = {"message": {**said("assistant", "redacted-by-litellm"), "tool_calls": [call]}, "finish_reason": "stop"}
    answered = turns_of({**LITELLM, "response": {"choices": [choice]}})[1].message
    assert (answered.text, answered.tool_calls[0].name, answered.flags) == ("", "look", ["upstream_redacted"])


def test_the_prompt_of_a_text_completion_is_no_redaction():
    assert texts_of({**LITELLM, "call_type": "atext_completion", "messages": "Once upon", "response": None}) == [
        "Once upon"
    ]


def test_a_litellm_call_without_talk_says_so():
    entry = {**LITELLM, "call_type": "aembedding", "messages": ["a", "b"], "response": {"data": []}}
    assert refusal_of(entry).reason == "no_messages"


@pytest.mark.parametrize(
    ("metadata", "session"),
    [
        ({"requester_metadata": {"litellm_session_id": "s2"}}, "s2"),
        ({"session_id": "s3"}, "s3"),
        ({"requester_metadata": None}, None),
        (None, None),
    ],
)
def test_litellm_sessions_come_from_what_the_caller_sent(metadata, session):
    expected = None if session is None else KEY.conversation_ref("default", session)
    assert turns_of({**LITELLM, "metadata": metadata})[0].conversation_ref == expected


def test_base64_that_litellm_left_out_is_missing_media():
    url = "data:image/png;base64,[base64_data truncated: 12.00KB]"
    messages = [said("user", [{"type": "image_url", "image_url": {"url": url}}])]
    assert turns_of({**LITELLM, "messages": messages})[0].message.flags == ["media_missing"]


def test_concatenated_tool_arguments_stay_raw():
    call = {"id": "a", "type": "function", "function": {"name": "q", "arguments": '{"x":1}{"x":2}'}}
    choice = {"message": {**said("assistant", None), "tool_calls": [call]}, "finish_reason": "tool_calls"}
    answered = turns_of({**LITELLM, "response": {"choices": [choice]}})[1].message
    assert answered.tool_calls[0].arguments == '{"x":1}{"x":2}'
    assert answered.flags == ["tool_args_invalid_json"]


# Langfuse


def generation(name, start, asked, answered, **more):
    return {**GENERATION, "id": name, "startTime": start, "input": asked, "output": answered, **more}


def test_a_langfuse_trace_gives_session_user_times_and_the_thumb():
    asked, answered = turns_of(LANGFUSE)
    assert asked.conversation_ref == KEY.conversation_ref("default", "s1")
    assert asked.user_id == "u1"
    assert asked.message.created_at == dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    assert answered.message.created_at == dt.datetime(2026, 1, 1, 0, 0, 2, tzinfo=dt.UTC)
    assert (answered.message.model, answered.message.response_id) == ("m", "ob1")
    (thumb,) = ratings_of(LANGFUSE)
    assert (thumb.rating.kind, thumb.rating.value, thumb.target_turn_id) == ("thumb", 1.0, answered.turn_id)
    assert thumb.rating.created_at == dt.datetime(2026, 1, 1, 0, 1, tzinfo=dt.UTC)


def test_the_growing_history_of_a_trace_is_one_talk():
    second = [said("user", "hi"), said("assistant", "Hi"), said("user", "more")]
    observations = [
        generation("b", "2026-01-01T00:00:09Z", second, "Well"),
        generation("a", "2026-01-01T00:00:01Z", second[:1], "Hi"),
    ]
    turns = turns_of({**LANGFUSE, "observations": observations, "scores": []})
    assert [turn.turn_id for turn in turns] == plain_ids("hi", "Hi", "more", "Well")
    assert [turn.message.response_id for turn in turns] == [None, "a", None, "b"]


def test_calls_of_a_trace_that_share_nothing_are_branches():
    observations = [
        generation("a", "2026-01-01T00:00:01Z", "hi", "Hi"),
        generation("b", "2026-01-01T00:00:02Z", "Name this talk", "Greeting"),
    ]
    turns = turns_of({**LANGFUSE, "observations": observations, "scores": []})
    assert [turn.message.text for turn in turns] == ["hi", "Hi", "Name this talk", "Greeting"]
    assert turns[2].parent_id == turns[2].root_id


def test_equal_times_follow_the_parent_link_then_the_log():
    same = "2025-01-15T10:00:00.000Z"
    child = {"id": "b", "startTime": same, "parentObservationId": "a"}
    parent = {"id": "a", "startTime": same, "parentObservationId": None}
    later = {"id": "c", "startTime": "2025-01-15T10:00:01Z"}
    assert [item["id"] for item in in_order([later, child, parent])] == ["a", "b", "c"]
    assert [item["id"] for item in in_order([{"id": "y"}, {"id": "x"}, child, parent])] == ["a", "b", "y", "x"]


@given(st.dictionaries(st.sampled_from("abcde"), st.none() | st.sampled_from("abcdef")))
def test_any_parent_links_give_an_order_of_all_observations(parents):
    observations = [{"id": name, "parentObservationId": parent} for name, parent in parents.items()]
    assert sorted(item["id"] for item in in_order(observations)) == sorted(parents)


@pytest.mark.parametrize(
    "asked",
    [
        "hi",
        [said("user", "hi")],
        [[said("user", "hi")]],
        {"messages": [said("user", "hi")], "model": "m"},
        {"messages": [[{"type": "human", "content": "hi"}]]},
        said("user", "hi"),
        {"input": "hi"},
        {"question": "hi", "k": 4},
        [{"type": "human", "content": "hi"}],
        [{"type": "human", "data": {"content": "hi"}}],
        [{"lc": 1, "type": "constructor", "id": ["langchain", "schema", "HumanMessage"], "kwargs": {"content": "hi"}}],
        json.dumps([said("user", "hi")]),
        json.dumps({"messages": [said("user", "hi")]}),
    ],
    ids=str,
)
def test_langfuse_input_is_read_in_every_form(asked):
    assert texts_of({**GENERATION, "input": asked, "output": None}) == ["hi"]


@pytest.mark.parametrize(
    "answered",
    [
        "yo",
        said("assistant", "yo"),
        [said("assistant", "yo")],
        ["yo"],
        {"content": "yo"},
        {"output": "yo"},
        ANSWERED,
        CLAUDE,
        [{"type": "text", "text": "yo"}],
        {"content": [{"type": "text", "text": "yo"}]},
        {"type": "ai", "content": "yo"},
        {"lc": 1, "id": ["langchain_core", "messages", "AIMessageChunk"], "kwargs": {"content": "yo"}},
        {"generations": [[{"text": "yo", "message": {"type": "ai", "content": "yo"}}]]},
        json.dumps(said("assistant", "yo")),
        json.dumps(ANSWERED),
    ],
    ids=str,
)
def test_langfuse_output_is_read_in_every_form(answered):
    turns = turns_of({**GENERATION, "input": "hi", "output": answered})
    assert [(turn.message.role, turn.message.text) for turn in turns] == [("user", "hi"), ("assistant", "yo")]


def test_an_answer_in_json_is_the_answer():
    for words in ('{"answer": "4"}', '["a", "b"]', "[1, 2]", "{cut", '"quoted"'):
        assert texts_of({**GENERATION, "input": "hi", "output": words}) == ["hi", words]


def test_langchain_tool_calls_are_tool_calls():
    answered = {"type": "ai", "content": "", "tool_calls": [{"name": "look", "args": {"x": 1}, "id": "c1"}]}
    asked = [{"type": "human", "content": "?"}, answered, {"type": "tool", "content": "cat", "tool_call_id": "c1"}]
    turns = turns_of({**GENERATION, "input": asked, "output": {"type": "ai", "content": "A cat."}})
    assert [turn.message.role for turn in turns] == ["user", "assistant", "tool", "assistant"]
    assert turns[1].message.tool_calls[0] == ToolCall("c1", "look", '{"x":1}')
    assert not any(turn.message.flags for turn in turns)


def test_an_object_with_several_texts_is_refused():
    entry = {**GENERATION, "input": {"question": "a", "text": "b"}, "output": "yo"}
    assert refusal_of(entry).reason == "bad_shape"


def test_a_trace_without_model_calls_has_its_own_input_and_output():
    entry = {**LANGFUSE, "observations": [], "input": "hi"}
    assert [turn.turn_id for turn in turns_of(entry)] == plain_ids("hi", "Hi")
    (thumb,) = ratings_of({**entry, "scores": [{**SCORE, "observationId": None}]})
    assert thumb.target_turn_id == plain_ids("hi", "Hi")[1]


def test_a_downloaded_trace_and_one_of_a_list_are_read():
    trace = {key: value for key, value in LANGFUSE.items() if key != "observations"}
    assert [turn.turn_id for turn in turns_of({"trace": trace, "observations": [GENERATION]})] == plain_ids("hi", "Hi")
    listed = {**LANGFUSE, "input": "hi", "observations": ["ob1"], "scores": ["sc1"]}
    assert [turn.turn_id for turn in turns_of(listed)] == plain_ids("hi", "Hi")


def test_an_exported_row_has_the_same_turns_under_snake_case():
    row = {
        "id": "ob1",
        "trace_id": "tr1",
        "type": "GENERATION",
        "start_time": "2026-01-01 00:00:00.000000",
        "session_id": "s1",
        "user_id": "u1",
        "provided_model_name": "m",
        "input": json.dumps([said("user", "hi")]),
        "output": json.dumps(said("assistant", "Hi")),
    }
    turns = turns_of(row)
    assert [turn.turn_id for turn in turns] == plain_ids("hi", "Hi")
    assert turns[1].message.model == "m"


def test_an_observation_of_another_type_says_that_it_holds_no_turns():
    refused = refusal_of({**GENERATION, "type": "RETRIEVER"})
    assert (refused.reason, "GENERATION" in refused.detail) == ("no_messages", True)


def test_a_late_score_names_the_reply_that_it_judges():
    (late,) = ratings_of(SCORE)
    answered = turns_of(LANGFUSE)[1].message
    assert late.rating.response_id == answered.response_id == "ob1"
    assert late.conversation_ref == KEY.conversation_ref("default", "tr1")
    (whole,) = ratings_of({**SCORE, "traceId": None, "observationId": None, "sessionId": "s1"})
    assert (whole.rating.response_id, whole.target_turn_id) == (None, None)
    assert whole.conversation_ref == KEY.conversation_ref("default", "s1")


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"value": 0, "stringValue": "False"}, ("thumb", -1.0, None, None)),
        ({"name": "thumbs_down"}, ("thumb", -1.0, None, None)),
        ({"source": "ANNOTATION", "comment": "nice"}, ("thumb", 1.0, None, "nice")),
        ({"source": "EVAL"}, ("evaluation", 1.0, "user-feedback", None)),
        ({"name": "is_json"}, ("evaluation", 1.0, "is_json", None)),
        ({"dataType": "NUMERIC", "value": 0.25, "stringValue": None}, ("score", 0.25, "user-feedback", None)),
        (
            {"dataType": "CATEGORICAL", "value": None, "stringValue": "good"},
            ("evaluation", None, "user-feedback", "good"),
        ),
        (
            {"dataType": "CATEGORICAL", "value": "good", "stringValue": None},
            ("evaluation", None, "user-feedback", "good"),
        ),
        ({"dataType": "CORRECTION", "value": 0, "stringValue": "Hey"}, ("edit", None, "user-feedback", "Hey")),
    ],
)
def test_scores_become_thumbs_scores_and_evaluations(change, expected):
    rating = ratings_of({**SCORE, **change})[0].rating
    assert (rating.kind, rating.value, rating.measure, rating.text) == expected


def test_a_score_of_the_root_judges_the_reply_and_one_of_a_step_does_not():
    root = {**GENERATION, "id": "root", "type": "SPAN"}
    step = {**GENERATION, "id": "step", "type": "RETRIEVER", "parentObservationId": "root"}
    scores = [{**SCORE, "observationId": name} for name in ("root", "step", "elsewhere")]
    entry = {**LANGFUSE, "observations": [root, step, GENERATION], "scores": scores}
    answered = plain_ids("hi", "Hi")[1]
    found = [(item.target_turn_id, item.rating.response_id) for item in ratings_of(entry)]
    assert found == [(answered, None), (None, "step"), (None, "elsewhere")]


# Helicone


def test_helicone_gives_session_user_ids_and_feedback():
    answered = turns_of(HELICONE)[1]
    assert (answered.user_id, answered.message.model, answered.message.response_id) == ("u1", "m-2026", "p1")
    found = [(item.rating.kind, item.rating.value, item.rating.measure) for item in ratings_of(HELICONE)]
    assert found == [("thumb", 1.0, None), ("score", 0.5, "tone"), ("evaluation", 1.0, "polite")]
    assert {item.target_turn_id for item in ratings_of(HELICONE)} == {answered.turn_id}


def test_helicone_feedback_may_be_no_or_none():
    scores = {"helicone-score-feedback": 0, "quality": {"value": 3, "valueType": "number"}}
    assert [item.rating.value for item in ratings_of({**HELICONE, "feedback_rating": False, "scores": None})] == [-1.0]
    found = ratings_of({**HELICONE, "feedback_rating": None, "scores": scores})
    assert [(item.rating.kind, item.rating.value) for item in found] == [("thumb", -1.0), ("score", 3.0)]
    assert ratings_of({**HELICONE, "feedback_rating": None, "scores": {}}) == []


@pytest.mark.parametrize("status", [400, 429, 500, 0, -2])
def test_the_body_of_a_failed_request_is_no_answer(status):
    assert texts_of({**HELICONE, "response_status": status}) == ["hi"]


@pytest.mark.parametrize("body", [None, {}, "", {"helicone_message": "request body too large"}])
def test_absent_bodies_are_told(body):
    (answered,) = turns_of({**HELICONE, "request_body": body})
    assert (answered.message.text, answered.message.flags) == ("yo", ["body_missing"])
    assert texts_of({**HELICONE, "response_body": body}) == ["hi"]
    entry = {**HELICONE, "request_body": body, "response_body": body, "signed_body_url": "https://example.com/b"}
    assert refusal_of(entry).reason == "no_messages"
    assert "signed_body_url" in refusal_of(entry).detail


def test_helicone_bodies_may_be_of_another_api():
    request = {"model": "m", "system": "Be brief", "max_tokens": 9, "messages": [said("user", "hi")]}
    turns = turns_of({**HELICONE, "request_path": "/v1/messages", "request_body": request, "response_body": CLAUDE})
    assert [turn.message.role for turn in turns] == ["system", "user", "assistant"]
    assert turns[2].message.response_id == "msg_1"


# Databricks and MLflow


def test_databricks_rows_give_what_the_caller_sent():
    asked, answered = turns_of(DATABRICKS)
    assert asked.user_id == "u1"
    assert asked.message.created_at == dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    assert answered.message.response_id == "chatcmpl-1"
    assert turns_of({**DATABRICKS, "request": json.dumps(ASKED)})[0].user_id == "app-1"


def test_databricks_rows_of_custom_models_are_read():
    row = {
        "databricks_request_id": "d2",
        "timestamp_ms": 1767225600000,
        "status_code": "200",
        "execution_time_ms": 9,
        "request": json.dumps({"dataframe_split": {"columns": ["prompt", "k"], "data": [["hi", 1], ["bye", 2]]}}),
        "response": json.dumps({"predictions": ["yo", "so long"]}),
        "request_metadata": {"model_name": "m"},
    }
    turns = turns_of(row)
    assert [turn.message.text for turn in turns] == ["hi", "yo", "bye", "so long"]
    assert turns[2].parent_id == turns[2].root_id
    assert texts_of({**row, "status_code": "500"}) == ["hi", "bye"]


@pytest.mark.parametrize(
    "request_body",
    [
        {"dataframe_records": [{"messages": [said("user", "hi")]}]},
        {"dataframe_records": [{"prompt": "hi", "temperature": 0}]},
        {"inputs": {"messages": [said("user", "hi")]}},
        {"inputs": {"prompt": ["hi"]}},
        {"inputs": [{"question": "hi"}]},
        {"inputs": ["hi"]},
        {"inputs": "hi"},
        {"instances": [{"text": "hi"}]},
    ],
    ids=str,
)
def test_served_tables_are_read_row_by_row(request_body):
    row = {**DATABRICKS, "request": json.dumps(request_body), "response": json.dumps({"predictions": ["yo"]})}
    assert texts_of(row) == ["hi", "yo"]


def test_tables_of_numbers_hold_no_talk():
    request = {"dataframe_records": [{"temperature": 21.5, "humidity": 40}]}
    row = {**DATABRICKS, "request": json.dumps(request), "response": json.dumps({"predictions": [0.7]})}
    assert refusal_of(row).reason == "no_messages"


def test_predictions_that_do_not_fit_the_rows_are_refused():
    request = {"inputs": ["a", "b"]}
    row = {**DATABRICKS, "request": json.dumps(request), "response": json.dumps({"predictions": ["x"]})}
    assert refusal_of(row).reason == "bad_shape"


def test_a_row_without_bodies_says_why():
    row = {**DATABRICKS, "request": None, "response": None, "logging_error_codes": ["MAX_REQUEST_SIZE_EXCEEDED"]}
    assert (refusal_of(row).reason, "1 logging_error_codes" in refusal_of(row).detail) == ("no_messages", True)


def test_mlflow_assessments_are_feedback_on_the_answer():
    answered = turns_of(MLFLOW)[1]
    found = [
        (item.rating.kind, item.rating.value, item.rating.text, item.rating.measure) for item in ratings_of(MLFLOW)
    ]
    assert found == [
        ("thumb", -1.0, "too short", None),
        ("score", 0.5, None, "relevance"),
        ("edit", None, "Hello there", "expected_response"),
    ]
    assert {item.target_turn_id for item in ratings_of(MLFLOW)} == {answered.turn_id}


def test_an_mlflow_trace_as_a_dictionary_is_read():
    info = {key: MLFLOW[key] for key in ("trace_id", "request_time", "trace_metadata", "tags", "assessments")}
    span = {"name": "agent", "attributes": {"mlflow.spanInputs": '"hi"', "mlflow.spanOutputs": '"yo"'}}
    child = {**span, "parent_span_id": "1", "attributes": {"mlflow.spanInputs": '"inner"'}}
    turns = turns_of({"info": info, "data": {"spans": [child, {**span, "parent_span_id": None}]}})
    assert [turn.turn_id for turn in turns] == plain_ids("hi", "yo")


def test_older_mlflow_rows_are_read():
    row = {
        "request_id": "tr-2",
        "timestamp_ms": 1767225600000,
        "status": "OK",
        "request": json.dumps({"question": "hi"}),
        "response": '"yo"',
        "request_metadata": {"mlflow.trace.session": "s1", "mlflow.trace.user": "u1"},
        "spans": [],
        "tags": {},
    }
    assert [turn.turn_id for turn in turns_of(row)] == plain_ids("hi", "yo")


# Marks of upstream tools


@pytest.mark.parametrize(
    "text",
    [
        "Summarise this contract: ... <truncated due to size exceeding limit>",
        "The tenant ... (litellm_truncated skipped 8123 chars. To raise it, set `X` (a number)) ... pays",
        "The tenant pays...truncated by litellm, this logger does not support large content",
        "[truncated by litellm]...pays the rent",
        "[This value has been dropped because this span's size exceeds the 1MB size limit.]",
        "[This value has been dropped because this span's size exceeds the 5MB size limit.]",
        "The tenant...TRUNCATED...",
        "...TRUNCATED...pays the rent",
        "The tenant\n...[truncated]",
        "The tenant\u2026[truncated 1200 chars] pays",
    ],
)
def test_marks_of_loggers_that_cut_set_the_flag(text):
    (turn,) = turns_of({"messages": [said("user", text)]})
    assert (turn.message.text, turn.message.flags) == (text, ["upstream_truncated"])


@pytest.mark.parametrize(
    "text",
    [
        "The output was truncated.",
        "What does [truncated] mean in this log?",
        'Why do I see "<truncated>" there',
        "Here is the code (truncated for brevity):",
        "The list is truncated to ten rows...",
        "This value has been dropped because it was wrong.",
        "<div>truncated</div>",
        "def f(truncated: bool) -> list[int]: ...",
        "It was TRUNCATED...",
    ],
)
def test_words_about_truncation_set_no_flag(text):
    assert turns_of({"messages": [said("user", text)]})[0].message.flags == []
