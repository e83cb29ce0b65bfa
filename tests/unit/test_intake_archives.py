"""Archives and plain formats: what must survive the reading, exact detection, and no fault on odd input."""

import base64
import copy
import datetime as dt
import json
from pathlib import Path

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.intake.flags import repair_text
from pipelines.intake.formats import FORMAT_OF_NAME, FORMATS, matching_formats
from pipelines.intake.identity import IdentityKey
from pipelines.intake.items import Feedback, Rejection, Turn
from pipelines.intake.parse import parse_record
from pipelines.intake.readers import vllm_log
from pipelines.intake.shape import BadShape
from schemas.records import DeadReason

KEY = IdentityKey(bytes(range(32)))
PIXELS = base64.b64encode(b"\x89PNG pixels" * 200).decode()


def state(conv_id, reply="a", **more):
    return {
        "template_name": "t",
        "system_message": "Be brief",
        "conv_id": conv_id,
        "model_name": f"model-{conv_id}",
        "roles": ["USER", "ASSISTANT"],
        "messages": [["USER", "example"], ["ASSISTANT", "shown"], ["USER", "q"], ["ASSISTANT", reply]],
        "offset": 2,
        **more,
    }


def node(parent, role=None, text="", **more):
    message = None
    if role is not None:
        message = {"author": {"role": role}, "content": {"content_type": "text", "parts": [text]}, **more}
    return {"parent": parent, "children": [], "message": message}


READ_HERE = {
    *("fastchat_arena", "chatgpt_export", "claude_export", "chatml", "vllm_log", "prompt_completion", "alpaca"),
    *("preference_pairs", "message_log", "sharegpt"),
}
LINES = Path(__file__).with_name("log_examples.jsonl").read_bytes().split(b"\n")
ROWS = [row for row in map(orjson.loads, filter(None, LINES)) if row["format"] in READ_HERE]
SAMPLES = {row["format"]: row["entry"] for row in ROWS if not row["dialect"]}
DIALECTS = {row["dialect"]: (row["format"], row["entry"]) for row in ROWS if row["dialect"]}
ALL_SAMPLES = {name: (name, sample) for name, sample in SAMPLES.items()} | DIALECTS
CHATGPT, CLAUDE = SAMPLES["chatgpt_export"], SAMPLES["claude_export"]


def talks_of(entry, name=None):
    read = FORMAT_OF_NAME[name or matching_formats(entry)[0].NAME].read(entry)
    return read if isinstance(read, list) else [read]


def talk_of(entry, name=None):
    (talk,) = talks_of(entry, name)
    return talk


def said(talk):
    return [(message.role, message.text) for message in talk.messages]


def items_of(entry, headers=None):
    return parse_record(orjson.dumps(entry), headers or {}, KEY)


def turns_of(entry, headers=None):
    items = items_of(entry, headers)
    assert not [item for item in items if isinstance(item, Rejection)], items
    return [item for item in items if isinstance(item, Turn)]


@pytest.mark.parametrize("label", ALL_SAMPLES)
def test_exactly_one_format_matches_each_sample(label):
    name, sample = ALL_SAMPLES[label]
    expected = [] if name == "chatml" else [name]
    assert [log_format.NAME for log_format in FORMATS if log_format.matches(sample)] == expected
    assert [log_format.NAME for log_format in matching_formats(sample)] == expected


@pytest.mark.parametrize("label", ALL_SAMPLES)
def test_no_sample_keeps_inline_media_or_loses_its_links(label):
    name, sample = ALL_SAMPLES[label]
    for talk in talks_of(sample, name):
        for index, message in enumerate(talk.messages):
            assert -1 <= message.parent < index
            assert message.role != "system" or message.parent == -1
        for rating in talk.ratings:
            assert rating.target is None or rating.target < len(talk.messages)


# FastChat and Arena


def test_an_arena_row_is_the_talk_without_template_examples_and_its_thumb():
    talk = talk_of(SAMPLES["fastchat_arena"])
    assert said(talk) == [("system", "Be brief"), ("user", "q"), ("assistant", "a")]
    assert (talk.conversation_id, talk.user_id, talk.messages[2].model) == ("c1", "192.0.2.1", "model-c1")
    (rating,) = talk.ratings
    assert (rating.kind, rating.value, rating.target) == ("thumb", 1.0, 2)
    assert rating.created_at == dt.datetime(1970, 1, 1, 0, 0, 5, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("row_type", "left", "right", "measure"),
    [
        ("leftvote", 1.0, -1.0, "side_by_side"),
        ("rightvote", -1.0, 1.0, "side_by_side"),
        ("tievote", 0.0, 0.0, "side_by_side"),
        ("bothbad_vote", -1.0, -1.0, "bothbad"),
    ],
)
def test_a_vote_judges_the_last_reply_of_two_talks(row_type, left, right, measure):
    row = {"tstamp": 1.0, "type": row_type, "states": [state("c1"), state("c2", "b")]}
    talks = talks_of(row)
    assert [talk.conversation_id for talk in talks] == ["c1", "c2"]
    ratings = [talk.ratings[0] for talk in talks]
    assert [(r.kind, r.value, r.measure, r.target) for r in ratings] == [
        ("vote", left, measure, 2),
        ("vote", right, measure, 2),
    ]


