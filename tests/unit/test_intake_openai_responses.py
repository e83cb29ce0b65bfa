"""OpenAI Responses: the same talk as in the chat completions API, whatever items its turns were cut into."""

import base64
import datetime as dt

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.intake.formats import FORMAT_OF_NAME, matching_formats
from pipelines.intake.identity import IdentityKey
from pipelines.intake.items import Rejection, Turn
from pipelines.intake.parse import parse_record

KEY = IdentityKey(bytes(range(32)))
HEADERS = {"turnmill-user": b"ada@example.com", "turnmill-conversation": b"conv-1"}
PIXELS = "data:image/png;base64," + base64.b64encode(b"\x89PNG pixels").decode()
WORDS = {"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "output_text", "text": "done"}]}
CALL = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "look", "arguments": '{"x":1}'}
ANSWER = {"type": "function_call_output", "call_id": "call_1", "output": "cat"}

texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=40)
names = st.from_regex(r"[a-z_]{1,12}", fullmatch=True)
arguments = st.dictionaries(names, st.integers(-9, 9) | texts, max_size=3).map(
    lambda value: orjson.dumps(value).decode()
)


def turns_of(entry, headers=None):
    assert [log_format.NAME for log_format in matching_formats(entry)] in (["openai_responses"], ["openai_chat"])
    items = parse_record(orjson.dumps(entry), headers or {}, KEY)
    assert all(isinstance(item, Turn) for item in items), items
    return items


def messages_of(entry):
    return [turn.message for turn in turns_of(entry)]


def request(*items, **fields):
    return {"model": "m", "input": list(items), **fields}


def response(*items, **fields):
    return {"id": "resp_1", "object": "response", "status": "completed", "output": list(items), **fields}


def said(role, text):
    return {"role": role, "content": text}


@st.composite
def talks(draw):
    """Return (system text or None, turns): a question, then answers with calls and their results, and so on."""
    turns = []
    number = 0
    for _ in range(draw(st.integers(1, 3))):
        turns.append({"role": "user", "text": draw(texts), "image": draw(st.booleans())})
        for _ in range(draw(st.integers(0, 2))):
            calls = [(f"call_{number + n}", draw(names), draw(arguments)) for n in range(draw(st.integers(1, 2)))]
            number += len(calls)
            turns.append({"role": "assistant", "text": draw(st.just("") | texts), "calls": calls})
            turns += [{"role": "tool", "answers": call_id, "text": draw(texts)} for call_id, _, _ in calls]
        turns.append({"role": "assistant", "text": draw(texts), "calls": []})
    return draw(st.none() | texts.filter(bool)), turns


def as_chat(system, turns):
    rendered = [said("system", system)] if system else []
    for turn in turns:
        message = said(turn["role"], turn["text"])
        if turn["role"] == "tool":
            message["tool_call_id"] = turn["answers"]
        elif turn["role"] == "assistant" and turn["calls"]:
            message["tool_calls"] = [
                {"id": call_id, "type": "function", "function": {"name": name, "arguments": value}}
                for call_id, name, value in turn["calls"]
            ]
        elif turn.get("image"):
            image = {"type": "image_url", "image_url": {"url": PIXELS}}
            message["content"] = [{"type": "text", "text": turn["text"]}, image]
        rendered.append(message)
    return {"messages": rendered}


def as_items(draw, turns):
    items = []
    for turn in turns:
        if turn["role"] == "tool":
            answered = draw(st.sampled_from([turn["answers"], turn["answers"].replace("call_", "fc_")]))
            items.append({"type": "function_call_output", "call_id": answered, "output": turn["text"]})
        elif turn["role"] == "user":
            content = [{"type": "input_text", "text": turn["text"]}]
            if turn["image"]:
                content.append({"type": "input_image", "image_url": PIXELS})
            items.append({"role": "user", "content": content})
        else:
            if draw(st.booleans()):
                items.append({"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": "hm"}]})
            if turn["text"] or not turn["calls"]:
                part = {"type": "output_text", "text": turn["text"], "annotations": []}
                items.append({"type": "message", "role": "assistant", "content": [part]})
            for call_id, name, value in turn["calls"]:
                item_id = call_id.replace("call_", "fc_")
                call = {"type": "function_call", "id": item_id, "call_id": call_id, "name": name, "arguments": value}
                items.append(call)
    return items


@given(talks(), st.data())
def test_a_talk_has_the_same_turns_as_in_the_chat_completions_api(talk, data):
    system, turns = talk
    asked, replied = as_items(data.draw, turns[:-1]), as_items(data.draw, turns[-1:])
    instructions = {"instructions": system} if system else {}
    as_messages = [said("developer", system), *asked] if system else asked
    whole = {"object": "response", "status": "completed", "output": replied}
    expected = turns_of(as_chat(system, turns), HEADERS)
    for entry in (
        {"request": request(*asked, **instructions), "response": whole},
        {"request": request(*as_messages), "response": whole},
        request(*asked, *replied, **instructions),
    ):
        found = turns_of(entry, HEADERS)
        assert [turn.turn_id for turn in found] == [turn.turn_id for turn in expected]
        assert [turn.message.tool_calls for turn in found] == [turn.message.tool_calls for turn in expected]
        assert [turn.message.tool_call_id for turn in found] == [turn.message.tool_call_id for turn in expected]
        assert not any("orphan_tool_call" in turn.message.flags for turn in found)


