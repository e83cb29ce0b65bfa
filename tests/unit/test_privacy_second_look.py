"""A larger model beside the tagger: whole texts whatever the window, only where it helps, typed errors.

The model is a small BERT made here, that learned that words of a few syllables are names of persons.
"""

import json
import pickle
import random

import pytest
import torch
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
from transformers import BertConfig, BertForTokenClassification, PreTrainedTokenizerFast

from jobs.command_line import main
from pipelines.privacy.policy import Policy, PolicyError, declared_policy
from pipelines.privacy.second_look import LookAt, SecondLook, TwoSources, joined
from pipelines.privacy.second_tier import span_source
from pipelines.privacy.tagger.tag import shipped_tagger
from pipelines.privacy.token_classifier import TokenClassifier, TokenClassifierError

WORDS = ["please", "call", "now", "then", "we", "talk", "of", "rain", "and", "sun", "or", "wait", "a", "bit"]
SYLLABLES = ["zor", "vik", "plu", "dran"]
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def name(chance):
    return "".join(chance.choice(SYLLABLES) for _ in range(2))


@pytest.fixture(scope="module")
def classifier_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("classifier")
    pieces = [*SPECIAL, *WORDS, *SYLLABLES, *("##" + syllable for syllable in SYLLABLES), ".", ","]
    inner = Tokenizer(models.WordPiece({piece: number for number, piece in enumerate(pieces)}, unk_token="[UNK]"))
    inner.normalizer = normalizers.Lowercase()
    inner.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    inner.post_processor = None
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=inner, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]",
        model_max_length=64,
    )  # fmt: skip
    torch.manual_seed(0)
    torch.set_num_threads(1)
    labels = ["O", "B-PER", "I-PER"]
    config = BertConfig(
        vocab_size=len(pieces), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
        max_position_embeddings=66, id2label=dict(enumerate(labels)),
        label2id={label: number for number, label in enumerate(labels)},
        hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
    )  # fmt: skip
    model = BertForTokenClassification(config)
    chance = random.Random(0)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-2)
    for _ in range(60):
        rows, targets = zip(*(sample(tokenizer, chance) for _ in range(16)), strict=True)
        loss = model(input_ids=torch.tensor(rows), labels=torch.tensor(targets)).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    model.save_pretrained(folder, safe_serialization=True)
    tokenizer.save_pretrained(folder)
    return folder


def sample(tokenizer, chance):
    """Return ids and labels of 48 tokens, a fourth of the words names."""
    ids, labels = [], []
    while len(ids) < 48:
        word = name(chance) if chance.random() < 0.25 else chance.choice(WORDS)
        pieces = tokenizer.encode(word, add_special_tokens=False)
        ids += pieces
        labels += [1, 2] if len(pieces) == 2 else [0]
    return ids[:48], labels[:48]


@pytest.fixture(scope="module")
def classifier(classifier_folder):
    return TokenClassifier(str(classifier_folder)).load()


def found(source, text):
    return [text[start:end] for start, end, *_ in source.tag([text])[0]]


def test_a_labelled_word_is_found_whole_with_places_in_code_points(classifier):
    text = "🦊 please call Zorvik, then wait"
    ((start, end, kind, score),) = classifier.tag([text])[0]
    assert (text[start:end], kind) == ("Zorvik", "PERSON")
    assert 0.5 < score <= 1


@settings(deadline=None, max_examples=20)
@given(before=st.integers(0, 400), after=st.integers(0, 400))
def test_no_text_is_cut_at_the_window(classifier, before, after):
    chance = random.Random(before * 1000 + after)
    words = [chance.choice(["please", "rain", "sun", "wait"]) for _ in range(before + after)]
    text = " ".join([*words[:before], "call pludran", *words[before:]])
    assert found(classifier, text) == ["pludran"]


def test_texts_together_give_what_each_gives_alone(classifier):
    texts = ["call zorplu", "", "rain and sun", "call vikdran " * 40, "please call dranzor now"]
    together = classifier.tag(texts)
    alone = [classifier.tag([text])[0] for text in texts]
    assert [[span[:3] for span in spans] for spans in together] == [[span[:3] for span in spans] for spans in alone]


def test_odd_texts_are_read_without_an_error(classifier):
    texts = ["\ud800 call zorvik \udc00", "\0", "\u200f", "x" * 100_000, " \n"]
    assert [len(spans) for spans in classifier.tag(texts)][0] == 1


