"""What holds for every input: no exception, no lost item; an image is one content in all formats."""

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


def turns_of(entry):
    items = parse_record(orjson.dumps(entry), HEADERS, KEY)
    assert not [item for item in items if isinstance(item, Rejection)]
    return items


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
