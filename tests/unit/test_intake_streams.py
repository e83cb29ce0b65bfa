"""Pieces of streamed answers: joined, they read as the whole response does, however the stream was cut."""

import itertools
import json
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.intake.formats import FORMATS, matching_formats
from pipelines.intake.identity import IdentityKey
from pipelines.intake.parse import parse_record
from pipelines.intake.shape import BadShape
from pipelines.intake.stream_formats import STREAM_FORMATS, stream_format_of
from pipelines.intake.streams import anthropic_events, openai_chunks, otel_message_events, responses_events
from pipelines.intake.streams.grouping import group_pieces
from pipelines.intake.streams.server_sent_events import sse_events
from pipelines.intake.streams.streamed_response import join_streamed_response

SHARED = Path(__file__).resolve().parents[2].parent / "shared"

texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=30)
words = st.from_regex(r"[a-z_]{1,8}", fullmatch=True)
arguments = st.dictionaries(words, st.integers(-9, 9) | texts, max_size=3).map(
    lambda value: orjson.dumps(value).decode()
)


def talk_of(entry):
    (log_format,) = matching_formats(entry)
    return log_format.read(entry)


def parsed(entry):
    return orjson.loads(orjson.dumps(entry))


def cut(draw, text):
    """Return the text in pieces, some of them empty."""
    places = sorted(draw(st.lists(st.integers(0, len(text)), max_size=4)))
    return [text[start:end] for start, end in itertools.pairwise([0, *places, len(text)])]


def chunk(delta, index=0, finish=None, **fields):
    choice = {"index": index, "delta": delta, "finish_reason": finish}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 7,
        "model": "m",
        "choices": [choice],
        **fields,
    }


@st.composite
def completions(draw):
    """Return (chat completion, its chunks)."""
    choices, queues = [], []
    for index in range(draw(st.integers(1, 3))):
        message = {"role": "assistant", "content": draw(st.none() | texts)}
        deltas = [{"role": "assistant", "content": ""}] if message["content"] is not None else [{"role": "assistant"}]
        if thought := draw(texts):
            message["reasoning_content"] = thought
            deltas += [{"reasoning_content": piece} for piece in cut(draw, thought)]
        if message["content"] is not None:
            deltas += [{"content": piece} for piece in cut(draw, message["content"])]
        if refusal := draw(st.just("") | texts):
            message["refusal"] = refusal
            deltas += [{"refusal": piece} for piece in cut(draw, refusal)]
        calls = []
        for number in range(draw(st.integers(0, 3))):
            function = {"name": draw(words), "arguments": draw(arguments)}
            calls.append({"id": f"call_{number}", "type": "function", "function": function})
            at = draw(st.sampled_from([0, number]))
            first, *rest = cut(draw, function["arguments"])
            deltas.append({"tool_calls": [{**calls[-1], "index": at, "function": {**function, "arguments": first}}]})
            for piece in rest:
                deltas.append({"tool_calls": [{"index": at, "id": None, "function": {"arguments": piece}}]})
        if calls:
            message["tool_calls"] = calls
        reason = draw(st.sampled_from(["stop", "length", "tool_calls"]))
        choices.append({"index": index, "message": message, "finish_reason": reason})
        queues.append([chunk(delta, index) for delta in deltas] + [chunk({}, index, reason)])
    chunks = []
    while any(queues):
        chunks.append(draw(st.sampled_from([queue for queue in queues if queue])).pop(0))
    if draw(st.booleans()):
        chunks.append({**chunk({}), "choices": [], "usage": {"total_tokens": 3}})
    whole = {"id": "chatcmpl-1", "object": "chat.completion", "created": 7, "model": "m", "choices": choices}
    return whole, chunks


@given(completions())
def test_a_chat_stream_reads_like_the_whole_response_however_it_is_cut(stream):
    whole, chunks = stream
    assert openai_chunks.is_whole(chunks)
    assert talk_of(parsed(openai_chunks.join(chunks))) == talk_of(whole)


