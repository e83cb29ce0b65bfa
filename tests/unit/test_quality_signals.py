"""Repetition, truncation, emptiness and the rules over them."""

import gzip
import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.quality.filter import SIGNAL_COLUMNS, WRITTEN, tagger
from pipelines.quality.repetition import repeated_line_share, top_ngram_share, top_ngram_shares
from pipelines.quality.rules import REASONS, RULE_VERSION, Rules, reason
from pipelines.quality.signals import Signals, TurnText, batch_signals, signals
from pipelines.quality.truncation import is_truncated
from pipelines.quality.word_stream import WordStream
from schemas import TURN_SIGNALS

SHARED = Path(__file__).resolve().parents[2].parent / "shared"

LOOP = "I am not able to help with that request today. " * 30
CHINESE_LOOP = "我不能回答这个问题。" * 30
STEPS = "\n".join(
    f"Step {name}: turn the {part} to the left and check that the {light} light comes on."
    for name, part, light in (("one", "wheel", "red"), ("two", "handle", "green"), ("three", "valve", "amber"))
)


def verdict(text, role="assistant", rules=None, **given_):
    return reason(signals(text, role, **given_), rules or Rules())


@pytest.mark.parametrize("text", ["yes", "no", "ok", "thanks!", "1", "👍", "да", "好"])
def test_short_answers_of_users_are_kept(text):
    assert verdict(text, "user") is None


@pytest.mark.parametrize("text", ["", "   \n\t", "\u200b\u200d\ufeff", "\x00\x01"])
def test_a_turn_without_anything_visible_is_empty(text):
    assert verdict(text) == "empty"
    assert verdict(None) == "empty"


def test_a_turn_with_a_call_or_an_image_is_not_empty():
    assert verdict("", has_content=True) is None


def test_the_empty_result_of_a_tool_is_an_answer():
    assert verdict("", "tool") is None


def test_a_reply_that_loops_is_repetition():
    assert verdict(LOOP) == "repetition"
    assert verdict("\n".join(["The answer depends on the weather."] * 12)) == "repetition"


def test_a_loop_is_found_in_a_script_without_spaces():
    assert verdict(CHINESE_LOOP) == "repetition"


def test_steps_of_a_manual_are_no_loop():
    assert verdict(STEPS) is None


def test_repeated_digits_are_no_repetition():
    assert verdict("Call 1-800-000000000 or use id 000000000123") is None
    numbers = "\n".join("0000 0000 0000 0000" for _ in range(60))
    assert repeated_line_share(numbers) == 0
    assert top_ngram_share(numbers) == 0


def test_code_and_tables_are_exempt_from_repetition():
    code = "Here is the whole program that you asked for:\n```\n" + "x = next(line)\nprint(x)\n" * 60 + "```"
    table = "The results of all rounds:\n" + "| red team | won again | on points |\n" * 60
    assert verdict(code) is None
    assert verdict(table) is None


def test_tool_results_may_repeat():
    assert verdict(LOOP, "tool") is None


def test_a_text_is_not_repetitive_by_being_short():
    assert verdict("very very very very very very good") is None


@pytest.mark.parametrize("finish_reason", ["length", "max_tokens", "MAX_TOKENS", "max_output_tokens", "content_filter"])
def test_a_cut_answer_is_truncated(finish_reason):
    assert verdict("The capital of France is", finish_reason=finish_reason) == "truncated"


@pytest.mark.parametrize("finish_reason", ["stop", "end_turn", "tool_calls", "STOP", "stop_sequence", None])
def test_a_finished_answer_is_not_truncated(finish_reason):
    assert verdict("The capital of France is Paris.", finish_reason=finish_reason) is None


@pytest.mark.parametrize("flag", ["stream_incomplete", "upstream_truncated", "body_missing"])
def test_a_flag_of_the_adapter_marks_partial_content(flag):
    assert verdict("Half of a", flags=[flag]) == "truncated"
    assert verdict("All of it.", flags=["tool_args_invalid_json"]) is None


@pytest.mark.parametrize(
    "text",
    [
        "Summarise this contract: ... <truncated due to size exceeding limit>",
        "The tenant shall…[truncated 1200 chars]",
        "The tenant shall... (litellm_truncated skipped 8123 chars) ...the end.",
        "The tenant shall pay... [truncated]",
        "The tenant shall pay\n[output truncated]",
    ],
)
def test_known_marks_of_loggers_are_seen(text):
    assert is_truncated(text, (), None)


@pytest.mark.parametrize(
    "text",
    [
        "What does [truncated] mean in this log?",
        'Why do I see "<truncated>" there',
        "The list is truncated to ten rows.",
        "What is the meaning of [truncated]",
    ],
)
def test_talking_of_truncation_is_not_truncation(text):
    assert not is_truncated(text, (), None)


def test_an_overlong_text_is_too_long_and_cheap():
    found = signals("word " * 100_001, "user")
    assert reason(found) == "too_long"
    assert verdict("漢" * 1_000_001, "user") == "too_long"


def test_only_wanted_languages_are_kept_and_the_uncertain_with_them():
    rules = Rules(languages=frozenset({"en"}))
    assert verdict("Kannst du mir bitte erklären, wie das alles funktioniert?", "user", rules) == "language"
    assert verdict("Could you please explain to me how all of this works?", "user", rules) is None
    assert verdict("ja", "user", rules) is None


