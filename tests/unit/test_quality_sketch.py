"""Words as arrays, cue words and sketches: the same in every batch and process; like texts get like sketches."""

import random
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.quality.cue_words import CueWords
from pipelines.quality.sketch import similarity, sketch, sketches
from pipelines.quality.word_stream import WordStream, hashes_of

ROOT = Path(__file__).resolve().parents[2]
QUESTION = "How can I move my train ticket from Friday evening to Sunday morning?"
TEXTS = st.text(alphabet="aB1 '.\né漢の\u2019\u3002\0", max_size=60)


def test_a_sketch_is_the_same_in_every_process_and_version():
    assert sketch(QUESTION) == -1386453085491598377
    program = f"from pipelines.quality.sketch import sketch; print(sketch({QUESTION!r}))"
    told = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, check=True, text=True)
    assert int(told.stdout) == sketch(QUESTION)


@given(st.lists(TEXTS, max_size=6))
def test_a_batch_sketches_as_one_by_one(texts):
    assert sketches(WordStream(texts)) == [sketch(text) for text in texts]


@given(TEXTS)
def test_a_sketch_fits_into_a_signed_64_bit_integer(text):
    found = sketch(text)
    assert found is None or -(2**63) <= found < 2**63
    assert found is None or similarity(found, found) == 1


@pytest.mark.parametrize("text", ["", "yes", "go on please", "...", "да, давай"])
def test_a_short_text_has_no_sketch(text):
    assert sketch(text) is None


def test_case_marks_and_spaces_do_not_change_a_sketch():
    assert sketch(QUESTION) == sketch(f"  {QUESTION.upper()}!!\n".replace(" ", "\n"))


@pytest.mark.parametrize(
    "again",
    [
        "how can i move my train ticket from friday evening to sunday morning",
        "I asked: how can I move my train ticket from Friday evening to Sunday morning?",
        "How can I move my train ticket from Friday to Sunday morning, please?",
    ],
)
def test_a_question_asked_again_is_alike(again):
    assert similarity(sketch(QUESTION), sketch(again)) >= 0.8


def test_other_questions_are_not_alike():
    rng = random.Random(7)
    words = [f"{rng.choice('bdfglmnprst')}{rng.choice('aeiou')}{rng.choice('bdglmnrst')}{n}" for n in range(400)]
    texts = [" ".join(rng.sample(words, 12)) for _ in range(200)]
    found = sketches(WordStream(texts))
    pairs = [similarity(a, b) for i, a in enumerate(found) for b in found[:i]]
    assert sum(pair >= 0.6 for pair in pairs) <= 0.001 * len(pairs)


def test_a_long_text_is_sketched_by_all_of_its_first_words():
    text = " ".join(f"word{n}" for n in range(500))
    assert similarity(sketch(text), sketch(text + " and one more")) >= 0.95
    assert similarity(sketch(text), sketch(text[: len(text) // 4])) < 0.9


@given(st.lists(TEXTS, max_size=5))
def test_words_of_a_stream_are_those_of_its_texts(texts):
    together = WordStream(texts)
    for place, text in enumerate(texts):
        alone = WordStream([text])
        start, end = together.starts[place], together.starts[place + 1]
        assert together.hashes[start:end].tolist() == alone.hashes.tolist()
        assert together.n_chars[start:end].tolist() == alone.n_chars.tolist()
        assert together.is_spoken[start:end].tolist() == alone.is_spoken.tolist()
        assert (together.text_of[start:end] == place).all()


def test_words_that_share_begin_and_end_differ():
    words = ["internationalisation", "internationalization", "a", "aa", "aaaaaaaa", "aaaaaaaaa", "b" * 17, "b" * 18]
    assert len(set(hashes_of(words).tolist())) == len(words)


def test_cue_words_need_one_of_each_group_and_pairs_stand_together():
    cues = CueWords({"both": ("red green", "ball"), "pair": ("feel_free",)})
    texts = ["a red ball", "red only", "feel free", "feel very free", "free feel", "feel", "free", "RED: (ball)"]
    found = [sorted(cues.detectors(flags)) for flags in cues.found_in(WordStream(texts))]
    assert found == [["both"], [], ["pair"], [], [], [], [], ["both"]]


def test_a_cue_of_three_words_is_refused():
    with pytest.raises(ValueError, match="words"):
        hashes_of(["two words"])