def test_a_vote_on_one_state_is_refused():
    with pytest.raises(BadShape, match="two states"):
        talks_of({"tstamp": 1.0, "type": "tievote", "states": [state("c1")]})


def test_a_flag_and_a_downvote_and_plain_chat_are_told_apart():
    rows = [{"tstamp": 1.0, "type": kind, "state": state("c1")} for kind in ("flag", "downvote", "chat", "share")]
    found = [[(r.kind, r.value) for r in talk_of(row).ratings] for row in rows]
    assert found == [[("flag", None)], [("thumb", -1.0)], [], []]


def test_an_arena_reply_that_has_not_come_is_left_out():
    talk = talk_of({"tstamp": 1.0, "type": "upvote", "state": state("c1", None)})
    assert said(talk)[-1] == ("user", "q")
    assert talk.ratings[0].target is None


def test_speakers_without_names_take_turns():
    messages = [["", "q"], ["", "a"], ["", "r"]]
    row = {"tstamp": 1.0, "type": "chat", "state": {"roles": ["", ""], "messages": messages, "offset": 0}}
    assert said(talk_of(row)) == [("user", "q"), ("assistant", "a"), ("user", "r")]


def test_arena_images_are_references():
    for image in ("0123456789abcdef", "https://example.com/x.png", PIXELS, {"base64_str": PIXELS}, f"data:,{PIXELS}"):
        content = [["USER", ["look", [image]]]]
        row = {"tstamp": 1.0, "type": "chat", "state": state("c1", messages=content, offset=0)}
        message = talk_of(row).messages[1]
        assert message.text == "look"
        assert [part.type for part in message.parts] == ["image"]
        assert PIXELS not in repr(message)


# ChatGPT export


def test_a_chatgpt_export_keeps_all_branches_and_flags_those_not_shown():
    turns = turns_of(CHATGPT)
    assert [(turn.message.role, turn.message.text, turn.message.flags) for turn in turns] == [
        ("user", "q", []),
        ("assistant", "first try", ["branch_inactive"]),
        ("assistant", "second try", []),
    ]
    user, first, second = turns
    assert first.parent_id == second.parent_id == user.turn_id
    assert user.parent_id == user.root_id
    assert (second.message.reasoning, second.message.model) == ("s\nhm", "m-1")
    assert (second.message.response_id, second.message.finish_reason) == ("m6", "stop")
    assert first.message.reasoning is None
    assert user.conversation_ref == KEY.conversation_ref("default", "conv-1")


def test_a_list_of_exported_conversations_is_one_record():
    items = items_of([CHATGPT, {**CHATGPT, "conversation_id": "conv-2"}])
    assert [item.entry for item in items] == [0, 0, 0, 1, 1, 1]


def test_an_export_without_an_id_takes_that_of_its_root():
    entry = {key: value for key, value in CHATGPT.items() if key != "conversation_id"}
    assert talk_of(entry).conversation_id == "n1"


def exported(*nodes, current=None):
    """Return an export of a chain of messages."""
    names = [f"n{number}" for number in range(len(nodes))]
    mapping = {}
    for number, message in enumerate(nodes):
        mapping[names[number]] = {"parent": names[number - 1] if number else None, "message": message}
    return {"mapping": mapping, "current_node": current or names[-1]}


def message(role, content, **more):
    return {"author": {"role": role, "name": more.pop("name", None)}, "content": content, **more}


def text(*parts):
    return {"content_type": "text", "parts": list(parts)}


def test_calls_and_results_of_chatgpts_tools_pair_and_stay_out_of_the_text():
    entry = exported(
        message("user", text("plot")),
        message("assistant", {"content_type": "code", "language": "python", "text": "plot()"}, recipient="python"),
        message("tool", {"content_type": "execution_output", "text": "done"}, name="python"),
        message("assistant", text("Here.")),
    )
    turns = turns_of(entry)
    assert [turn.message.role for turn in turns] == ["user", "assistant", "tool", "assistant"]
    call, result = turns[1].message, turns[2].message
    assert (call.text, call.tool_calls[0].name, call.tool_calls[0].arguments) == ("", "python", "plot()")
    assert (result.text, result.tool_name, result.flags) == ("done", "python", [])


