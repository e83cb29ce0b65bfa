"""What holds for every talk and every input: one identity in all formats, no exception, no lost item."""

import base64
import json

import orjson
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.intake.formats import FORMAT_OF_NAME
from pipelines.intake.identity import IdentityKey
from pipelines.intake.items import Rejection, Turn
from pipelines.intake.parse import parse_record

KEY = IdentityKey(bytes(range(32)))
HEADERS = {"turnmill-user": b"ada@example.com", "turnmill-conversation": b"conv-1"}

texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=60)
names = st.from_regex(r"[a-z_]{1,12}", fullmatch=True)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
arguments = st.dictionaries(texts, json_values, max_size=3)


@st.composite
def talks(draw):
    """Return (system text or None, messages): user and assistant texts, calls each followed by its answer, images."""
    system = draw(st.none() | texts.filter(bool))
    messages = []
    for number in range(draw(st.integers(1, 5))):
        kind = draw(st.sampled_from(["user", "assistant", "call"]))
        if kind == "call":
            messages.append({"role": "assistant", "call": (f"call_{number}", draw(names), draw(arguments))})
            messages.append({"role": "tool", "answers": f"call_{number}", "text": draw(texts)})
        else:
            messages.append({"role": kind, "text": draw(texts)})
    return system, messages


def render_openai(system, messages):
    rendered = [{"role": "system", "content": system}] if system else []
    for message in messages:
        if "call" in message:
            call_id, name, value = message["call"]
            function = {"name": name, "arguments": orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()}
            calls = [{"id": call_id, "type": "function", "function": function}]
            rendered.append({"role": "assistant", "content": None, "tool_calls": calls})
        elif message["role"] == "tool":
            rendered.append({"role": "tool", "tool_call_id": message["answers"], "content": message["text"]})
        else:
            rendered.append({"role": message["role"], "content": message["text"]})
    return {"messages": rendered}


def render_openai_with_response(system, messages):
    plain = render_openai(system, messages)["messages"]
    if messages[-1]["role"] != "assistant":
        return {"request": {"messages": plain}, "response": {"error": {"code": 500}}}
    choice = {"index": 0, "message": plain[-1], "finish_reason": "stop"}
    return {"request": {"model": "m", "messages": plain[:-1]}, "response": {"id": "r", "choices": [choice]}}


def render_anthropic(system, messages):
    rendered = []
    for message in messages:
        if "call" in message:
            call_id, name, value = message["call"]
            block = {"type": "tool_use", "id": call_id, "name": name, "input": value}
            rendered.append({"role": "assistant", "content": [block]})
        elif message["role"] == "tool":
            block = {"type": "tool_result", "tool_use_id": message["answers"], "content": message["text"]}
            rendered.append({"role": "user", "content": [block]})
        else:
            rendered.append({"role": message["role"], "content": [{"type": "text", "text": message["text"]}]})
    return {"model": "m", "max_tokens": 9, "system": system or None, "messages": rendered}


def render_sharegpt(system, messages):
    speakers = {"user": "human", "assistant": "gpt", "tool": "observation"}
    rendered = []
    for message in messages:
        if "call" in message:
            _, name, value = message["call"]
            call = orjson.dumps({"name": name, "arguments": value}).decode()
            rendered.append({"from": "function_call", "value": call})
        else:
            rendered.append({"from": speakers[message["role"]], "value": message["text"]})
    return {"conversations": rendered} | ({"system": system} if system else {})


def render_otel(system, messages):
    rendered = []
    for message in messages:
        if "call" in message:
            call_id, name, value = message["call"]
            part = {"type": "tool_call", "id": call_id, "name": name, "arguments": value}
        elif message["role"] == "tool":
            part = {"type": "tool_call_response", "id": message["answers"], "response": message["text"]}
        else:
            part = {"type": "text", "content": message["text"]}
        rendered.append({"role": message["role"], "parts": [part]})
    attributes = {"gen_ai.input.messages": orjson.dumps(rendered).decode()}
    if system:
        attributes["gen_ai.system_instructions"] = [{"type": "text", "content": system}]
    return {"span_id": "s", "attributes": attributes}


def rendered_plainly(messages):
    return [{"role": message["role"], "content": message["text"]} for message in messages]


def render_wildchat(messages):
    return {"conversation_hash": "h", "conversation": rendered_plainly(messages)}


def render_lmsys(messages):
    return {"conversation_id": "c", "conversation": rendered_plainly(messages), "openai_moderation": []}


def render_oasst(messages):
    node = None
    for message in reversed(messages):
        role = "prompter" if message["role"] == "user" else message["role"]
        node = {"role": role, "text": message["text"], "replies": [node] if node else []}
    return {"message_tree_id": "t", "prompt": node}


