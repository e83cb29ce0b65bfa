"""Each log format: an example of its own, what must survive the reading, and exact detection."""

import base64
import datetime as dt
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.intake.formats import FORMAT_OF_NAME, FORMATS, matching_formats
from pipelines.intake.identity import IdentityKey
from pipelines.intake.items import Feedback, Rejection, Turn
from pipelines.intake.parse import parse_record
from pipelines.intake.stream_formats import STREAM_FORMAT_OF_NAME, STREAM_FORMATS
from schemas.shared_columns import ROLES

KEY = IdentityKey(bytes(range(32)))
PIXELS = base64.b64encode(b"\x89PNG pixels").decode()

LINES = Path(__file__).with_name("log_examples.jsonl").read_bytes().split(b"\n")
ROWS = [orjson.loads(line) for line in LINES if line]
EXAMPLES = {row["format"]: row["entry"] for row in ROWS if row["format"] in FORMAT_OF_NAME and not row["dialect"]}
NAMED = {"chatml"}
"""Formats that only a header tells."""
TOLD = sorted(EXAMPLES.keys() - NAMED)


def items_of(entry, headers=None):
    return parse_record(orjson.dumps(entry), headers or {}, KEY)


def turns_of(entry, headers=None):
    items = items_of(entry, headers)
    assert not [item for item in items if isinstance(item, Rejection)], items
    return [item for item in items if isinstance(item, Turn)]


def ratings_of(entry):
    return [item for item in items_of(entry) if isinstance(item, Feedback)]


def plain(*messages):
    return {"messages": list(messages)}


def said(role, content):
    return {"role": role, "content": content}


@pytest.mark.parametrize("name", EXAMPLES)
def test_exactly_one_format_matches_each_example(name):
    expected = [] if name in NAMED else [name]
    assert [log_format.NAME for log_format in FORMATS if log_format.matches(EXAMPLES[name])] == expected
    assert [log_format.NAME for log_format in matching_formats(EXAMPLES[name])] == expected


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['format']} {row['dialect']}".strip())
def test_every_dialect_is_of_its_format_alone(row):
    names = {log_format.NAME for log_format in FORMATS if log_format.matches(row["entry"])}
    names |= {stream_format.NAME for stream_format in STREAM_FORMATS if stream_format.matches(row["entry"])}
    assert names == ({row["format"]} - NAMED if row["format"] in FORMAT_OF_NAME | STREAM_FORMAT_OF_NAME else set())


def test_every_format_has_an_example_and_tells():
    assert set(FORMAT_OF_NAME) == set(EXAMPLES)
    assert set(STREAM_FORMAT_OF_NAME) <= {row["format"] for row in ROWS}
    for name in TOLD:
        assert not FORMAT_OF_NAME[name].TELLS.isdisjoint(EXAMPLES[name])
    assert not any(FORMAT_OF_NAME[name].TELLS for name in NAMED)


@given(st.lists(st.sampled_from(sorted(EXAMPLES)), min_size=2, max_size=3), st.data())
def test_a_mixture_of_formats_is_read_as_one_or_refused(names, data):
    mixed = {}
    for name in names:
        for key, value in EXAMPLES[name].items():
            if data.draw(st.booleans()):
                mixed[key] = value
    items = items_of(mixed)
    matching = [log_format.NAME for log_format in FORMATS if log_format.matches(mixed)]
    assert {log_format.NAME for log_format in matching_formats(mixed)} == set(matching)
    if len(matching) != 1:
        assert [item.reason for item in items] == ["unknown_format"]


@pytest.mark.parametrize("name", TOLD)
def test_the_header_names_the_format_and_gives_the_same_items(name):
    assert items_of(EXAMPLES[name], {"turnmill-format": name.encode()}) == items_of(EXAMPLES[name])


def test_a_format_without_tells_is_read_where_the_header_names_it_and_only_there():
    (refused,) = items_of(EXAMPLES["chatml"])
    assert refused.reason == "unknown_format"
    named = turns_of(EXAMPLES["chatml"], {"turnmill-format": b"chatml"})
    assert [turn.message.role for turn in named] == ["system", "user", "assistant"]