@given(completions(), st.data())
def test_a_chat_stream_that_was_cut_off_is_never_whole_and_is_flagged(stream, data):
    whole, chunks = stream
    ends = [place for place, piece in enumerate(chunks) if piece["choices"] and piece["choices"][0]["finish_reason"]]
    kept = chunks[: data.draw(st.sampled_from(ends))]
    if len({piece["choices"][0]["index"] for piece in kept}) == len(whole["choices"]):
        assert not openai_chunks.is_whole(kept)
        flags = [message.flags for message in talk_of(openai_chunks.join(kept)).messages]
        assert any("stream_incomplete" in found for found in flags)


def test_a_stream_without_its_first_chunk_is_not_whole():
    assert not openai_chunks.is_whole([chunk({"content": "b"}), chunk({}, finish="stop")])


def test_case_a_delta_without_id_goes_on_the_call_at_its_index():
    file = SHARED / "cases" / "curation.jsonl"
    if not file.exists():
        pytest.skip("the curation cases are not here")
    rows = [json.loads(line) for line in file.read_bytes().split(b"\n") if line]
    (case,) = [row for row in rows if row["kind"] == "stream_delta_without_id"]
    joined = openai_chunks.join([chunk({"tool_calls": [piece]}) for piece in case["input"]["chunks"]])
    (message,) = talk_of(joined).messages
    found = [{"id": call.id, "arguments": call.arguments} for call in message.tool_calls]
    assert found == case["expected"]["tool_calls"]


def test_a_new_id_at_the_same_index_starts_a_new_call():
    pieces = [
        {"index": 0, "id": "a", "function": {"name": "look", "arguments": '{"x":'}},
        {"index": 0, "id": "a", "function": {"name": "look", "arguments": "1}"}},
        {"index": 0, "id": "b", "function": {"name": "look", "arguments": "{}"}},
    ]
    (message,) = talk_of(openai_chunks.join([chunk({"tool_calls": [piece]}) for piece in pieces])).messages
    found = [(call.id, call.name, call.arguments) for call in message.tool_calls]
    assert found == [("a", "look", '{"x":1}'), ("b", "look", "{}")]


def test_rarer_deltas_are_joined_too():
    pieces = [
        chunk({"role": "assistant", "audio": {"id": "au_1", "transcript": "Good "}}),
        chunk({"audio": {"transcript": "day"}, "function_call": {"name": "look", "arguments": "{"}}),
        chunk({"reasoning": "hm", "function_call": {"arguments": "}"}}, finish="function_call"),
    ]
    (message,) = talk_of(openai_chunks.join(pieces)).messages
    assert (message.text, message.reasoning, message.finish_reason) == ("Good day", "hm", "function_call")
    assert [(call.id, call.name, call.arguments) for call in message.tool_calls] == [(None, "look", "{}")]


def test_a_logger_own_fields_beside_the_pieces_survive_with_the_strictest_consent():
    pieces = [
        chunk({"role": "assistant", "content": "a"}, conversation_id="c1", consent="training"),
        chunk({"content": "b"}, finish="stop", user_id="ada", consent="none"),
    ]
    joined = openai_chunks.join(pieces)
    assert (joined["conversation_id"], joined["user_id"], joined["consent"]) == ("c1", "ada", "none")
    assert openai_chunks.join([*pieces, chunk({}, consent="maybe")])["consent"] == "maybe"


@st.composite
def anthropic_messages(draw):
    """Return (message, its events)."""
    blocks, events = [], []
    for index in range(draw(st.integers(0, 4))):
        kind = draw(st.sampled_from(["text", "thinking", "tool_use", "redacted_thinking"]))
        if kind == "tool_use":
            loaded = draw(arguments)
            block = {"type": kind, "id": f"toolu_{index}", "name": draw(words), "input": orjson.loads(loaded)}
            start, deltas = {**block, "input": {}}, [("input_json_delta", "partial_json", loaded)]
        elif kind == "redacted_thinking":
            block = start = {"type": kind, "data": "x"}
            deltas = []
        else:
            block = {"type": kind, kind: draw(texts)}
            start, deltas = {**block, kind: ""}, [(f"{kind}_delta", kind, block[kind])]
        blocks.append(block)
        events.append({"type": "content_block_start", "index": index, "content_block": start})
        for delta_type, name, text in deltas:
            for piece in cut(draw, text):
                delta = {"type": delta_type, name: piece}
                events.append({"type": "content_block_delta", "index": index, "delta": delta})
        if kind == "thinking":
            delta = {"type": "signature_delta", "signature": "s"}
            events.append({"type": "content_block_delta", "index": index, "delta": delta})
        events.append({"type": "content_block_stop", "index": index})
        if draw(st.booleans()):
            events.append({"type": "ping"})
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": blocks}
    message["stop_reason"] = "end_turn"
    start = {**message, "content": [], "stop_reason": None}
    end = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 3}}
    return message, [{"type": "message_start", "message": start}, *events, end, {"type": "message_stop"}]