def test_a_classifier_pickles_as_its_name(classifier):
    copy = pickle.loads(pickle.dumps(classifier))
    assert found(copy, "call zorvik") == ["zorvik"]


class Counting:
    """Counts the texts that the larger model is asked for."""

    def __init__(self):
        self.texts = []

    def tag(self, texts):
        self.texts += texts
        return [[] for _ in texts]


def test_the_larger_model_reads_only_texts_in_doubt_or_in_other_scripts():
    second = Counting()
    texts = ["The invoice was paid on time.", "Позвоните Олми завтра", "2 + 2 = 4"]
    TwoSources(shipped_tagger(), second).tag(texts)
    assert second.texts == ["Позвоните Олми завтра"]
    TwoSources(shipped_tagger(), second, LookAt.ALL).tag(texts)
    assert second.texts[1:] == texts


spans = st.lists(
    st.tuples(st.integers(0, 30), st.integers(1, 9), st.sampled_from(["PERSON", "ADDRESS"])), max_size=8
).map(lambda drawn: [(start, start + length, kind) for start, length, kind in drawn])


@given(spans, spans)
def test_joined_spans_are_disjoint_and_cover_what_both_cover(first, second):
    result = joined(first, second)
    assert all(a[1] <= b[0] for a, b in zip(result, result[1:], strict=False))
    assert {n for s in result for n in range(s[0], s[1])} == {n for s in first + second for n in range(s[0], s[1])}


def test_a_policy_file_names_the_second_look(classifier_folder):
    declared = {"name": "deep", "second_look": {"model": str(classifier_folder), "texts": "all"}}
    policy = declared_policy(declared)
    assert policy.second_look == SecondLook(str(classifier_folder), LookAt.ALL)
    assert policy.name != declared_policy({"name": "deep"}).name
    assert found(span_source(policy), "please call zorvik") == ["zorvik"]


def test_a_policy_without_a_second_look_keeps_its_digest():
    assert declared_policy({"name": "plain"}).name == "plain@d1d0e5b452bd"


@pytest.mark.parametrize(
    "look",
    [7, {}, {"model": 1}, {"model": "x", "texts": "some"}, {"model": "x", "labels": {"PER": "HUMAN"}}, {"name": "x"}],
)
def test_an_unusable_second_look_is_refused(look):
    with pytest.raises(PolicyError, match="second_look"):
        declared_policy({"name": "deep", "second_look": look})


def test_a_model_that_is_not_there_is_told_at_the_start(tmp_path):
    with pytest.raises(TokenClassifierError, match="wanted a token classifier"):
        span_source(Policy(second_look=SecondLook(str(tmp_path))))


def test_pickled_weights_are_refused(classifier_folder, tmp_path):
    for file in classifier_folder.iterdir():
        if file.suffix != ".safetensors":
            (tmp_path / file.name).write_bytes(file.read_bytes())
    torch.save({}, tmp_path / "pytorch_model.bin")
    with pytest.raises(TokenClassifierError, match="safetensors"):
        TokenClassifier(str(tmp_path)).load()


def test_labels_that_nobody_knows_must_be_mapped(classifier_folder, tmp_path):
    for file in classifier_folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    config = json.loads((tmp_path / "config.json").read_bytes())
    config["id2label"] = {"0": "O", "1": "B-WHO", "2": "I-WHO"}
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(TokenClassifierError, match="B-WHO"):
        TokenClassifier(str(tmp_path)).load()
    mapped = TokenClassifier(str(tmp_path), [("WHO", "PERSON")])
    assert found(mapped, "call zorvik") == ["zorvik"]


def test_the_filter_replaces_what_only_the_larger_model_finds(classifier_folder, tmp_path):
    policy = tmp_path / "deep.toml"
    look = ["[second_look]", f'model = "{classifier_folder}"', 'texts = "all"']
    policy.write_text("\n".join(['name = "deep"', 'other_types = "mask"', *look]))
    line = json.dumps({"text": "then we wait and call zorvik now"})
    run = CliRunner().invoke(
        main, ["pipe", "anonymize", "--policy", str(policy), "--keys", str(tmp_path / "keys")], input=line
    )
    assert run.exit_code == 0, run.output
    row = json.loads(run.stdout.splitlines()[0])
    assert "zorvik" not in row["text"]
    assert [entity["type"] for entity in row["entities"]] == ["PERSON"]