@pytest.mark.parametrize("name", EXAMPLES)
def test_turns_carry_known_roles_and_no_inline_media(name):
    for turn in turns_of(EXAMPLES[name], {"turnmill-format": name.encode()}):
        assert turn.message.role in ROLES
        assert turn.source == name
        for part in turn.message.parts:
            assert part.content is None
            assert len(part.sha256) == 64
            assert PIXELS not in repr(part)


def test_openai_keeps_history_tools_media_and_all_choices():
    turns = turns_of(EXAMPLES["openai_chat"])
    assert [turn.message.role for turn in turns] == ["system", "user", "assistant", "tool", "assistant", "assistant"]
    system, user, call, result, first, second = turns
    assert [part.type for part in user.message.parts] == ["image", "audio"]
    assert user.message.parts[0].bytes == len(b"\x89PNG pixels")
    assert user.message.parts[1].media_type == "audio/wav"
    assert call.message.tool_calls[0].arguments == '{"x":1}'
    assert (result.message.tool_call_id, result.message.tool_name, result.message.text) == ("call_1", "look", "cat")
    assert first.parent_id == second.parent_id == result.turn_id
    assert first.turn_id != second.turn_id
    assert first.message.model == "m-1-0613"
    assert first.message.response_id == "chatcmpl-1"
    assert first.message.created_at == dt.datetime(2024, 5, 16, 10, 7, 55, tzinfo=dt.UTC)
    assert result.message.created_at == dt.datetime(2024, 5, 16, 10, 7, 54, tzinfo=dt.UTC)
    assert user.message.created_at is None
    assert not any(turn.message.flags for turn in turns)


def test_system_messages_stand_beside_the_chain():
    system, user, *_ = turns = turns_of(EXAMPLES["openai_chat"])
    assert system.parent_id == user.parent_id == system.root_id
    assert system.system_turn_id is None
    assert {turn.system_turn_id for turn in turns[1:]} == {system.turn_id}
    other_day = turns_of(plain(said("system", "Today is Tuesday"), said("user", "hi")))
    one_day = turns_of(plain(said("system", "Today is Monday"), said("user", "hi")))
    assert one_day[1].turn_id == other_day[1].turn_id
    assert one_day[0].turn_id != other_day[0].turn_id


def test_a_system_message_in_the_middle_does_not_break_the_chain():
    turns = turns_of(plain(said("user", "a"), said("system", "b"), said("assistant", "c")))
    assert turns[2].parent_id == turns[0].turn_id
    assert turns[2].system_turn_id == turns[1].turn_id
    assert turns[0].system_turn_id is None


def test_growing_history_repeats_the_same_turn_ids():
    talk = [said("user", "a"), said("assistant", "b"), said("user", "c"), said("assistant", "d")]
    longest = [turn.turn_id for turn in turns_of(plain(*talk))]
    for length in range(1, 4):
        assert [turn.turn_id for turn in turns_of(plain(*talk[:length]))] == longest[:length]


def test_the_reply_in_a_response_is_the_same_turn_as_in_later_history():
    question = {"model": "m", "messages": [said("user", "a")]}
    answer = {"id": "r", "choices": [{"message": said("assistant", "b"), "finish_reason": "stop"}]}
    logged = turns_of({"request": question, "response": answer})
    assert logged[1].turn_id == turns_of(plain(said("user", "a"), said("assistant", "b")))[1].turn_id


def test_a_bare_response_and_a_bare_request_are_read():
    answer = {"object": "chat.completion", "choices": [{"message": said("assistant", "b"), "finish_reason": "length"}]}
    assert turns_of(answer)[0].message.finish_reason == "length"
    assert turns_of({"model": "m", "messages": [said("user", "a")], "user": "ada"})[0].user_id == "ada"


def test_legacy_function_calls_pair_by_position():
    call = {"role": "assistant", "content": None, "function_call": {"name": "w", "arguments": "{}"}}
    turns = turns_of(plain(said("user", "q"), call, {"role": "function", "name": "w", "content": "rain"}))
    assert [turn.message.role for turn in turns] == ["user", "assistant", "tool"]
    assert turns[1].message.tool_calls[0].name == "w"
    assert not any(turn.message.flags for turn in turns)


def test_a_refusal_is_visible_text_with_a_flag():
    reply = {"role": "assistant", "content": None, "refusal": "I cannot."}
    turn = turns_of({"choices": [{"message": reply, "finish_reason": "stop"}]})[0]
    assert (turn.message.text, turn.message.flags) == ("I cannot.", ["refusal"])