def test_code_for_everybody_is_text():
    assert said(talk_of(exported(message("assistant", {"content_type": "code", "text": "x = 1"})))) == [
        ("assistant", "x = 1")
    ]


def test_media_of_an_export_are_references_and_unknown_parts_are_kept():
    parts = [
        {"content_type": "image_asset_pointer", "asset_pointer": "file-service://file-1"},
        {"content_type": "audio_transcription", "text": "spoken"},
        {
            "content_type": "real_time_user_audio_video_asset_pointer",
            "audio_asset_pointer": {"asset_pointer": "sed://2"},
        },
        {"content_type": "hologram", "depth": 3},
        "look",
    ]
    attachments = [{"id": "file-1", "mime_type": "image/png"}, {"id": "file-9", "mime_type": "application/pdf"}]
    entry = exported(
        message("user", {"content_type": "multimodal_text", "parts": parts}, metadata={"attachments": attachments})
    )
    (found,) = talk_of(entry).messages
    assert [part.type for part in found.parts] == ["image", "audio", "other", "file"]
    assert [part.uri for part in found.parts] == ["file-service://file-1", "sed://2", None, "file-9"]
    assert (found.text, found.flags) == ("spoken\nlook", ["unknown_part"])


def test_custom_instructions_are_a_system_message_and_change_no_turn():
    settings_node = message(
        "user", {"content_type": "user_editable_context", "user_profile": "p", "user_instructions": "i"}
    )
    talk = [message("user", text("q")), message("assistant", text("a"))]
    headers = {"turnmill-conversation": b"c"}
    plain = turns_of(exported(*talk), headers)
    set_up = turns_of(exported(settings_node, *talk), headers)
    assert [(turn.message.role, turn.message.text) for turn in set_up][0] == ("system", "p\ni")
    assert [turn.turn_id for turn in set_up[1:]] == [turn.turn_id for turn in plain]


def test_thoughts_without_a_reply_are_reasoning_without_text():
    thoughts = message("assistant", {"content_type": "thoughts", "thoughts": [{"content": "hm"}]})
    recap = message("assistant", {"content_type": "reasoning_recap", "content": "Thought for 3 s"})
    talk = talk_of(exported(message("user", text("q")), thoughts, recap))
    assert said(talk) == [("user", "q"), ("assistant", "")]
    assert talk.messages[1].reasoning == "hm\nThought for 3 s"
    again = talk_of(exported(message("user", text("q")), thoughts, message("user", text("r"))))
    assert said(again) == [("user", "q"), ("assistant", ""), ("user", "r")]
    assert again.messages[2].parent == 1


def test_thoughts_pass_tools_on_their_way_to_the_reply():
    thoughts = message("assistant", {"content_type": "thoughts", "thoughts": [{"content": "hm"}]})
    tool = message("tool", {"content_type": "tether_browsing_display", "result": "r", "summary": None}, name="browser")
    talk = talk_of(exported(message("user", text("q")), thoughts, tool, message("assistant", text("a"))))
    assert said(talk) == [("user", "q"), ("tool", "r"), ("assistant", "a")]
    assert talk.messages[2].reasoning == "hm"


def test_a_reply_that_was_stopped_is_incomplete():
    talk = talk_of(exported(message("assistant", text("a"), status="in_progress")))
    assert talk.messages[0].flags == ["stream_incomplete"]


def test_a_cycle_of_links_is_refused():
    entry = {"mapping": {"a": node("b", "user", "q"), "b": node("a", "assistant", "a")}, "current_node": "a"}
    assert [(item.reason, "cycle" in item.detail) for item in items_of(entry)] == [("bad_shape", True)]


def test_a_node_with_a_missing_parent_begins_a_branch():
    turns = turns_of({"mapping": {"a": node("gone", "user", "q")}, "current_node": "a"})
    assert turns[0].parent_id == turns[0].root_id


def test_branches_without_a_shown_one_are_refused_and_a_single_path_is_not():
    two = {"a": node(None, "user", "q"), "b": node("a", "assistant", "1"), "c": node("a", "assistant", "2")}
    assert [item.reason for item in items_of({"mapping": two, "current_node": None})] == ["bad_shape"]
    one = {"a": node(None, "user", "q"), "b": node("a", "assistant", "1")}
    assert not any(turn.message.flags for turn in turns_of({"mapping": one, "current_node": "gone"}))


def test_a_path_of_many_nodes_is_read():
    nodes = [message(("user", "assistant")[number % 2], text("x")) for number in range(20_000)]
    talk = talk_of(exported(*nodes))
    assert [found.parent for found in talk.messages] == list(range(-1, 19_999))


