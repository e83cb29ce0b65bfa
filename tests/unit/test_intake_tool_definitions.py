"""Tool definitions of requests: one form whatever the API, on the answers alone, and never at the cost of the talk."""

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.intake.identity import IdentityKey
from pipelines.intake.items import Rejection, Turn
from pipelines.intake.parse import parse_record
from pipelines.intake.readers.exchange import read_exchange
from pipelines.intake.tool_definitions import tool_definitions

KEY = IdentityKey(bytes(range(32)))
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
FLAT = {"name": "weather", "description": "Weather of a city.", "parameters": SCHEMA}
WEATHER = {"type": "function", "function": FLAT}
ASKED = {"role": "user", "content": "Rain in Oslo?"}
ANSWER = {"role": "assistant", "content": "No."}
REPLY = {"choices": [{"message": ANSWER, "finish_reason": "stop"}]}
REQUEST = {"model": "m", "messages": [ASKED]}
ANTHROPIC = {"name": "weather", "description": "Weather of a city.", "input_schema": SCHEMA}
LOGS = {
    "openai": {"request": {**REQUEST, "tools": [WEATHER]}, "response": REPLY},
    "openai functions": {"request": {**REQUEST, "functions": [FLAT]}, "response": REPLY},
    "openai training file": {"messages": [ASKED, ANSWER], "tools": [WEATHER]},
    "anthropic": {
        "request": {**REQUEST, "tools": [ANTHROPIC, {"type": "web_search_20250305", "name": "web_search"}]},
        "response": {"type": "message", "content": [{"type": "text", "text": "No."}], "stop_reason": "end_turn"},
    },
    "responses": {
        "request": {"model": "m", "input": "Rain in Oslo?", "tools": [{"type": "function", "strict": True, **FLAT}]},
        "response": {
            "object": "response",
            "output": [
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "No."}]}
            ],
        },
    },
    "responses, told by the answer": {
        "object": "response",
        "tools": [{"type": "function", **FLAT}],
        "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "No."}]}],
    },
    "opentelemetry": {
        "attributes": {
            "gen_ai.input.messages": [{"role": "user", "parts": [{"type": "text", "content": "Rain in Oslo?"}]}],
            "gen_ai.output.messages": [{"role": "assistant", "parts": [{"type": "text", "content": "No."}]}],
            "gen_ai.tool.definitions": orjson.dumps([{"type": "function", **FLAT}]).decode(),
        }
    },
    "sharegpt": {
        "conversations": [{"from": "human", "value": "Rain in Oslo?"}, {"from": "gpt", "value": "No."}],
        "tools": orjson.dumps([FLAT]).decode(),
    },
    "litellm": {
        "call_type": "acompletion",
        "messages": [ASKED],
        "response": REPLY,
        "model_parameters": {"tools": [WEATHER]},
    },
    "an agent's steps": {
        "request_body": {**REQUEST, "tools": [WEATHER]},
        "response_body": {"messages": [ANSWER]},
    },
}  # fmt: skip


def turns_of(entry):
    items = parse_record(orjson.dumps(entry), {}, KEY)
    assert not [item for item in items if isinstance(item, Rejection)], items
    return [item for item in items if isinstance(item, Turn)]


@pytest.mark.parametrize("name", [name for name in LOGS if name != "an agent's steps"])
def test_each_api_gives_the_answer_the_same_definitions(name):
    *asked, answer = turns_of(LOGS[name])
    assert orjson.loads(answer.message.tools) == [WEATHER]
    assert all(turn.message.tools is None for turn in asked)


def test_the_steps_of_an_agent_have_the_tools_of_its_request():
    log = LOGS["an agent's steps"]
    talk = read_exchange(log["request_body"], log["response_body"])
    assert [message.tools is not None for message in talk.messages] == [False, True]


def test_ids_of_turns_do_not_depend_on_tools():
    bare = {"request": REQUEST, "response": REPLY}
    assert [t.turn_id for t in turns_of(bare)] == [t.turn_id for t in turns_of(LOGS["openai"])]


@pytest.mark.parametrize(
    "logged",
    [
        None, "weather", "[broken", 7, {}, [], [7], [{"type": "web_search"}], [{"function": {"name": ""}}],
        [{"type": "custom", "custom": {"name": "shell"}}], [{"type": "custom", "name": "shell", "format": {}}],
    ],
)  # fmt: skip
def test_what_is_no_function_gives_no_definition_and_costs_no_talk(logged):
    assert tool_definitions(logged) is None
    turns = turns_of({"request": {**REQUEST, "tools": logged}, "response": REPLY})
    assert [turn.message.tools for turn in turns] == [None, None]


def test_lone_surrogates_in_definitions_are_repaired_like_any_text():
    raw = orjson.dumps({"request": {**REQUEST, "tools": [WEATHER]}, "response": REPLY})
    *_, answer = parse_record(raw.replace(b"Weather of", b"Weather\\ud800 of"), {}, KEY)
    assert orjson.loads(answer.message.tools)[0]["function"]["description"] == "Weather\ufffd of a city."


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["name", "type", "function", "parameters", "input_schema", "description"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(json_values)
def test_definitions_are_functions_with_names_or_nothing(logged):
    told = tool_definitions(logged)
    for one in orjson.loads(told) if told else []:
        assert one["type"] == "function" and one["function"]["name"]
        assert set(one["function"]) <= {"name", "description", "parameters"}


@given(json_values)
def test_reading_definitions_again_changes_nothing(logged):
    told = tool_definitions(logged)
    assert told is None or tool_definitions(told) == told
