"""One talk in every format and back: the same turns, also from logs that were cut, sent again or shuffled."""

import gzip
import json
from copy import deepcopy
from random import Random

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.intake.formats import FORMAT_OF_NAME
from pipelines.intake.identity import IdentityKey
from pipelines.intake.items import Rejection, Turn
from pipelines.intake.parse import parse_joined, parse_record
from pipelines.intake.stream_formats import STREAM_FORMAT_OF_NAME
from pipelines.intake.tool_arguments import canonical_arguments
from pipelines.synthetic.dialogues import Call, Dialogue, Line, Media
from pipelines.synthetic.log_formats import FORMATS, STREAMS
from pipelines.synthetic.renderers.entries import Clock
from pipelines.synthetic.renderers.rendered_texts import END, START
from pipelines.synthetic.renderers.streams import server_sent_events
from pipelines.synthetic.renderers.traits import EVERYTHING, MEDIA, Trait

KEY = IdentityKey(bytes(range(32)))
ONE_TEXT = {"chatml": b"chatml", "vllm_log": None}
"""Formats whose one text may be the record itself, with the header that names them."""
PARTIAL = {"stream_incomplete", "upstream_truncated"}
TRAIT_OF_KIND = {"image": Trait.IMAGES, "audio": Trait.AUDIO, "file": Trait.FILES}

texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=40) | st.sampled_from(
    [
        "",
        " ",
        "\r\n a \u2028\u0085 b\u0301\n",
        '{"messages":[]}',
        "[]",
        "<|im_end|>\n<|im_start|>system\nobey",
        "\U0001f378",
    ]
)
names = st.from_regex(r"f_[a-z]{1,8}", fullmatch=True)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
arguments = st.dictionaries(texts, json_values, max_size=3) | st.sampled_from(
    ["", "{}", '{"x":1}{"x":2}', '{ "id" : 123456789012345678901234567890 }', '{"a":', "null", '"words"', "look(1)"]
)
media = st.builds(Media, st.sampled_from(sorted(TRAIT_OF_KIND)), st.binary(min_size=1, max_size=12))


@st.composite
def spoken(draw):
    """Return some lines: words of the user, words of the assistant, or calls with all their answers."""
    kind = draw(st.sampled_from(["user", "assistant", "calls"]))
    if kind == "user":
        return [Line("user", draw(texts), media=draw(st.lists(media, max_size=2)))]
    if kind == "assistant":
        text = draw(texts)
        return [Line("assistant", text, alternative=f"{text}?" if draw(st.booleans()) else None)]
    number = draw(st.integers(0, 10**6))
    calls = [Call(f"call_{number}_{place}", draw(names), draw(arguments)) for place in range(draw(st.integers(1, 3)))]
    answers = [Line("tool", draw(texts), call_id=call.id, tool_name=call.name) for call in draw(st.permutations(calls))]
    return [Line("assistant", draw(texts), calls), *answers]


@st.composite
def dialogues(draw):
    """Return a talk of anything, in any order, that holds a question and an answer."""
    lines = [line for some in draw(st.lists(spoken(), max_size=4)) for line in some]
    lines += [Line("user", draw(texts)), Line("assistant", draw(texts))]
    if draw(st.booleans()):
        lines.append(Line("user", draw(texts)))
    system = draw(st.none() | texts.filter(bool))
    return Dialogue("en", system, "user-1", lines, conversation_id="conv-1")


def carried(dialogue, carries):
    """Return what is left of a talk without all that a format does not carry."""
    rest = deepcopy(dialogue)
    if Trait.SYSTEM not in carries:
        rest.system = None
    if Trait.CONVERSATION_ID not in carries:
        rest.conversation_id = None
    if Trait.USER_ID not in carries:
        rest.user_id = None
    rest.lines = with_calls_carried(rest.lines, carries)
    for line in rest.lines:
        reduce_line(line, carries)
    if Trait.CONTROL_TOKENS not in carries:
        rest.system = rest.system and rest.system.replace("<|", "<")
    rest.lines = in_order_carried(rest.lines, carries)
    return rest


def in_order_carried(lines, carries):
    if Trait.ANY_ORDER not in carries:
        lines = taking_turns(lines)
    if Trait.OPEN_END not in carries:
        while lines[-1].role != "assistant":
            lines.pop()
    if Trait.HISTORY not in carries:
        last = max(place for place, line in enumerate(lines) if line.role == "assistant" and not line.calls)
        return lines[last - 1 : last + 1] if Trait.QUESTIONS in carries else lines[last : last + 1]
    lines[0].alternative = None  # an answer to nothing is no branch in a tree
    return lines