def test_exported_links_count_whatever_the_order_of_the_nodes():
    entry = exported(message("user", text("q")), message("assistant", text("a")), message("user", text("r")))
    turned = {**entry, "mapping": dict(reversed(entry["mapping"].items()))}
    assert {turn.turn_id for turn in turns_of(turned, {"turnmill-conversation": b"c"})} == {
        turn.turn_id for turn in turns_of(entry, {"turnmill-conversation": b"c"})
    }


@st.composite
def trees(draw):
    """Return the parents and texts of a tree of user and assistant messages; the role follows from the depth."""
    size = draw(st.integers(1, 12))
    parents = [-1] + [draw(st.integers(0, number - 1)) for number in range(1, size)]
    words = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)
    return parents, [draw(words) for _ in range(size)]


def depths(parents):
    found = []
    for parent in parents:
        found.append(0 if parent < 0 else found[parent] + 1)
    return found


def as_chatgpt(parents, words, empty_before):
    mapping = {}
    for number, (parent, depth) in enumerate(zip(parents, depths(parents), strict=True)):
        above = None if parent < 0 else f"n{parent}"
        if number in empty_before:
            mapping[f"e{number}"] = node(above)
            above = f"e{number}"
        mapping[f"n{number}"] = node(above, ("user", "assistant")[depth % 2], words[number])
    return {"mapping": mapping, "current_node": f"n{len(parents) - 1}", "conversation_id": "t"}


def as_oasst(parents, words):
    nodes = [
        {"text": words[number], "role": ("prompter", "assistant")[depth % 2], "replies": []}
        for number, depth in enumerate(depths(parents))
    ]
    for number, parent in enumerate(parents):
        if parent >= 0:
            nodes[parent]["replies"].append(nodes[number])
    return {"message_tree_id": "t", "prompt": nodes[0]}


@given(trees(), st.sets(st.integers(0, 11)))
def test_a_tree_has_the_same_turns_as_an_export_and_as_an_oasst_tree(tree, empty_before):
    exported_turns = turns_of(as_chatgpt(*tree, empty_before))
    oasst_turns = turns_of(as_oasst(*tree))
    assert sorted((turn.turn_id, turn.parent_id) for turn in exported_turns) == sorted(
        (turn.turn_id, turn.parent_id) for turn in oasst_turns
    )


@given(trees())
def test_exactly_the_path_to_the_current_node_is_active(tree):
    parents, words = tree
    active, last = set(), len(parents) - 1
    while last >= 0:
        active.add(last)
        last = parents[last]
    unique = [f"{number} {word}" for number, word in enumerate(words)]
    turns = turns_of(as_chatgpt(parents, unique, set()))
    assert {turn.message.text for turn in turns if "branch_inactive" not in turn.message.flags} == {
        unique[number] for number in active
    }


# Claude export


def test_a_claude_export_parts_calls_results_and_words():
    turns = turns_of(CLAUDE)
    assert [turn.message.role for turn in turns] == ["user", "assistant", "tool", "assistant"]
    user, call, result, reply = (turn.message for turn in turns)
    assert [part.type for part in user.parts] == ["file", "file"]
    assert (user.parts[0].bytes, user.parts[1].uri) == (6, "f1")
    assert (call.reasoning, call.tool_calls[0].arguments) == ("hm", '{"x":1}')
    assert (result.text, result.tool_name) == ("1", "look")
    assert (reply.text, reply.response_id) == ("a", "u2")
    assert not any(turn.message.flags for turn in turns)
    assert turns[0].user_ref == KEY.user_ref("default", "account-1")


def test_a_claude_export_with_parents_keeps_edited_branches():
    root = "00000000-0000-4000-8000-000000000000"
    sources = [("a", root, "human"), ("b", "a", "assistant"), ("c", root, "human"), ("d", "c", "assistant")]
    chat = [{"uuid": uuid, "parent_message_uuid": up, "sender": who, "text": uuid} for uuid, up, who in sources]
    turns = turns_of({"uuid": "x", "chat_messages": chat, "current_leaf_message_uuid": "d"})
    found = {turn.message.text: turn for turn in turns}
    assert {name for name, turn in found.items() if turn.message.flags == ["branch_inactive"]} == {"a", "b"}
    assert found["a"].parent_id == found["c"].parent_id == found["a"].root_id
    assert found["d"].parent_id == found["c"].turn_id


# ChatML


def test_chatml_is_read_where_a_header_names_it_and_never_guessed():
    entry = SAMPLES["chatml"]
    turns = turns_of(entry, {"turnmill-format": b"chatml"})
    assert [(turn.message.role, turn.message.text) for turn in turns] == [
        ("system", "s"),
        ("user", "q"),
        ("assistant", "a"),
    ]
    assert [item.reason for item in items_of(entry)] == ["unknown_format"]