def test_hidden_reasoning_is_kept_apart_from_the_text():
    reply = {"role": "assistant", "content": "4", "reasoning_content": "2+2"}
    turn = turns_of(plain(said("user", "2+2?"), reply))[1]
    assert (turn.message.text, turn.message.reasoning) == ("4", "2+2")


def test_a_response_without_finish_reason_is_incomplete():
    choice = {"message": said("assistant", "b"), "finish_reason": None}
    assert turns_of({"choices": [choice]})[0].message.flags == ["stream_incomplete"]


def test_an_image_is_one_image_in_every_format():
    openai = turns_of(EXAMPLES["openai_chat"])[1].message.parts[0]
    anthropic = turns_of(EXAMPLES["anthropic_messages"])[1].message.parts[0]
    assert openai.sha256 == anthropic.sha256


def test_a_part_of_unknown_type_leaves_a_reference_and_its_text():
    part = {"type": "hologram", "text": "look", "depth": 3}
    turn = turns_of(plain(said("user", [part])))[0]
    assert turn.message.text == "look"
    assert turn.message.parts[0].type == "other"
    assert turn.message.flags == ["unknown_part"]


def test_anthropic_tool_results_become_tool_turns_before_the_users_words():
    turns = turns_of(EXAMPLES["anthropic_messages"])
    assert [turn.message.role for turn in turns] == ["system", "user", "assistant", "tool", "user", "assistant"]
    _, _, call, result, words, reply = turns
    assert (call.message.reasoning, call.message.tool_calls[0].arguments) == ("an animal", '{"x":1}')
    assert (result.message.text, result.message.tool_name, result.message.flags) == ("cat", "look", ["tool_error"])
    assert words.parent_id == result.turn_id
    assert (reply.message.response_id, reply.message.finish_reason) == ("msg_1", "end_turn")
    assert turns[0].user_id == "user-7"


def test_anthropic_bare_request_and_bare_response_are_read():
    request = EXAMPLES["anthropic_messages"]["request"]
    response = EXAMPLES["anthropic_messages"]["response"]
    assert [turn.source for turn in turns_of(request)] == ["anthropic_messages"] * 5
    assert [turn.message.text for turn in turns_of(response)] == ["A cat."]


def test_sharegpt_keeps_all_turns_with_calls_and_results():
    turns = turns_of(EXAMPLES["sharegpt"])
    assert [turn.message.role for turn in turns] == ["system", "user", "assistant", "tool", "assistant"]
    assert turns[2].message.tool_calls[0].name == "stock"
    assert turns[3].message.tool_name == "stock"
    assert not any(turn.message.flags for turn in turns)


def test_a_broken_sharegpt_call_is_kept_raw():
    entry = {"conversations": [{"from": "function_call", "value": "stock(bolt)"}]}
    call = turns_of(entry)[0].message
    assert (call.tool_calls[0].name, call.tool_calls[0].arguments) == ("", "stock(bolt)")
    assert set(call.flags) == {"tool_name_missing", "tool_args_invalid_json"}


def test_ms_swift_pairs_are_read():
    turns = turns_of({"conversation": [{"human": "q", "assistant": "a"}, {"human": "r", "assistant": "b"}]})
    assert [turn.message.text for turn in turns] == ["q", "a", "r", "b"]


def test_sharegpt_ids_that_differ_in_their_number_are_different_talks():
    talk = [{"from": "human", "value": "q"}]
    roots = {turns_of({"id": f"identity_{n}", "conversations": talk})[0].root_id for n in range(3)}
    assert len(roots) == 3


def test_wildchat_labels_become_flags_and_the_address_becomes_the_user():
    user, reply = turns_of(EXAMPLES["wildchat"])
    assert user.message.flags == ["upstream_flagged"]
    assert reply.message.flags == ["upstream_redacted"]
    assert (user.user_id, reply.message.model) == ("ip-1", "m-4")
    assert user.conversation_ref == KEY.conversation_ref("default", "hash-1")


def test_lmsys_placeholders_are_upstream_redaction():
    user, reply = turns_of(EXAMPLES["lmsys_chat"])
    assert (user.message.flags, reply.message.flags) == (["upstream_redacted"], ["upstream_flagged"])