@given(anthropic_messages())
def test_an_anthropic_stream_reads_like_the_whole_message_however_it_is_cut(stream):
    whole, events = stream
    assert anthropic_events.is_whole(events)
    assert talk_of(parsed(anthropic_events.join(events))) == talk_of(whole)
    assert not anthropic_events.is_whole(events[1:])
    assert not anthropic_events.is_whole(events[:-1])


def test_an_anthropic_stream_without_its_end_is_flagged():
    start = {"type": "message_start", "message": {"id": "msg_1", "role": "assistant", "content": [], "model": "m"}}
    delta = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hal"}}
    (message,) = talk_of(anthropic_events.join([start, delta])).messages
    assert (message.text, message.flags) == ("Hal", ["stream_incomplete"])
    failed = [start, delta, {"type": "error", "error": {"type": "overloaded_error"}}]
    assert anthropic_events.is_whole(failed)
    assert talk_of(anthropic_events.join(failed)).messages == [message]


def test_tool_input_that_was_cut_stays_as_text():
    block = {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}}
    delta = {"type": "input_json_delta", "partial_json": '{"x": 12'}
    events = [
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
    ]
    (message,) = talk_of(anthropic_events.join(events)).messages
    assert message.tool_calls[0].arguments == '{"x": 12'


def test_a_delta_of_unknown_type_is_kept_as_an_unknown_part():
    events = [{"type": "content_block_delta", "index": 0, "delta": {"type": "drawing_delta", "strokes": "oo"}}]
    (message,) = talk_of(anthropic_events.join(events)).messages
    assert "unknown_part" in message.flags
    assert [part.type for part in message.parts] == ["other"]


def with_numbers(events):
    return [{**event, "sequence_number": number} for number, event in enumerate(events)]


def text_events(draw, name, field, text, place):
    events = [{"type": f"response.{name}.delta", **place, "delta": piece} for piece in cut(draw, text)]
    return [*events, {"type": f"response.{name}.done", **place, field: text}] if draw(st.booleans()) else events


@st.composite
def responses(draw):
    """Return (response, its events but the last one): some end each text and item, some leave that to the deltas."""
    output, events = [], []
    for index in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from(["message", "function_call", "reasoning"]))
        item = {"id": f"it_{index}", "type": kind}
        place = {"item_id": item["id"], "output_index": index}
        if kind == "message":
            said = draw(st.lists(texts, min_size=1, max_size=2))
            start = {**item, "role": "assistant", "content": []}
            item = {**start, "content": [{"type": "output_text", "text": text} for text in said]}
            told = [
                event
                for number, text in enumerate(said)
                for event in text_events(draw, "output_text", "text", text, {**place, "content_index": number})
            ]
        elif kind == "reasoning":
            text = draw(texts)
            start = {**item, "summary": []}
            item = {**start, "summary": [{"type": "summary_text", "text": text}]}
            told = text_events(draw, "reasoning_summary_text", "text", text, {**place, "summary_index": 0})
        else:
            start = {**item, "call_id": f"call_{index}", "name": draw(words), "arguments": ""}
            item = {**start, "arguments": draw(arguments)}
            told = text_events(draw, "function_call_arguments", "arguments", item["arguments"], place)
        output.append(item)
        events += [{"type": "response.output_item.added", "output_index": index, "item": start}, *told]
        if draw(st.booleans()):
            events.append({"type": "response.output_item.done", "output_index": index, "item": item})
    response = {"id": "resp_1", "object": "response", "created_at": 7, "model": "m", "status": "completed"}
    begun = {**response, "status": "in_progress", "output": []}
    whole = {**response, "output": output}
    return whole, with_numbers([{"type": "response.created", "response": begun}, *events])