def test_an_open_reply_is_incomplete_and_a_mere_prompt_for_one_says_nothing():
    asked = "<|im_start|>user name=ada\nq<|im_end|>\n<|im_start|>assistant"
    assert said(talk_of({"text": asked}, "chatml")) == [("user", "q")]
    assert said(talk_of({"text": asked + "\n"}, "chatml")) == [("user", "q")]
    cut = talk_of({"text": asked + "\nYes, bu"}, "chatml")
    assert said(cut)[1] == ("assistant", "Yes, bu")
    assert cut.messages[1].flags == ["stream_incomplete"]


@pytest.mark.parametrize(
    "odd",
    [
        "hello <|im_start|>user\nq<|im_end|>",
        "<|im_start|>user\nq<|im_end|> and then",
        "<|im_start|>user\nq",
        "<|im_start|>user\na<|im_start|>assistant\nb<|im_end|>",
        "<|im_start|>user<|im_end|>\n",
        "<|im_start|>\nq<|im_end|>",
        "<|im_start|>wizard\nq<|im_end|>",
        "just words",
    ],
)
def test_text_that_is_not_strictly_chatml_is_refused(odd):
    with pytest.raises(BadShape):
        talk_of({"text": odd}, "chatml")


chatml_words = st.text(st.characters(codec="utf-8"), max_size=20).filter(lambda words: "<|im_" not in words)


@given(st.lists(st.tuples(st.sampled_from(["system", "user", "assistant", "tool"]), chatml_words), min_size=1))
def test_a_chatml_render_reads_back_to_its_turns(turns):
    rendered = "".join(f"<|im_start|>{role}\n{words}<|im_end|>\n" for role, words in turns)
    assert said(talk_of({"text": rendered}, "chatml")) == turns


# vLLM


def test_a_vllm_prompt_is_one_untrusted_user_text_with_its_answer():
    user, reply = talk_of(SAMPLES["vllm_log"]).messages
    assert (user.role, user.text) == ("user", "<|im_start|>user\nIt's é\n<|im_end|>")
    assert user.flags == ["roles_untrusted"]
    assert (reply.role, reply.text, reply.parent) == ("assistant", "Yes\n", 0)
    assert (reply.response_id, reply.finish_reason) == ("chatcmpl-1", "stop")


def test_newer_vllm_lines_hold_the_prompt_at_debug_level():
    lines = (
        "DEBUG 11-30 [logger.py:40] Request cmpl-2-0 details: prompt: 'q', prompt_token_ids: [1].\n"
        "INFO 11-30 [logger.py:50] Received request cmpl-2-0: params: SamplingParams(n=1), lora_request: None.\n"
        "INFO 11-30 [logger.py:70] Generated response cmpl-2 (streaming delta): output: 'a', finish_reason: None\n"
        "INFO 11-30 [logger.py:70] Generated response cmpl-2 (streaming complete): output: 'ab', finish_reason: length"
    )
    talk = talk_of({"text": lines})
    assert said(talk) == [("user", "q"), ("assistant", "ab")]
    assert (talk.messages[1].parent, talk.messages[1].finish_reason) == (0, "length")


def test_pieces_of_a_stream_are_joined_where_the_whole_is_not_logged():
    lines = "\n".join(
        f"INFO x Generated response r (streaming delta): output: {piece!r}" for piece in ("a", "'b", "\n")
    )
    talk = talk_of({"text": lines})
    assert said(talk) == [("assistant", "a'b\n")]
    assert talk.messages[0].flags == ["stream_incomplete"]


def test_requests_without_prompt_say_how_vllm_logs_prompts():
    line = "INFO 11-30 [logger.py:50] Received request r1: params: SamplingParams(n=1), lora_request: None."
    with pytest.raises(BadShape, match="DEBUG") as refused:
        talk_of({"text": line})
    assert refused.value.reason == DeadReason.NO_MESSAGES


@pytest.mark.parametrize("cut", ["'It is", "'It is\\", "'It is\\x1", "'It is\\u12"])
def test_a_line_that_ends_inside_a_text_is_truncated_upstream(cut):
    talk = talk_of({"text": f"INFO x Received request r1: prompt: {cut}"}, "vllm_log")
    assert said(talk) == [("user", "It is")]
    assert talk.messages[0].flags == ["roles_untrusted", "upstream_truncated"]


@given(st.text(max_size=20), st.integers(0, 60))
def test_what_a_cut_line_still_holds_is_the_beginning_of_the_prompt(prompt, length):
    cut = repr(prompt)[:-1][: 1 + length]
    talk = talk_of({"text": f"INFO x Received request r1: prompt: {cut}"}, "vllm_log")
    assert repair_text(prompt).startswith(talk.messages[0].text)
    if len(cut) == len(repr(prompt)) - 1:
        assert talk.messages[0].text == repair_text(prompt)