def test_oasst_trees_keep_branches_ranks_and_authors():
    items = items_of(EXAMPLES["oasst_tree"])
    turns = [item for item in items if isinstance(item, Turn)]
    texts = {turn.message.text: turn for turn in turns}
    assert list(texts) == ["q", "worse", "and?", "best"]
    assert texts["worse"].parent_id == texts["best"].parent_id == texts["q"].turn_id
    assert texts["and?"].parent_id == texts["worse"].turn_id
    assert texts["q"].message.flags == ["reply_deleted"]
    assert texts["best"].message.flags == ["synthetic"]
    assert texts["q"].user_ref == KEY.user_ref("default", "u1")
    assert texts["worse"].user_ref == KEY.user_ref("default", "u2")
    assert texts["q"].message.created_at == dt.datetime(2023, 1, 1, 9, tzinfo=dt.UTC)
    ratings = [item for item in items if isinstance(item, Feedback)]
    assert {(r.rating.kind, r.rating.value, r.target_turn_id) for r in ratings} == {
        ("score", 0.75, texts["q"].turn_id),
        ("vote", 2.0, texts["q"].turn_id),
        ("rank", 1.0, texts["worse"].turn_id),
        ("rank", 0.0, texts["best"].turn_id),
    }
    assert [item.position for item in items] == list(range(len(items)))


def test_a_tree_of_hundreds_of_levels_is_read():
    node = '{"role":"prompter","text":"leaf","replies":[]}'
    for _ in range(450):
        node = f'{{"role":"prompter","text":"q","replies":[{node}]}}'
    items = parse_record(f'{{"message_tree_id":"t","prompt":{node}}}'.encode(), {}, KEY)
    assert len(items) == 451
    assert all(isinstance(item, Turn) for item in items)


def test_otel_events_keep_instructions_tools_and_reasoning():
    turns = turns_of(EXAMPLES["otel_genai"])
    assert [turn.message.role for turn in turns] == ["system", "user", "assistant", "tool", "assistant"]
    assert turns[2].message.tool_calls[0].arguments == '{"city":"Oslo"}'
    assert turns[3].message.text == "rain"
    assert (turns[4].message.reasoning, turns[4].message.text) == ("hm", "Rain.")
    assert turns[4].message.response_id == "chatcmpl-6"
    assert turns[0].conversation_ref == KEY.conversation_ref("default", "conv_1")


def test_otel_spans_with_json_text_and_otlp_values_read_like_events():
    attributes = EXAMPLES["otel_genai"]["attributes"]
    as_text = {k: orjson.dumps(v).decode() if isinstance(v, list) else v for k, v in attributes.items()}
    pairs = [{"key": key, "value": {"stringValue": value}} for key, value in as_text.items()]
    deep = [{"key": key, "value": otlp(value)} for key, value in attributes.items()]
    expected = items_of(EXAMPLES["otel_genai"])
    for form in (as_text, pairs, deep):
        assert items_of({"span_id": "s", "attributes": form}) == expected


def otlp(value):
    if isinstance(value, str):
        return {"stringValue": value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [otlp(item) for item in value]}}
    return {"kvlistValue": {"values": [{"key": key, "value": otlp(inner)} for key, inner in value.items()]}}


def test_otel_tool_answers_are_read_under_both_of_their_names():
    for name in ("response", "result"):
        part = {"type": "tool_call_response", "id": "c1", name: {"sky": "grey"}}
        attributes = {"gen_ai.input.messages": [{"role": "tool", "parts": [part]}]}
        assert turns_of({"attributes": attributes})[0].message.text == '{"sky":"grey"}'


def test_otel_calls_that_the_server_made_stand_with_their_answers_between_the_words():
    parts = [
        {"type": "text", "content": "Let me look."},
        {"type": "server_tool_call", "id": "s1", "name": "search", "server_tool_call": {"query": "cats"}},
        {"type": "server_tool_call_response", "id": "s1", "server_tool_call_response": {"hits": 2}},
        {"type": "text", "content": "Two."},
    ]
    output = [{"role": "assistant", "parts": parts, "finish_reason": "stop"}]
    first, answer, last = (turn.message for turn in turns_of({"attributes": {"gen_ai.output.messages": output}}))
    assert (first.text, first.tool_calls[0].arguments) == ("Let me look.", '{"query":"cats"}')
    assert (answer.role, answer.tool_name, answer.text) == ("tool", "search", '{"hits":2}')
    assert (last.text, last.finish_reason) == ("Two.", "stop")
    assert not any(message.flags for message in (first, answer, last))