def test_items_of_one_turn_are_one_message_with_its_reasoning_apart():
    thought = {"type": "reasoning", "id": "rs_1", "summary": [], "content": [{"type": "reasoning_text", "text": "hm"}]}
    second = {**CALL, "id": "fc_2", "call_id": "call_2"}
    (message,) = messages_of(response(thought, WORDS, CALL, second))
    assert (message.text, message.reasoning) == ("done", "hm")
    assert [call.id for call in message.tool_calls] == ["call_1", "call_2"]
    assert message.finish_reason == "completed"
    assert message.flags == []


def test_hidden_reasoning_gives_its_summary_or_a_flag():
    part = {"type": "summary_text", "text": "short"}
    assert messages_of(response({"type": "reasoning", "summary": [part]}, WORDS))[0].reasoning == "short"
    hidden = {"type": "reasoning", "summary": [], "encrypted_content": "x"}
    (message,) = messages_of(response(hidden, WORDS))
    assert (message.reasoning, message.flags) == (None, ["reasoning_redacted"])


def test_a_reply_is_the_same_turn_as_in_later_history():
    question = said("user", "hi")
    first = turns_of({"request": request(question), "response": response(CALL, WORDS)})
    later = turns_of(request(question, CALL, WORDS, said("user", "and?")))
    assert [turn.turn_id for turn in later[:2]] == [turn.turn_id for turn in first]


def test_input_may_be_plain_text():
    (message,) = messages_of({"model": "m", "input": "hi"})
    assert (message.role, message.text) == ("user", "hi")


def test_the_facts_of_the_response_are_on_its_turns():
    entry = {
        "timestamp": 1715854074,
        "request": request(said("user", "hi")),
        "response": response(WORDS, model="m-0613", created_at=1715854075),
    }
    user, reply = messages_of(entry)
    assert user.created_at == dt.datetime(2024, 5, 16, 10, 7, 54, tzinfo=dt.UTC)
    assert reply.created_at == dt.datetime(2024, 5, 16, 10, 7, 55, tzinfo=dt.UTC)
    assert (reply.model, reply.response_id) == ("m-0613", "resp_1")


@pytest.mark.parametrize(
    ("fields", "finish_reason"),
    [
        ({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}, "max_output_tokens"),
        ({"status": "incomplete", "incomplete_details": None}, "incomplete"),
        ({"status": "failed", "error": {"code": "server_error"}}, "failed"),
        ({"status": "in_progress"}, "in_progress"),
        ({"status": None}, None),
    ],
)
def test_a_response_that_is_not_completed_says_why_and_is_flagged(fields, finish_reason):
    (message,) = messages_of(response(WORDS, **fields))
    assert (message.finish_reason, message.flags) == (finish_reason, ["stream_incomplete"])


@pytest.mark.parametrize("kind", ["completed", "incomplete", "failed"])
def test_the_event_that_ends_a_stream_is_a_log_entry(kind):
    whole = response(WORDS, status=kind)
    event = {"type": f"response.{kind}", "sequence_number": 9, "response": whole}
    (log_format,) = matching_formats(event)
    assert log_format.read(event) == log_format.read(whole)


def test_a_failed_call_leaves_the_question():
    for answer in (response(status="failed", error={"code": "x"}), {"error": {"code": "x"}}, None):
        (message,) = messages_of({"request": request(said("user", "hi")), "response": answer})
        assert (message.role, message.text) == ("user", "hi")


def test_the_tail_of_a_chain_names_the_response_before_it():
    entry = {
        "request": request(ANSWER, instructions="Be brief", previous_response_id="resp_0"),
        "response": response(WORDS),
    }
    talk = FORMAT_OF_NAME["openai_responses"].read(entry)
    assert talk.previous_response_id == "resp_0"
    assert [(message.role, message.flags) for message in talk.messages] == [
        ("system", []),
        ("tool", ["history_missing"]),
        ("assistant", []),
    ]
    alone = FORMAT_OF_NAME["openai_responses"].read(response(WORDS, previous_response_id="resp_0"))
    assert alone.previous_response_id == "resp_0"
    assert FORMAT_OF_NAME["openai_responses"].read(response(WORDS)).previous_response_id is None


def test_a_reference_to_an_item_elsewhere_is_missing_history():
    first, second = messages_of(request({"type": "item_reference", "id": "msg_0"}, said("user", "a"), WORDS))
    assert (first.flags, second.flags) == (["history_missing"], [])