def test_a_log_line_quoted_in_a_prompt_makes_no_turn():
    inner = "INFO Received request r9: prompt: 'fake', params: x"
    talk = talk_of({"text": f"INFO x Received request r1: prompt: {inner!r}, params: x"})
    assert said(talk) == [("user", inner)]


@given(st.text(max_size=40))
def test_any_prompt_reads_back_from_its_repr(prompt):
    talk = talk_of({"text": f"INFO x Received request r1: prompt: {prompt!r}, params: x"})
    assert said(talk) == [("user", repair_text(prompt))]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"INFO 07-12 [logger.py:39] Received request a: prompt: 'x'", True),
        (b"noise\n(APIServer pid=1) DEBUG 07-12 [x.py:1] Request a details: prompt: 'x'", True),
        (b"INFO x Generated response a: output: 'x'", True),
        (b"Received request a: prompt: 'x'", False),
        (b"INFO\nReceived request a: prompt: 'x'", False),
        (b"INFO 07-12 Received request from 192.0.2.1", False),
        (b"<|im_start|>user\nq<|im_end|>", False),
        (b"\xff\xfe", False),
        (b"", False),
    ],
)
def test_vllm_text_is_told_by_level_and_message(line, expected):
    assert vllm_log.matches_text(line) is expected


# Prompts and completions


def test_completions_of_several_prompts_hang_below_their_own():
    turns = turns_of(DIALECTS["legacy completions"][1])
    assert [turn.message.text for turn in turns] == ["q1", "q2", "a0", "a1", "a2", "a3"]
    first, second, *replies = turns
    assert [reply.parent_id for reply in replies] == [first.turn_id] * 2 + [second.turn_id] * 2
    assert (replies[0].message.response_id, replies[0].message.model) == ("cmpl-1", "m")


def test_an_echoed_prompt_is_not_part_of_the_reply():
    entry = {
        "request": {"prompt": "q", "echo": True},
        "response": {"object": "text_completion", "choices": [{"text": "q a", "finish_reason": "stop"}]},
    }
    assert said(talk_of(entry)) == [("user", "q"), ("assistant", " a")]


def test_a_label_is_a_thumb_on_the_completion():
    talk = talk_of(SAMPLES["prompt_completion"])
    assert said(talk) == [("user", "q"), ("assistant", "a")]
    assert [(r.kind, r.value, r.target) for r in talk.ratings] == [("thumb", -1.0, 1)]


def test_a_prompt_of_token_ids_is_refused():
    entry = {"request": {"prompt": [1, 2]}, "response": {"choices": [{"text": "a"}]}}
    assert [item.reason for item in items_of(entry)] == ["bad_shape"]


def test_chat_responses_stay_chat_and_pieces_of_a_stream_are_no_log_entry():
    chat = {"choices": [{"message": {"role": "assistant", "content": "a"}, "finish_reason": "stop"}]}
    assert [found.NAME for found in matching_formats(chat)] == ["openai_chat"]
    piece = {"id": "x", "object": "text_completion", "choices": [{"index": 0, "text": "a", "finish_reason": None}]}
    assert list(matching_formats(piece)) == []


def test_alpaca_joins_instruction_and_input_and_keeps_the_history():
    assert said(talk_of(SAMPLES["alpaca"])) == [
        ("system", "Be brief"),
        ("user", "q"),
        ("assistant", "a"),
        ("user", "Sort\n\n2 1"),
        ("assistant", "1 2"),
    ]
    assert said(talk_of(DIALECTS["dolly"][1])) == [("user", "i\n\nc"), ("assistant", "r")]
    assert said(talk_of({"instruction": "i", "input": "", "output": "o"})) == [("user", "i"), ("assistant", "o")]


# Preference pairs


def ranked(talk):
    return {(talk.messages[r.target].text, r.value, r.measure) for r in talk.ratings if r.kind == "rank"}


def test_the_prompt_of_a_pair_is_the_longest_common_prefix_of_turns():
    shared = "\n\nHuman: a\n\nAssistant: b\n\nHuman: c\n\nAssistant: "
    talk = talk_of({"chosen": shared + "d", "rejected": shared + "e"})
    assert said(talk) == [("user", "a"), ("assistant", "b"), ("user", "c"), ("assistant", "d"), ("assistant", "e")]
    assert talk.messages[3].parent == talk.messages[4].parent == 2
    assert ranked(talk) == {("d", 0.0, "preference"), ("e", 1.0, "preference")}


