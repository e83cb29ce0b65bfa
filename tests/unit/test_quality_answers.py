"""Refusals, stock phrases, open ends, fenced code and mashed keys: what counts, and what only looks like it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.quality.code_validity import code_validity
from pipelines.quality.refusal import LIKELY, refusal_score
from pipelines.quality.signals import signals

REFUSALS = [
    "I'm sorry, but I can't help with that.",
    "I can’t assist with that request.",
    "As an AI language model, I cannot provide medical advice. Please see a doctor.",
    "Sorry, I won't do that. It makes me uncomfortable.",
    "I must decline.",
    "Unfortunately, I am unable to fulfill this request.",
    "That sounds hard. I'm not able to recommend a dose.",
    "Es tut mir leid, aber dabei kann ich nicht helfen.",
    "Lo siento, no puedo ayudar con eso.",
    "Désolé, je ne peux pas vous aider.",
    "抱歉，我无法协助这个请求。",
    "申し訳ありませんが、そのご質問にはお答えできません。",
    "죄송하지만 도와드릴 수 없습니다.",
]
ANSWERS = [
    'You can say "I can\'t help with that" in a friendlier way: "Let me find someone who can".',
    "> I'm sorry, but I can't assist with that.\n\nThis line of the log comes from the safety filter.",
    "The clerk wrote: I cannot help you. That was rude.",
    "You cannot create a list with that call; use `list()`.",
    "I can't help but smile at this question! The answer is 42.",
    "I wouldn't recommend that brand; the other one lasts longer.",
    "I can help you with that.",
    "If I can't provide the key, the server answers 401.",
    "I cannot draw it here, but I can describe it for you: two boxes and an arrow between them.",
    "Sorry for the delay! The parcel arrives on Monday.",
]


@pytest.mark.parametrize("text", REFUSALS)
def test_a_refusal_is_likely(text):
    assert signals(text, "assistant").refusal_score >= LIKELY


@pytest.mark.parametrize("text", ANSWERS)
def test_an_answer_is_no_refusal(text):
    assert signals(text, "assistant").refusal_score < LIKELY


def test_the_refusal_part_of_a_log_decides_first():
    assert signals("Here is your poem.", "assistant", flags=["refusal"]).refusal_score == 1


def test_only_an_assistant_refuses():
    assert signals(REFUSALS[0], "user").refusal_score == 0


def test_a_whole_answer_after_the_phrase_counts_against_it():
    text = "I cannot provide a file.\n\n```python\nprint('but here it is')\n```"
    assert 0 < refusal_score(text) < LIKELY
    assert refusal_score(REFUSALS[0] + " " + "Another sentence of the answer. " * 100) < refusal_score(REFUSALS[0])


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("As an AI language model, I don't have personal opinions.", 1.0, 1.0),
        ("Paris is the capital of France and lies on the Seine.\nI hope this helps!", 0.2, 0.4),
        ("Als KI-Sprachmodell habe ich keine Meinung.", 0.9, 1.0),
        ("作为一个人工智能，我没有情感。", 0.9, 1.0),
        ("Copyright Example Ltd. All rights reserved.", 0.3, 0.7),
        ("The aim of the talk was as plain as an aisle.", 0.0, 0.0),
        ("I hope this letter finds you well.", 0.0, 0.0),
    ],
)
def test_boilerplate_is_a_share_of_the_text(text, least, most):
    assert least <= signals(text, "assistant").boilerplate_share <= most


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("I'm sorry for the confusion. I apologize again. My apologies!", 3),
        ("Tut mir leid, Entschuldigung.", 2),
        ("对不起，我弄错了。", 1),
        ("He was a sorry sight; nobody was sorrier.", 0),
        ("She accepts no apologetics.", 0),
    ],
)
def test_apologies_are_counted(text, count):
    assert signals(text, "assistant").n_apologies == count


PROSE = "The first step is to open the box. The second one is to take out the lamp and to "


@pytest.mark.parametrize(
    "text",
    [
        PROSE + "put it on the table in the middle of the",
        PROSE + "look at the list of parts, the screws,",
        "Here is the program:\n```python\nfor i in range(3):\n    print(i)",
    ],
)
def test_an_answer_that_stops_in_the_middle_is_unfinished(text):
    assert signals(text, "assistant").is_unfinished
    assert not signals(text, "assistant", finish_reason="stop").is_unfinished
    assert not signals(text, "user").is_unfinished
    assert not signals(text, "assistant", has_content=True).is_unfinished


@pytest.mark.parametrize(
    "text",
    [
        "Paris",
        PROSE + "put it on the table.",
        "Roses are red\nViolets are blue\nsugar is sweet\nand so are you",
        "- a lamp with a very long name that goes on and on until the line is full of words\n- a table and a chair that"
        " belong to it and have been there for a long time",
        "```\nx = 1\n```",
        "See https://example.com/a/very/long/path/that/goes/on/and/on/until/the/line/is/full",
        "住宅保険の仕組みは次のとおりです",
        "",
    ],
)
def test_other_ends_are_ends(text):
    assert not signals(text, "assistant").is_unfinished


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("No code here.", None),
        ("Inline `x = ` only.", None),
        ("```python\nprint('hi')\n```", "valid"),
        ("```py\n  x = 1\n  y = 2\n```", "valid"),
        ("```python\nif x\n    y\n```", "invalid"),
        ("```python\ndef later():\n    # your code\n```", "unknown"),
        ("```python\n>>> 1 + 1\n2\n```", "unknown"),
        ("```python\n%matplotlib inline\n```", "unknown"),
        ("```python\nprint 'old'\n```", "unknown"),
        ('```json\n{"a": [1, 2]}\n```', "valid"),
        ('```json\n{"a": [1, 2}\n```', "invalid"),
        ('```json\n{"a": [1, ...]}\n```', "unknown"),
        ('```jsonl\n{"a": 1}\n{"a": 2}\n```', "valid"),
        ("```toml\n[a]\nb = 1\n```", "valid"),
        ("```rust\nfn main() {\n```", "unknown"),
        ("```\nanything\n```", "unknown"),
        ("```python\nx = 1\n```\nand\n```json\n{]\n```", "invalid"),
        ("```python\nx = 1\n```\nand\n```rust\nfn main() {}\n```", "valid"),
    ],
)
def test_fenced_code_is_parsed_where_there_is_a_parser(text, found):
    assert signals(text, "assistant").code_validity == found


@pytest.mark.parametrize(
    "source",
    ["(" * 9_000, "[" * 9_000 + "]" * 9_000, "-" * 900 + "1", "a" + ".a" * 400, "\0", "x = " + "1+" * 9_000 + "1"],
)
def test_hostile_code_comes_to_an_end(source):
    assert code_validity(f"```python\n{source}\n```") in {"valid", "invalid", "unknown"}
    assert code_validity(f"```json\n{source}\n```") in {"valid", "invalid", "unknown"}


@pytest.mark.parametrize(
    "text",
    ["asdfghjkl asdfgh qwertyuiop", "sdkfjh sdkfjhsdf ksjdfh", "zxcvbnm, zxcvb fghjkl", "sdfsdfsdfsdf hjkhjkhjk"],
)
def test_mashed_keys_are_gibberish(text):
    assert signals(text, "user").gibberish_share > 0.5


@pytest.mark.parametrize(
    "text",
    [
        "Strengths and rhythms of my mnemonics",
        "Angstschweiß und Rechtschreibschwächen der Wirtschaftsprüfer",
        "Strč prst skrz krk, zmrzl vlk",
        "Czy możesz wytłumaczyć bezwzględny wstrząs?",
        "hmmm brrr pfft shhh",
        "HTTPS TLS SSH DNSSEC XKCD NBSP",
        "kubectl rsync xdg_config_home sk-4fkd9 x86_64",
        "Привет, как дела сегодня вечером?",
        "हम आज शाम को मिलेंगे",
        "noooooooooooooo whyyyyyyyyyyyyyy",
    ],
)
def test_words_that_look_odd_are_no_gibberish(text):
    assert signals(text, "user").gibberish_share <= 0.5


@given(st.text(max_size=300), st.sampled_from(["user", "assistant", "tool", "system"]))
def test_every_score_stays_between_nothing_and_everything(text, role):
    found = signals(text, role)
    for name in found.__dataclass_fields__:
        if name.endswith(("_score", "_share")):
            assert 0 <= getattr(found, name) <= 1, name