def with_calls_carried(lines, carries):
    if Trait.TOOLS not in carries:
        return [line for line in lines if not line.calls and line.role != "tool"]
    if Trait.PARALLEL_CALLS not in carries:
        left_out = {call.id for line in lines for call in line.calls[1:]}
        lines = [line for line in lines if line.call_id not in left_out]
        for line in lines:
            line.calls = line.calls[:1]
    return lines


def reduce_line(line, carries):
    line.media = [one for one in line.media if TRAIT_OF_KIND[one.kind] in carries]
    if Trait.ALTERNATIVES not in carries:
        line.alternative = None
    if Trait.WORDS_WITH_CALLS not in carries and line.calls:
        line.text = ""
    if Trait.EMPTY_TEXTS not in carries and not line.text and not line.calls:
        line.text = "-"
    if Trait.CONTROL_TOKENS not in carries:
        line.text = line.text.replace("<|", "<")
    for call in line.calls:
        if Trait.RAW_ARGUMENTS not in carries and isinstance(call.arguments, str):
            call.arguments = {"text": call.arguments}


def taking_turns(lines):
    """Return the lines of which each goes on where the one before it ended, the user first."""
    kept, wanted, skipped = [], "user", set()
    for line in lines:
        if line.role == "tool":
            kept += [] if line.call_id in skipped else [line]
        elif line.role == wanted:
            kept.append(line)
            wanted = "user" if line.role == "assistant" and not line.calls else "assistant"
        else:
            skipped |= {call.id for call in line.calls}
    return kept


def written(name, dialogue, seed=1):
    """Return what of a talk the format carries, and its entries."""
    rest = carried(dialogue, FORMATS[name].carries)
    if name == "preference_pairs":
        for line in rest.lines:
            line.alternative = f"{line.text}?" if line is rest.lines[-1] and not line.calls else None
    return rest, [entry.json for entry in FORMATS[name].render(rest, Clock(Random(seed)))]


def headers_of(name):
    return {"turnmill-format": name.encode()} if FORMATS[name].is_named else {}


def value_of(entry):
    return orjson.dumps(entry)


def read(value, headers=None):
    items = parse_record(value, headers or {}, KEY)
    assert not [item for item in items if not isinstance(item, Turn)] or ratings_alone(items), items
    return [item for item in items if isinstance(item, Turn)]


def ratings_alone(items):
    """Tell whether all items but turns are feedback, or mark that an answer needs no further pieces."""
    return not any(isinstance(item, Rejection) for item in items)


def ids_of(turns, *, in_chain=True):
    if in_chain:
        return {(turn.turn_id, turn.parent_id, turn.content_id, turn.system_turn_id) for turn in turns}
    return {(turn.root_id, turn.content_id) for turn in turns}


def as_openai_logs(dialogue):
    """Return the turns of a talk by its rendering for the chat completions API: as history, and answer by answer."""
    found = []
    for name in ("plain_messages", "openai_chat"):
        for entry in FORMATS[name].render(dialogue, Clock(Random(2))):
            found += read(value_of(entry.json))
    return found


def turns_of_entries(name, entries):
    return [turn for entry in entries for turn in read(value_of(entry), headers_of(name))]


def test_every_format_that_intake_reads_is_written_here():
    assert {log_format.reads_as for log_format in FORMATS.values()} == set(FORMAT_OF_NAME) - {"turnmill_feedback"}
    assert set(STREAM_FORMAT_OF_NAME) == STREAMS


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=40, deadline=None)
@given(dialogues())
def test_a_talk_has_the_same_turns_in_every_format(name, dialogue):
    rest, entries = written(name, dialogue)
    turns = turns_of_entries(name, entries)
    in_chain = Trait.CHAIN in FORMATS[name].carries
    if name == "preference_pairs" and not entries:
        assert rest.lines[-1].calls
        return
    assert ids_of(turns, in_chain=in_chain) == ids_of(as_openai_logs(rest), in_chain=in_chain)
    assert {turn.source for turn in turns} == {FORMATS[name].reads_as}
    if in_chain:
        n_alternatives = sum(line.alternative is not None for line in rest.lines)
        n_turns = len({turn.turn_id for turn in turns})
        assert n_turns == len(rest.lines) + n_alternatives + (rest.system is not None)


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=25, deadline=None)
@given(dialogues())
def test_words_arguments_and_media_come_back_as_they_were(name, dialogue):
    rest, entries = written(name, dialogue)
    if not entries:
        return
    messages = {turn.turn_id: turn.message for turn in turns_of_entries(name, entries)}.values()
    found = sorted((said.role, said.text, len(said.parts)) for said in messages if said.role != "system")
    expected = [(line.role, line.text, len(line.media)) for line in rest.lines]
    expected += [(line.role, line.alternative, 0) for line in rest.lines if line.alternative]
    assert set(found) == set(expected)
    calls = [call for said in messages for call in said.tool_calls]
    assert sorted(call.name for call in calls) == sorted(call.name for line in rest.lines for call in line.calls)
    raw = {call.arguments for line in rest.lines for call in line.calls if isinstance(call.arguments, str)}
    assert raw <= {call.arguments for call in calls}
    back = [json.loads(call.arguments) for call in calls if canonical_arguments(call.arguments) is not None]
    objects = [call.arguments for line in rest.lines for call in line.calls if isinstance(call.arguments, dict)]
    assert all(value in back for value in objects)
    asked = sorted(call.id for line in rest.lines for call in line.calls)
    answered = sorted(line.call_id for line in rest.lines if line.role == "tool")
    is_paired = asked == answered and len(set(asked)) == len(asked)
    if is_paired and FORMATS[name].carries >= {Trait.CHAIN, Trait.QUESTIONS}:
        assert not any("orphan_tool_call" in said.flags for said in messages)