def test_a_prompt_that_both_sides_repeat_counts_once():
    talk = talk_of(SAMPLES["preference_pairs"])
    assert said(talk) == [("user", "q"), ("assistant", "good"), ("assistant", "bad")]
    assert ranked(talk) == {("good", 0.0, "preference"), ("bad", 1.0, "preference")}
    assert {(r.target, r.value) for r in talk.ratings if r.kind == "score"} == {(1, 8.0), (2, 2.5)}


def test_every_way_to_write_a_pair_gives_the_same_talk():
    asked, good, bad = ({"role": r, "content": c} for r, c in (("user", "q"), ("assistant", "a"), ("assistant", "b")))
    ways = [
        {"prompt": "q", "chosen": "a", "rejected": "b"},
        {"prompt": [asked], "chosen": [good], "rejected": [bad]},
        {"prompt": [asked], "chosen": good, "rejected": bad},
        {"chosen": [asked, good], "rejected": [asked, bad]},
        {"prompt": "\n\nHuman: q\n\nAssistant:", "chosen": " a", "rejected": " b"},
        {"instruction": "q", "input": "", "chosen": "a", "rejected": "b"},
        {"question": "q", "chosen": "a", "rejected": "b"},
        DIALECTS["hh-rlhf"][1],
        DIALECTS["sharegpt pair"][1],
        DIALECTS["pair with messages"][1],
    ]
    ids = {tuple(item.turn_id for item in items_of(way) if isinstance(item, Turn)) for way in ways}
    assert len(ids) == 1


@pytest.mark.parametrize(
    ("chosen", "rejected"),
    [
        ("a", "a"),
        ([{"role": "user", "content": "q"}], "a"),
        ("\n\nHuman: q\n\nAssistant: a", "\n\nHuman: q\n\nAssistant: a\n\nHuman: r"),
        ([], "a"),
    ],
)
def test_sides_without_a_reply_of_their_own_are_refused(chosen, rejected):
    assert [item.reason for item in items_of({"chosen": chosen, "rejected": rejected})] == ["bad_shape"]


def test_sides_that_part_before_the_last_reply_keep_all_their_turns():
    entry = {
        "chosen": "\n\nHuman: a\n\nAssistant: b\n\nHuman: c\n\nAssistant: d",
        "rejected": "\n\nHuman: a\n\nAssistant: x\n\nHuman: c\n\nAssistant: d",
    }
    talk = talk_of(entry)
    assert len(talk.messages) == 7
    assert ranked(talk) == {("b", 0.0, "preference"), ("x", 1.0, "preference")}


def test_text_before_the_first_mark_is_no_dialogue():
    talk = talk_of({"prompt": "q", "chosen": "He said\n\nHuman: a", "rejected": "b"})
    assert said(talk)[1] == ("assistant", "He said\n\nHuman: a")


# Message logs


def test_a_message_of_a_log_is_known_by_its_own_id():
    first = SAMPLES["message_log"]
    twin = {**first, "message_id": 8}
    ids = [turns_of(row)[0].turn_id for row in (first, twin, first)]
    assert ids[0] == ids[2] != ids[1]
    (turn,) = turns_of(first)
    assert (turn.message.text, turn.message.flags) == ("hi", ["without_history"])
    assert turn.user_ref == KEY.user_ref("default", "user-1")


def test_question_and_reply_share_a_conversation_although_only_one_names_the_user():
    reply = {"id": "m9", "session_id": "conv-3", "role": "assistant", "content": "yo", "model": "m"}
    assert turns_of(reply)[0].root_id == turns_of(SAMPLES["message_log"])[0].root_id
    assert (turns_of(reply)[0].message.response_id, turns_of(reply)[0].message.model) == ("m9", "m")


def test_a_message_without_an_id_is_known_by_time_and_role():
    row = {"thread_id": "t", "role": "user", "text": "ok", "created_at": "2026-01-01T00:00:00Z"}
    later = {**row, "created_at": "2026-01-01T00:01:00Z"}
    assert turns_of(row)[0].turn_id == turns_of({**row, "created_at": 1767225600})[0].turn_id
    assert turns_of(row)[0].turn_id != turns_of(later)[0].turn_id


def test_a_message_without_id_and_time_or_conversation_is_refused():
    assert [i.reason for i in items_of({"thread_id": "t", "role": "user", "text": "ok", "created_at": None})] == [
        "bad_shape"
    ]
    assert [i.reason for i in items_of({"role": "user", "content": "ok", "id": "1"})] == ["unknown_format"]


# ShareGPT dialects


def test_sharegpt_images_go_where_their_marks_stand():
    entry = {
        "conversations": [
            {"from": "human", "value": "<image>?"},
            {"from": "gpt", "value": "a"},
            {"from": "human", "value": "and <image><image>"},
        ],
        "images": ["1.png", "2.png", {"bytes": PIXELS}, "4.png"],
    }
    messages = talk_of(entry).messages
    assert [[part.uri for part in found.parts] for found in messages] == [["1.png", "4.png"], [], ["2.png", None]]
    assert PIXELS not in repr(messages)