@pytest.mark.parametrize(
    ("fields", "conversation", "user"),
    [
        ({"conversation": "conv_1", "user": "ada"}, "conv_1", "ada"),
        ({"conversation": {"id": "conv_1"}, "safety_identifier": "ada"}, "conv_1", "ada"),
        ({"metadata": {"session_id": "s-1"}}, "s-1", None),
        ({"metadata": {"conversation_id": "c-1"}, "user": "ada"}, "c-1", "ada"),
        ({}, None, None),
    ],
)
def test_conversation_and_user_are_found_on_either_side(fields, conversation, user):
    question = said("user", "hi")
    for entry in (
        {"request": request(question, **fields), "response": response(WORDS)},
        {"request": request(question), "response": response(WORDS, **fields)},
        response(WORDS, **fields),
        request(question, **fields),
    ):
        (turn, *_) = turns_of(entry)
        assert turn.conversation_ref == (conversation and KEY.conversation_ref("default", conversation))
        assert turn.user_ref == (user and KEY.user_ref("default", user))


def test_media_are_references_of_their_kind():
    content = [
        {"type": "input_image", "image_url": PIXELS},
        {"type": "input_image", "file_id": "file_1"},
        {"type": "input_file", "file_data": "UERG", "filename": "a.pdf"},
        {"type": "input_file", "file_url": "https://files.example.com/a.pdf"},
        {"type": "input_audio", "input_audio": {"data": "UklG", "format": "wav"}},
    ]
    (message,) = messages_of(request(said("user", content)))
    assert [part.type for part in message.parts] == ["image", "image", "file", "file", "audio"]
    assert [part.uri for part in message.parts[1::2]] == ["file_1", "https://files.example.com/a.pdf"]
    assert message.parts[4].media_type == "audio/wav"
    assert message.flags == []


def test_items_of_unknown_types_are_kept_as_references_on_the_turn():
    search = {"type": "web_search_call", "id": "ws_1", "status": "completed"}
    (message,) = messages_of(response(search, WORDS))
    assert [part.type for part in message.parts] == ["other"]
    assert (message.text, message.flags) == ("done", ["unknown_part"])


def test_calls_of_every_kind_that_the_caller_answers_are_paired():
    items = [
        {"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_1", "name": "run", "input": "x = 1"},
        {"type": "computer_call", "id": "cu_1", "call_id": "call_2", "action": {"type": "screenshot"}},
        {"type": "custom_tool_call_output", "call_id": "call_1", "output": [{"type": "input_text", "text": "ok"}]},
        {
            "type": "computer_call_output",
            "call_id": "call_2",
            "output": {"type": "computer_screenshot", "image_url": PIXELS},
        },
        {"type": "shell_call", "id": "sh_1", "call_id": "call_3", "action": {"commands": ["ls"]}},
        {"type": "shell_call_output", "call_id": "call_3", "output": [{"stdout": "a.txt", "stderr": ""}]},
    ]
    turn, custom, screen, shell_turn, shell = messages_of(request(*items))
    called = [(call.name, call.arguments) for call in turn.tool_calls]
    assert called == [("run", "x = 1"), ("computer", '{"type":"screenshot"}')]
    assert (custom.tool_name, custom.text) == ("run", "ok")
    assert (screen.tool_name, screen.parts[0].type) == ("computer", "image")
    assert shell_turn.tool_calls[0].name == "shell"
    assert shell.text == '[{"stdout":"a.txt","stderr":""}]'
    assert not any("orphan_tool_call" in message.flags for message in (turn, custom, screen, shell_turn, shell))


def test_a_call_id_reused_later_is_a_new_call():
    items = [CALL, ANSWER, CALL, said("user", "next")]
    orphans = [place for place, found in enumerate(messages_of(request(*items))) if "orphan_tool_call" in found.flags]
    assert orphans == [2]


def test_refusals_are_visible_text_with_a_flag():
    part = {"type": "refusal", "refusal": "I cannot."}
    (message,) = messages_of(response({"type": "message", "role": "assistant", "content": [part]}))
    assert (message.text, message.flags) == ("I cannot.", ["refusal"])


@pytest.mark.parametrize(
    "entry",
    [
        {"model": "m", "input": ["a", "b"]},
        {"model": "m", "input": "a", "encoding_format": "float"},
        {"model": "m", "input": "a", "voice": "v"},
        {"input": "a"},
        {"request": {"model": "m", "input": "a"}, "response": {"object": "list", "data": []}},
        {"object": "response"},
        {"type": "response.created", "response": response()},
        {"id": "ob1", "traceId": "t", "type": "SPAN", "model": "m", "input": [said("user", "hi")], "output": "yo"},
    ],
)
def test_other_calls_with_input_are_not_taken_for_a_talk(entry):
    assert "openai_responses" not in [log_format.NAME for log_format in matching_formats(entry)]


@pytest.mark.parametrize("item", [7, {"role": "narrator"}, {"role": "user", "content": 7}, {**ANSWER, "output": 7}])
def test_an_item_of_a_wrong_shape_refuses_the_entry_without_quoting_it(item):
    entry = {"request": request(), "response": response(WORDS)}
    entry["request"]["input"].append(item)
    (found,) = parse_record(orjson.dumps(entry), {}, KEY)
    assert isinstance(found, Rejection)
    assert found.reason in {"bad_shape", "unknown_role"}
    assert "narrator" not in found.detail