def test_otel_spans_without_content_are_told_apart_from_errors():
    items = items_of({"attributes": {"gen_ai.operation.name": "chat"}})
    assert [item.reason for item in items] == ["no_messages"]


def test_otel_evaluations_are_feedback_on_the_response():
    attributes = {
        "gen_ai.evaluation.name": "tone",
        "gen_ai.evaluation.score.value": 1.0,
        "gen_ai.evaluation.explanation": "clear",
        "gen_ai.response.id": "chatcmpl-6",
    }
    event = {"event_name": "gen_ai.evaluation.result", "span_id": "s", "attributes": attributes}
    (feedback,) = ratings_of(event)
    rating = feedback.rating
    assert (rating.kind, rating.value, rating.text) == ("evaluation", 1.0, "clear")
    assert (rating.response_id, rating.measure) == ("chatcmpl-6", "tone")


def test_our_own_feedback_names_its_target():
    (feedback,) = ratings_of(EXAMPLES["turnmill_feedback"])
    assert (feedback.rating.kind, feedback.rating.value, feedback.rating.response_id) == ("thumb", 1.0, "chatcmpl-1")
    assert feedback.user_ref == KEY.user_ref("default", "ada")
    (edit,) = ratings_of({"feedback": {"kind": "edit", "text": "Better.", "turn_id": "a" * 32}})
    assert (edit.target_turn_id, edit.rating.text) == ("a" * 32, "Better.")


@pytest.mark.parametrize(
    "feedback",
    [
        {"kind": "thumb", "value": 1},
        {"kind": "applause", "value": 1, "response_id": "r"},
        {"kind": "thumb", "value": 7, "response_id": "r"},
        {"kind": "thumb", "response_id": "r"},
        {"kind": "stars", "value": "five", "response_id": "r"},
        {"kind": "stars", "response_id": "r"},
        {"kind": "edit", "response_id": "r"},
        {"kind": "flag", "turn_id": "not an id"},
        {"response_id": "r"},
    ],
)
def test_feedback_that_says_nothing_usable_is_refused(feedback):
    assert [item.reason for item in items_of({"feedback": feedback})] == ["bad_shape"]


def paths_into(value, path=()):
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from paths_into(value[key], (*path, key))
    elif isinstance(value, list):
        for index in range(len(value)):
            yield from paths_into(value[index], (*path, index))


def with_change(entry, path, value):
    changed = orjson.loads(orjson.dumps(entry))
    holder = changed
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]] = value
    return changed


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_wrong_type_in_any_field_is_refused_or_ignored_but_never_a_fault(name):
    example = EXAMPLES[name]
    for path in paths_into(example):
        for value in (None, True, 7, 0.5, "?", [], {}, [[]], [{}], {"type": []}) if path else ():
            items = items_of(with_change(example, path, value), {"turnmill-format": name.encode()})
            assert items
            for item in items:
                if isinstance(item, Rejection):
                    assert item.reason in {"bad_shape", "unknown_role", "no_messages"}, (path, value, item)
                    assert item.position == 0


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("openai_chat", ("request", "messages", 1, "content")),
        ("anthropic_messages", ("response", "content")),
        ("openai_responses", ("response", "output")),
        ("sharegpt", ("conversations", 0, "value")),
        ("wildchat", ("conversation", 0, "content")),
        ("lmsys_chat", ("conversation", 1, "content")),
        ("oasst_tree", ("prompt", "text")),
        ("otel_genai", ("attributes", "gen_ai.input.messages")),
        ("turnmill_feedback", ("feedback", "value")),
    ],
)
def test_content_of_a_wrong_type_is_a_bad_shape(name, path):
    items = items_of(with_change(EXAMPLES[name], path, 7))
    assert [item.reason for item in items] == ["bad_shape"]


@pytest.mark.parametrize("role", ["narrator", "", None])
def test_an_unknown_role_refuses_the_entry_without_quoting_it(role):
    (item,) = items_of(plain(said("user", "a"), {"role": role, "content": "b"}))
    assert item.reason in {"unknown_role", "bad_shape"}
    assert "narrator" not in item.detail