def test_sharegpt_calls_are_read_under_each_of_their_names():
    for asked, answered in (("function_call", "observation"), ("tool_call", "tool_response")):
        entry = {
            "conversations": [{"from": asked, "value": '{"name":"w","arguments":{}}'}, {"from": answered, "value": "1"}]
        }
        turns = turns_of(entry)
        assert [turn.message.role for turn in turns] == ["assistant", "tool"]
        assert turns[1].message.tool_name == "w"


@pytest.mark.parametrize(
    "turns",
    [
        [("user", "hi"), ("assistant", "hello"), ("assistant", "how can I help?"), ("user", "2+2")],
        [("user", "hey"), ("assistant", "hi"), ("user", "how are you?"), ("user", "I'm good, how can I help?")],
        [("user", "questions"), ("assistant", "Q1"), ("user", "a few more"), ("assistant", "Q2")],
    ],
)
def test_consecutive_turns_of_one_role_stay_apart_and_in_order(turns):
    listed = [{"from": role, "value": words} for role, words in turns]
    assert said(talk_of({"conversations": listed})) == turns
    chain = exported(*(message(role, text(words)) for role, words in turns))
    assert said(talk_of(chain)) == turns


# Odd input


def paths_into(value, path=()):
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from paths_into(value[key], (*path, key))
    elif isinstance(value, list):
        for index in range(len(value)):
            yield from paths_into(value[index], (*path, index))


def with_change(entry, path, value):
    changed = copy.deepcopy(entry)
    holder = changed
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]] = value
    return changed


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
ODD_VALUES = (None, True, 7, -1, 0.5, 1e300, "?", [], {}, [[]], [{}], {"type": []}, [None, None])


def check_reading(name, entry):
    for log_format in FORMATS:
        assert log_format.matches(entry) in (True, False)
    try:
        talks = talks_of(entry, name)
    except BadShape as refused:
        assert refused.reason in {"bad_shape", "unknown_role", "no_messages", "too_deep"}
        return
    for talk in talks:
        for index, found in enumerate(talk.messages):
            assert -1 <= found.parent < index
            assert isinstance(found.text, str)


@pytest.mark.parametrize("label", ALL_SAMPLES)
def test_a_wrong_type_in_any_field_is_refused_or_ignored_but_never_a_fault(label):
    name, sample = ALL_SAMPLES[label]
    for path in paths_into(sample):
        for value in ODD_VALUES if path else ():
            check_reading(name, with_change(sample, path, value))


@settings(max_examples=200)
@given(st.data())
def test_any_value_in_any_field_gives_items_without_a_fault(data):
    name, sample = ALL_SAMPLES[data.draw(st.sampled_from(sorted(ALL_SAMPLES)))]
    path = data.draw(st.sampled_from([path for path in paths_into(sample) if path]))
    changed = with_change(sample, path, data.draw(json_values))
    check_reading(name, changed)
    items = parse_record(json.dumps(changed).encode(), {"turnmill-format": name.encode()}, KEY)
    assert items
    assert not [item for item in items if isinstance(item, Rejection) and item.reason == "internal_error"]


@given(st.lists(st.sampled_from(sorted(SAMPLES)), min_size=2, max_size=3), st.data())
def test_tells_are_never_missing_where_a_format_matches(names, data):
    mixed = {}
    for name in names:
        for key, value in SAMPLES[name].items():
            if data.draw(st.booleans()):
                mixed[key] = value
    matching = {log_format.NAME for log_format in FORMATS if log_format.matches(mixed)}
    assert {log_format.NAME for log_format in matching_formats(mixed)} == matching


def test_feedback_of_a_pair_joins_the_turns_by_id():
    items = items_of(SAMPLES["preference_pairs"])
    turn_ids = {item.message.text: item.turn_id for item in items if isinstance(item, Turn)}
    ranks = {i.target_turn_id: i.rating.value for i in items if isinstance(i, Feedback) and i.rating.kind == "rank"}
    assert ranks == {turn_ids["good"]: 0.0, turn_ids["bad"]: 1.0}


@pytest.mark.parametrize("before", ["", "[", ' [ {"level":"INFO","message":"x"},'])
def test_a_log_line_inside_of_a_broken_json_log_is_no_log_line(before):
    line = "INFO 01-01 00:00:00 [logger.py:39] Received request r1: prompt: 'a\\\\nb', params: SamplingParams(n=1)"
    (item,) = parse_record(f'{before}{{"message":"{line}","cut'.encode(), {}, KEY)
    assert item.reason == "bad_json"