def turns_of(entry):
    items = parse_record(orjson.dumps(entry), HEADERS, KEY)
    assert not [item for item in items if isinstance(item, Rejection)]
    return items


def ids_of(entry):
    return [(turn.turn_id, turn.parent_id, turn.content_id, turn.system_turn_id) for turn in turns_of(entry)]


@given(talks())
def test_a_talk_has_the_same_identity_in_every_format(talk):
    system, messages = talk
    expected = ids_of(render_openai(system, messages))
    assert len(expected) == len(messages) + bool(system)
    for render in (render_openai_with_response, render_anthropic, render_sharegpt, render_otel):
        assert ids_of(render(system, messages)) == expected
    if not system and not any("call" in message or message["role"] == "tool" for message in messages):
        for render in (render_wildchat, render_lmsys, render_oasst):
            assert ids_of(render(messages)) == expected


@given(talks())
def test_no_text_call_or_answer_is_lost_in_any_format(talk):
    system, messages = talk
    for render in (render_openai, render_openai_with_response, render_anthropic, render_sharegpt, render_otel):
        turns = turns_of(render(system, messages))
        said = [turn.message for turn in turns if turn.message.role != "system"]
        assert [message.text for message in said] == [message.get("text", "") for message in messages]
        called = [(call.name, orjson.loads(call.arguments)) for message in said for call in message.tool_calls]
        assert called == [message["call"][1:] for message in messages if "call" in message]
        assert not any("orphan_tool_call" in message.flags for message in said)


@given(st.binary(max_size=200))
def test_an_image_is_the_same_content_inline_in_every_format(pixels):
    encoded = base64.b64encode(pixels + b"!").decode()
    url = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{encoded}"}}
    source = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": encoded}}
    blob = {"type": "blob", "modality": "image", "mime_type": "image/png", "content": encoded}
    entries = [
        {"messages": [{"role": "user", "content": [url]}]},
        {"messages": [{"role": "user", "content": [source]}]},
        {"attributes": {"gen_ai.input.messages": [{"role": "user", "parts": [blob]}]}},
    ]
    found = {(turn.turn_id, repr(turn.message.parts)) for entry in entries for turn in turns_of(entry)}
    assert len(found) == 1


def check_items(value, headers):
    items = parse_record(value, headers, KEY)
    assert items
    assert parse_record(value, headers, KEY) == items
    places = [(item.entry, item.position) for item in items]
    assert len(set(places)) == len(places)
    for item in items:
        if isinstance(item, Rejection):
            assert item.reason != "internal_error", item.detail
        if isinstance(item, Turn):
            item.message.text.encode()
            assert "\0" not in item.message.text


any_headers = st.dictionaries(
    st.sampled_from(["turnmill-tenant", "turnmill-user", "turnmill-consent", "turnmill-format", "turnmill-stream"]),
    st.binary(max_size=8) | st.sampled_from([b"training", b"none", *(name.encode() for name in FORMAT_OF_NAME)]),
    max_size=3,
)


@given(st.binary(max_size=200), any_headers)
def test_arbitrary_bytes_never_raise(value, headers):
    check_items(value, headers)


FIELD_NAMES = [
    *("messages", "role", "content", "request", "response", "choices", "message", "tool_calls", "function", "name"),
    *("arguments", "type", "text", "system", "conversations", "conversation", "from", "value", "human", "assistant"),
    *("message_tree_id", "prompt", "replies", "attributes", "gen_ai.input.messages", "gen_ai.output.messages", "parts"),
    *("feedback", "kind", "id", "source", "data", "input", "openai_moderation", "conversation_id", "image_url", "url"),
    *("stop_reason", "tool_use_id", "events", "key", "stringValue", "arrayValue", "values", "consent", "metadata"),
]
FIELD_VALUES = [
    *("user", "assistant", "tool", "system", "human", "gpt", "function_call", "text", "tool_use", "tool_result"),
    *("image", "thinking", "image_url", "message", "gen_ai.x", "thumb", "training", "data:,x", "[{", "{}", "\ud800"),
]
chat_like_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(FIELD_VALUES),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(FIELD_NAMES), inner, max_size=5),
    max_leaves=25,
)


@settings(max_examples=150)
@given(chat_like_json, any_headers)
def test_arbitrary_json_made_of_our_field_names_never_raises(value, headers):
    check_items(json.dumps(value).encode(), headers)


@given(
    st.lists(st.sampled_from([b'{"messages":[{"role":"user","content":"a"}]}', b"{", b"7", b"\xff", b"{}"]), min_size=1)
)
def test_every_line_of_json_lines_is_accounted_for(lines):
    items = parse_record(b"\n".join(lines), {}, KEY)
    if any(line.startswith(b'{"messages"') for line in lines):
        assert [item.entry for item in items] == list(range(len(lines)))
    else:
        assert len(items) == 1