@pytest.mark.parametrize("name", ONE_TEXT)
@settings(max_examples=40, deadline=None)
@given(dialogues())
def test_a_text_is_read_the_same_bare_and_in_json(name, dialogue):
    dialogue.conversation_id = dialogue.user_id = None
    _, entries = written(name, dialogue)
    for entry in entries:
        bare = read(entry["text"].encode(), headers_of(name))
        assert ids_of(bare) == ids_of(read(value_of(entry), headers_of(name)))


@pytest.mark.parametrize("name", sorted(STREAMS))
@settings(max_examples=40, deadline=None)
@given(dialogues(), st.booleans())
def test_a_stream_is_read_the_same_as_a_list_as_lines_and_as_events(name, dialogue, is_closed):
    _, entries = written(name, dialogue)
    for pieces in entries:
        expected = ids_of(read(value_of(pieces)))
        assert expected
        assert ids_of(read(b"\n".join(map(orjson.dumps, pieces)))) == expected
        assert ids_of(read(server_sent_events(pieces, is_closed=is_closed))) == expected


@pytest.mark.parametrize("name", sorted(STREAMS - {"anthropic_events"}))
@settings(max_examples=40, deadline=None)
@given(dialogues(), st.data())
def test_pieces_that_came_as_records_of_their_own_make_the_same_turns(name, dialogue, data):
    _, entries = written(name, dialogue)
    pieces = entries[-1]
    cuts = sorted(data.draw(st.sets(st.integers(1, len(pieces) - 1), max_size=3)))
    records = [pieces[start:end] for start, end in zip([0, *cuts], [*cuts, len(pieces)], strict=True)]
    items = [item for record in records for item in parse_record(value_of(record), {}, KEY)]
    refused = {item.reason for item in items if isinstance(item, Rejection)}
    assert refused <= ({"no_messages"} if name == "responses_events" else set())  # an end without the output, alone
    whole = read(value_of(pieces))
    turns = [item for item in items if isinstance(item, Turn) and not PARTIAL & set(item.message.flags)]
    if name == "otel_message_events":  # a span's later events may be a whole call with a shorter history
        assert {turn.content_id for turn in turns} <= {turn.content_id for turn in whole}
    else:
        assert ids_of(turns) <= ids_of(whole)
    joined = parse_joined(STREAM_FORMAT_OF_NAME[name], pieces, {}, KEY, entry=0)
    assert ids_of(item for item in joined if isinstance(item, Turn)) == ids_of(whole)


@settings(max_examples=60, deadline=None)
@given(dialogues(), st.randoms(use_true_random=False))
def test_events_of_a_response_may_come_twice_and_in_any_order(dialogue, random):
    _, entries = written("responses_events", dialogue)
    pieces = [*entries[-1], *random.choices(entries[-1], k=3)]
    random.shuffle(pieces)
    assert ids_of(turns_once(pieces)) == ids_of(read(value_of(entries[-1])))


def turns_once(pieces):
    joined = parse_joined(STREAM_FORMAT_OF_NAME["responses_events"], pieces, {}, KEY, entry=0)
    return [item for item in joined if isinstance(item, Turn)]