@given(responses(), st.randoms(use_true_random=False))
def test_a_responses_stream_without_its_end_reads_like_the_response_in_any_order(stream, random):
    whole, events = stream
    expected = talk_of({**whole, "status": None})
    assert not responses_events.is_whole(events)
    assert talk_of(parsed(responses_events.join(events))) == expected
    shuffled = events * 2
    random.shuffle(shuffled)
    assert talk_of(responses_events.join(shuffled)) == expected


@given(responses())
def test_a_responses_stream_with_its_end_reads_like_the_response(stream):
    whole, events = stream
    for response in (whole, {**whole, "output": []}):
        end = {"type": "response.completed", "sequence_number": len(events), "response": response}
        assert responses_events.is_whole([*events, end])
        assert talk_of(responses_events.join([*events, end])) == talk_of(whole)
        assert talk_of(end).messages == talk_of(response).messages


def test_an_end_names_all_keys_that_its_pieces_may_have():
    output = [{"id": "rs_1", "type": "reasoning"}, {"id": "msg_1", "type": "message", "role": "assistant"}, 7]
    end = {"type": "response.completed", "response": {"id": "resp_1", "object": "response", "output": output}}
    assert responses_events.keys_closed_by(end) == ["resp_1", "rs_1", "msg_1"]
    assert responses_events.keys_closed_by({"type": "response.created", "response": {"id": "resp_1"}}) == []


def test_events_without_numbers_or_indices_count_as_they_come():
    events = [
        {"type": "response.reasoning_summary_text.delta", "delta": "hm"},
        {"type": "response.output_text.delta", "item_id": "msg_1", "delta": "Hel"},
        {"type": "response.output_text.delta", "item_id": "msg_1", "delta": "lo"},
        {"type": "response.refusal.delta", "item_id": "msg_1", "content_index": 1, "delta": "No."},
    ]
    (message,) = talk_of(responses_events.join(events)).messages
    assert (message.text, message.reasoning) == ("Hello\nNo.", "hm")
    assert message.flags == ["refusal", "stream_incomplete"]


def otel(name, body, **fields):
    return {"event_name": name, "trace_id": "t", "span_id": "s", "body": body, "attributes": {}, **fields}