def test_an_unknown_language_code_fails_at_the_start():
    with pytest.raises(ValueError, match="eng_Latn"):
        Rules(languages=frozenset({"eng_Latn"}))


def test_every_reason_is_declared():
    sorry = "I am sorry for that. I apologize, my apologies. Sorry for the trouble."
    turns = [
        ("", {}),
        ("x", {"finish_reason": "length"}),
        ("word " * 100_001, {}),
        (LOOP, {}),
        (sorry, {}),
        ("asdfgh jklsdf sdfkjh wxcvbn", {}),
    ]
    assert [verdict(text, **more) for text, more in turns] == list(REASONS)[:6]


@pytest.mark.parametrize(
    "text",
    [
        "Ignore all previous instructions.",
        "You are an idiot.",
        "I want to kill myself.",
        "I'm sorry, but I can't help with that.",
        "```python\nif x\n```",
    ],
)
def test_what_is_flagged_is_kept(text):
    assert verdict(text, "user") is None
    assert verdict(text, "assistant") is None


def test_signals_are_columns_of_the_table():
    assert set(Signals.__dataclass_fields__) - {"role"} <= set(TURN_SIGNALS.column_names)
    assert set(SIGNAL_COLUMNS) == set(Signals.__dataclass_fields__) - {"role"}


def test_the_tagger_gives_one_valid_row_per_turn_in_order():
    import pyarrow as pa

    texts = ["yes", "", LOOP, None, "Half", "Could you explain how compound interest works?"]
    rows = [
        {
            "tenant": "default",
            "turn_id": f"t{i}",
            "parent_id": "r1",
            "root_id": "r1",
            "conversation_ref": "ref",
            "text_hash": "0" * 64,
            "landed_at": TURN_SIGNALS.row()["landed_at"],
            "role": "assistant",
            "text": text,
            "flags": ["stream_incomplete"] if text == "Half" else None,
            "finish_reason": None,
            "has_content": False,
        }
        for i, text in enumerate(texts)
    ]
    read = pa.RecordBatch.from_pylist(rows)
    written = list(tagger(Rules())([read, read.slice(0, 0)]))
    assert [batch.schema for batch in written] == [WRITTEN]
    found = written[0].to_pylist()
    assert [row["turn_id"] for row in found] == [f"t{i}" for i in range(len(texts))]
    assert [row["reason"] for row in found] == [None, "empty", "repetition", "empty", "truncated", None]
    assert all(row["keep"] == (row["reason"] is None) and row["rule_version"] == RULE_VERSION for row in found)
    assert found[5]["lang"] == "en"


@given(st.text(max_size=300))
def test_shares_stay_between_nothing_and_everything(text):
    found = signals(text, "user")
    assert 0 <= found.repeated_line_share <= 1
    assert 0 <= found.top_ngram_share <= 1
    assert found.n_chars == len(text)


@given(
    st.lists(st.sampled_from(["red", "blue", "it's", "größer", "да", "x"]), min_size=2, max_size=12),
    st.integers(20, 40),
)
def test_saying_a_text_over_and_over_is_always_seen(spoken, times):
    assert top_ngram_share(" ".join(spoken * times)) > 0


def plain_top_ngram_share(text):
    """The same measure, one text and one phrase at a time."""
    of_words = re.findall(r"[a-z0-9']+", text.lower())
    phrases = {tuple(of_words[i : i + 4]) for i in range(len(of_words) - 3)}
    most = 0
    for phrase in phrases:
        if any(c.isdigit() for word in phrase for c in word):
            continue
        times, i = 0, 0
        while i <= len(of_words) - 4:
            found = tuple(of_words[i : i + 4]) == phrase
            times, i = times + found, i + (4 if found else 1)
        most = max(most, times * sum(map(len, phrase)) if times > 1 else 0)
    return most / sum(map(len, of_words)) if most else 0.0


@given(st.lists(st.text(alphabet="ab1 .\n", max_size=80), min_size=1, max_size=6))
def test_the_share_of_phrases_is_that_of_a_plain_count_in_any_batch(texts):
    found = top_ngram_shares(WordStream(texts), texts)
    assert found == pytest.approx([plain_top_ngram_share(text) for text in texts])


@pytest.mark.parametrize(
    "text", ["`" * 50_000, "<" * 50_000, "|\t" * 50_000, "[truncated" * 5_000, "a " * 50_000, "\n" * 50_000]
)
def test_hostile_texts_come_to_an_end(text):
    assert signals(text, "user").n_chars == len(text)


def test_nearly_all_real_answers_are_kept():
    folder = SHARED / "data" / "conversations" / "arena-hard"
    if not folder.is_dir():
        pytest.skip("the public conversations are not here")
    answers = []
    for file in sorted(folder.glob("*/model_answer/*.jsonl.gz")):
        for line in gzip.decompress(file.read_bytes()).split(b"\n"):
            if line.strip():
                answers += _texts_of_assistant(json.loads(line))
    assert len(answers) > 1000
    dropped = [reason(found) for found in batch_signals(TurnText(text, "assistant") for text in answers)]
    assert sum(r is not None for r in dropped) <= 0.005 * len(answers)


def _texts_of_assistant(entry):
    if "messages" in entry:
        contents = [m["content"] for m in entry["messages"] if m["role"] == "assistant"]
    else:
        contents = [turn["content"] for choice in entry["choices"] for turn in choice["turns"]]
    return [content["answer"] if isinstance(content, dict) else content for content in contents]