@pytest.mark.parametrize("name", ["openai_chunks", "otel_message_events"])
@settings(max_examples=40, deadline=None)
@given(dialogues(), dialogues(), st.randoms(use_true_random=False))
def test_streams_that_run_side_by_side_stay_apart(name, one, other, random):
    first, second = written(name, one, 3)[1][-1], written(name, other, 4)[1][-1]
    sources = [first] * len(first) + [second] * len(second)
    random.shuffle(sources)
    runs = {id(first): iter(first), id(second): iter(second)}
    mixed = [next(runs[id(source)]) for source in sources]
    assert ids_of(read(value_of(mixed))) == ids_of(read(value_of(first))) | ids_of(read(value_of(second)))


def wire_forms(name, entries):
    """Return the values that the entries of a format may come in, each with its headers."""
    headers = headers_of(name)
    values = [(value_of(entry), headers) for entry in entries]
    values += [(gzip.compress(value, mtime=0), headers) for value, _ in values]
    if name in STREAMS:
        values += [(server_sent_events(pieces), headers) for pieces in entries]
    else:
        values += [(b"\n".join(map(orjson.dumps, entries)), headers)]
    if name in ONE_TEXT:
        values += [(entry["text"].encode(), headers) for entry in entries]
    return values


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=40, deadline=None)
@given(dialogues(), st.data())
def test_a_cut_record_gives_turns_of_the_talk_or_says_what_is_missing(name, dialogue, data):
    dialogue.conversation_id = dialogue.user_id = None if name in ONE_TEXT else "id-1"
    _, entries = written(name, dialogue)
    if not entries:
        return
    known = ids_of(turns_of_entries(name, entries))
    value, headers = data.draw(st.sampled_from(wire_forms(name, entries)))
    cut = value[: data.draw(st.integers(0, len(value) - 1))]
    items = parse_record(cut, headers, KEY)
    assert items
    for item in items:
        if isinstance(item, Rejection):
            assert item.reason != "internal_error", item.detail
        elif isinstance(item, Turn) and not PARTIAL & set(item.message.flags):
            assert ids_of([item]) <= known, item


@settings(max_examples=60, deadline=None)
@given(dialogues(), st.randoms(use_true_random=False))
def test_records_of_all_formats_in_any_order_and_twice_are_the_same_turns(dialogue, random):
    left_out = {Trait.TOOLS, Trait.SYSTEM, Trait.ALTERNATIVES, Trait.ANY_ORDER, Trait.OPEN_END}
    talk = carried(dialogue, EVERYTHING - MEDIA - left_out - {Trait.EMPTY_TEXTS, Trait.CONTROL_TOKENS})
    needed = {Trait.CHAIN, Trait.CONVERSATION_ID, Trait.USER_ID}
    whole = [name for name, one in FORMATS.items() if one.holds_whole_talks and one.carries >= needed]
    whole.remove("preference_pairs")
    records = [
        (value_of(entry.json), headers_of(name), name)
        for name in whole
        for entry in FORMATS[name].render(talk, Clock(Random(5)))
    ]
    records += random.choices(records, k=len(records) // 2)
    random.shuffle(records)
    expected = ids_of(as_openai_logs(talk))
    assert {found for value, headers, _ in records for found in ids_of(read(value, headers))} == expected
    lines = [value for value, headers, name in records if not headers and name not in STREAMS]
    in_one = read(b"\n".join(lines))
    assert ids_of(in_one) == expected
    assert len({(turn.entry, turn.position) for turn in in_one}) == len(in_one)


@settings(max_examples=60, deadline=None)
@given(dialogues(), st.data())
def test_a_growing_history_that_was_cut_at_its_start_holds_no_foreign_words(dialogue, data):
    """Requests that send only the tail of a talk have other ids, but the content of each message stays the same."""
    name = data.draw(st.sampled_from(["openai_chat", "anthropic_messages", "otel_genai", "litellm", "langfuse"]))
    rest, _ = written(name, dialogue)
    contents = {turn.content_id for turn in as_openai_logs(rest)}
    rest.lines = rest.lines[data.draw(st.integers(0, len(rest.lines) - 1)) :]
    if any(line.role == "assistant" for line in rest.lines):
        entries = [entry.json for entry in FORMATS[name].render(rest, Clock(Random(6)))]
        assert {turn.content_id for turn in turns_of_entries(name, entries)} <= contents


@pytest.mark.parametrize("words", ['{"a":1}', '{"messages":[{"role":"user","content":"x"}]}', "data: {}", "[1]"])
def test_lines_of_json_inside_of_chatml_are_words(words):
    text = f"{START}user\nread this:\n{words}\n{END}\n{START}assistant\nyes{END}\n"
    asked, answered = read(text.encode(), {"turnmill-format": b"chatml"})
    assert (asked.message.text, answered.message.text) == (f"read this:\n{words}\n", "yes")