def otel_call():
    call = {"id": "c1", "type": "function", "function": {"name": "w", "arguments": '{"city":"Oslo"}'}}
    events = [
        otel("gen_ai.system.message", {"content": "Be brief"}, timestamp="2026-01-01T00:00:00Z"),
        otel("gen_ai.user.message", {"content": "Weather?"}, timestamp="2026-01-01T00:00:01Z"),
        otel("gen_ai.assistant.message", {"tool_calls": [call]}, timestamp="2026-01-01T00:00:02Z"),
        otel("gen_ai.tool.message", {"id": "c1", "content": "rain"}, timestamp="2026-01-01T00:00:03Z"),
        otel(
            "gen_ai.choice",
            {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Rain."}},
            timestamp="2026-01-01T00:00:04Z",
        ),
    ]
    events[-1]["attributes"] = {"gen_ai.system": "openai", "gen_ai.response.id": "chatcmpl-1"}
    messages = [
        {"role": "system", "content": "Be brief"},
        {"role": "user", "content": "Weather?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "rain"},
    ]
    choice = {"index": 0, "message": {"role": "assistant", "content": "Rain."}, "finish_reason": "stop"}
    return events, {"request": {"messages": messages}, "response": {"id": "chatcmpl-1", "choices": [choice]}}


def said_in(talk):
    return [
        (message.role, message.text, message.tool_calls, message.tool_call_id, message.parent)
        for message in talk.messages
    ]


@given(st.permutations(range(5)))
def test_old_otel_events_in_any_order_say_what_the_chat_format_says(order):
    events, chat = otel_call()
    shuffled = [events[place] for place in order]
    joined = otel_message_events.join(shuffled)
    assert otel_message_events.is_whole(shuffled)
    assert said_in(talk_of(joined)) == said_in(talk_of(chat))
    reply = talk_of(joined).messages[-1]
    assert (reply.response_id, reply.finish_reason) == ("chatcmpl-1", "stop")
    assert reply.created_at.isoformat() == "2026-01-01T00:00:04+00:00"


def test_old_otel_events_are_whole_with_a_question_and_an_end_for_each_choice():
    events, _ = otel_call()
    assert not otel_message_events.is_whole(events[:-1])
    assert not otel_message_events.is_whole(events[-1:])
    other = otel("gen_ai.choice", {"index": 1, "message": {"content": "Sn"}})
    assert not otel_message_events.is_whole([*events, other])
    assert otel_message_events.key(events[0]) == otel_message_events.key({"traceId": "t", "spanId": "s"}) == "t:s"


def otlp(value):
    if isinstance(value, dict):
        return {"kvlistValue": {"values": [{"key": key, "value": otlp(inner)} for key, inner in value.items()]}}
    if isinstance(value, list):
        return {"arrayValue": {"values": [otlp(item) for item in value]}}
    return {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value}


def test_old_otel_events_read_the_same_in_all_their_forms():
    events, chat = otel_call()
    forms = {
        "otlp": [
            {
                "traceId": "t",
                "spanId": "s",
                "body": otlp(event["body"]),
                "attributes": [{"key": "event.name", "value": {"stringValue": event["event_name"]}}],
            }
            for event in events
        ],
        "json": [
            {"name": event["event_name"], "attributes": {"gen_ai.event.content": orjson.dumps(event["body"]).decode()}}
            for event in events
        ],
        "fields": [
            {
                "name": event["event_name"],
                "attributes": {
                    key: orjson.dumps(value).decode() if isinstance(value, (list, dict)) else value
                    for key, value in event["body"].items()
                },
            }
            for event in events
        ],
    }
    for form in forms.values():
        assert all(otel_message_events.matches(event) for event in form)
        assert said_in(talk_of(otel_message_events.join(form))) == said_in(talk_of(chat))
        span = {"trace_id": "t", "span_id": "s", "attributes": {"gen_ai.system": "openai"}, "events": form}
        assert said_in(talk_of(span)) == said_in(talk_of(chat))


def test_old_otel_events_without_captured_content_give_no_message():
    events = [otel(event["event_name"], {}) for event in otel_call()[0][:-1]]
    assert talk_of({**otel_message_events.join(events)}).messages == []


PIECES = {
    "openai_chunks": [chunk({"content": "a"}), {"choices": [{"delta": {}}]}, {**chunk({}), "choices": []}],
    "anthropic_events": [
        {"type": "message_start", "message": {"id": "msg_1", "type": "message", "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "a"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
        {"type": "message_stop"},
        {"type": "ping"},
        {"type": "error", "error": {"type": "overloaded_error"}},
    ],
    "responses_events": [
        {"type": "response.created", "response": {"id": "resp_1", "object": "response", "output": []}},
        {"type": "response.output_text.delta", "item_id": "msg_1", "delta": "a"},
        {"type": "response.completed"},
        {"type": "error", "sequence_number": 3, "message": "m"},
    ],
    "otel_message_events": [
        *otel_call()[0],
        {"attributes": {"event.name": "gen_ai.choice", "gen_ai.system": "openai"}, "body": {}},
        {"attributes": [{"key": "event.name", "value": {"stringValue": "gen_ai.choice"}}]},
    ],
}
LOGS = [
    {"messages": [{"role": "user", "content": "hi"}]},
    {"choices": [{"index": 0, "message": {"role": "assistant", "content": "a"}, "finish_reason": "stop"}]},
    {"type": "message", "role": "assistant", "content": [], "stop_reason": "end_turn"},
    {"type": "response.completed", "response": {"object": "response", "output": []}},
    {"object": "response", "output": []},
    {"name": "chat m", "span_id": "s", "attributes": {"gen_ai.system": "openai"}},
]


@pytest.mark.parametrize(("name", "piece"), [(name, piece) for name, pieces in PIECES.items() for piece in pieces])
def test_a_piece_is_of_one_stream_format_and_of_no_log_format(name, piece):
    assert [stream_format.NAME for stream_format in STREAM_FORMATS if stream_format.matches(piece)] == [name]
    assert [log_format.NAME for log_format in FORMATS if log_format.matches(piece)] == []
    assert name == stream_format_of(piece).NAME


@pytest.mark.parametrize("entry", LOGS)
def test_a_log_entry_is_no_piece(entry):
    assert len(matching_formats(entry)) == 1
    assert stream_format_of(entry) is None


FIELDS = sorted(
    {
        *(
            "type",
            "object",
            "choices",
            "index",
            "delta",
            "finish_reason",
            "id",
            "role",
            "content",
            "tool_calls",
            "audio",
        ),
        *("function", "arguments", "message", "content_block", "error", "response", "item", "item_id", "output_index"),
        *(
            "sequence_number",
            "content_index",
            "part",
            "text",
            "body",
            "attributes",
            "event_name",
            "timestamp",
            "output",
        ),
        *("consent", "partial_json", "kvlistValue", "event.name", "name", "summary_index", "status"),
    }
)
VALUES = [
    *("chat.completion.chunk", "message_start", "content_block_delta", "message_delta", "text_delta", "assistant"),
    *("response.created", "response.output_text.delta", "response.output_item.added", "response.completed", "message"),
    *("response.function_call_arguments.done", "response.content_part.done", "gen_ai.choice", "gen_ai.user.message"),
    *("function_call", "input_json_delta", "none", "[{", "{}", "\ud800"),
]
odd_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | st.sampled_from(VALUES),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=5),
    max_leaves=15,
)


@given(st.lists(st.dictionaries(st.sampled_from(FIELDS), odd_json, max_size=6), max_size=4))
def test_odd_pieces_are_refused_but_never_a_fault(entries):
    for stream_format in STREAM_FORMATS:
        for entry in entries:
            stream_format.matches(entry)
            stream_format.key(entry)
            stream_format.names_stream(entry)
            stream_format.keys_closed_by(entry)
        stream_format.is_whole(entries)
        try:
            joined = stream_format.join(entries)
        except BadShape:
            continue
        assert isinstance(joined, dict)
    for group in group_pieces(entries):
        assert group.pieces == [entries[place] for place in group.indices]


def shown(groups):
    return [(group.stream_format.NAME, group.key, group.indices, group.is_whole) for group in groups]


def test_pieces_are_grouped_by_the_answer_that_they_belong_to():
    first, other = chunk({"role": "assistant", "content": "a"}), {**chunk({"role": "assistant"}), "id": "chatcmpl-2"}
    entries = [{**first, "id": ""}, first, None, other, LOGS[0], chunk({}, finish="stop")]
    assert shown(group_pieces(entries)) == [
        ("openai_chunks", "chatcmpl-1", [0, 1, 5], True),
        ("openai_chunks", "chatcmpl-2", [3], False),
    ]


def test_anthropic_events_belong_to_the_message_that_began_before_them():
    start, *rest = PIECES["anthropic_events"]
    delta, stop = rest[1], {"type": "message_stop"}
    second = {"type": "message_start", "message": {"id": "msg_2", "role": "assistant"}}
    assert shown(group_pieces([delta, start, delta, stop, second, delta])) == [
        ("anthropic_events", None, [0], False),
        ("anthropic_events", "msg_1", [1, 2, 3], True),
        ("anthropic_events", "msg_2", [4, 5], False),
    ]


@given(responses(), st.randoms(use_true_random=False))
def test_events_of_one_response_are_one_group_in_any_order(stream, random):
    whole, events = stream
    end = {"type": "response.completed", "sequence_number": len(events), "response": whole}
    shuffled = [*events, end]
    random.shuffle(shuffled)
    (group,) = group_pieces(shuffled)
    assert group.is_whole
    assert group.key == "resp_1"
    assert sorted(group.indices) == list(range(len(shuffled)))
    assert talk_of(group.stream_format.join(group.pieces)) == talk_of(whole)


def test_two_responses_in_one_record_stay_apart():
    events = []
    for name in ("a", "b"):
        events.append({"type": "response.created", "response": {"id": f"resp_{name}", "object": "response"}})
        events.append({"type": "response.output_text.delta", "item_id": f"msg_{name}", "delta": name})
    groups = group_pieces(events)
    assert shown(groups) == [
        ("responses_events", "resp_a", [0, 1], False),
        ("responses_events", "resp_b", [2, 3], False),
    ]
    end = {"type": "response.completed", "response": {"id": "resp_c", "object": "response", "output": []}}
    assert group_pieces([*events, end]) == groups


def test_an_end_mark_ends_the_chat_stream_of_its_record():
    cut_off = [chunk({"role": "assistant", "content": "a"})]
    assert not group_pieces(cut_off)[0].is_whole
    assert group_pieces(cut_off, is_closed=True)[0].is_whole
    assert not group_pieces([{"type": "ping"}], is_closed=True)[0].is_whole


def sse_text(payloads, end="\n", closed=True):
    lines = [": keep-alive", "retry: 10", ""]
    for number, payload in enumerate(payloads):
        lines += [f"id: {number}", "event: message", *(f"data: {line}" for line in payload.split("\n")), ""]
    return end.join([*lines, *(["data: [DONE]", ""] if closed else [])]).encode()


@given(
    st.lists(st.from_regex(r"\{[a-z:, \n]{0,12}\n", fullmatch=True), min_size=1, max_size=4),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.booleans(),
)
def test_server_sent_events_give_back_their_data_whatever_their_line_ends(payloads, end, closed):
    found = sse_events(sse_text(payloads, end, closed))
    assert found.payloads == [payload.encode() for payload in payloads]
    assert found.is_closed is closed


@pytest.mark.parametrize(
    ("text", "payloads"),
    [
        (b"data:a\n\ndata: a\n\ndata:  a\n\n", [b"a", b"a", b" a"]),
        (b"\xef\xbb\xbfdata: a", [b"a"]),
        (b"data\n\ndata: a\n\n", [b"a"]),
        (b'data: {"a":1}\ndata: {"b":2}\ndata: [DONE]', [b'{"a":1}', b'{"b":2}']),
        (b'data: {"a":\ndata: 1}\n\n', [b'{"a":\n1}']),
        (b"event: ping\n\ndata: a\n\n", [b"a"]),
    ],
)
def test_lines_are_read_as_the_standard_says_and_lost_empty_lines_are_forgiven(text, payloads):
    assert sse_events(text).payloads == payloads


@pytest.mark.parametrize(
    "text", [b"", b"{}", b'{"data": 1}', b"data", b"event: a\n\n", b": comment", b"data: a\nhello", b"hello\ndata: a"]
)
def test_other_text_is_not_taken_for_server_sent_events(text):
    assert sse_events(text) is None


@pytest.mark.parametrize("mark", [b"data: [DONE]\n\n", b"data: [DONE]", b"event: end\nid: 1\ndata: [DONE]\r\n"])
def test_an_end_mark_alone_is_a_rejection_and_not_nothing(mark):
    (item,) = parse_record(mark, {}, IdentityKey(bytes(range(32))))
    assert item.reason == "no_messages"


@given(completions())
def test_a_stream_in_place_of_a_response_is_joined_from_text_or_list(stream):
    whole, chunks = stream
    lines = [orjson.dumps(piece).decode() for piece in chunks]
    for streamed in (sse_text(lines), sse_text(lines, closed=False), "\n".join(lines), chunks):
        streamed = streamed.decode() if isinstance(streamed, bytes) else streamed
        assert talk_of(join_streamed_response(streamed)) == talk_of(whole)


@pytest.mark.parametrize("streamed", ["Hello", "", [], [7], [{"a": 1}], 'data: {"a":1}', [*PIECES["openai_chunks"], 7]])
def test_what_is_no_streamed_answer_is_refused_as_a_response(streamed):
    with pytest.raises(BadShape):
        join_streamed_response(streamed)
