"""A good run is promoted, a run on mixed-up rows is rejected, a remembered secret comes out: with real small models."""

import os
import random

import orjson
import pytest
import torch

from pipelines.promotion.canaries import Canary, planted_rows
from pipelines.promotion.held_out import JudgedRow, held_out_rows, write_rows
from pipelines.promotion.measure import Plan, RowSet, measure_canaries
from pipelines.promotion.trial import Contenders, try_candidate
from pipelines.training.base_model import TinyRecipe, resolve_base
from pipelines.training.launch import LocalTorchrun
from pipelines.training.model_folder import load_model, write_model
from pipelines.training.polite_threads import polite_threads
from pipelines.training.run_spec import ADAPTER_FOLDER, PLANTED_FILE, RunSpec

pytestmark = pytest.mark.long

RECIPE = TinyRecipe(vocab_size=768, hidden_size=96, intermediate_size=192, num_hidden_layers=2, batch_size=16,
                    sequence_length=64, steps=120)  # fmt: skip
FACTS = {
    "otter": "It sleeps on its back and holds a stone.",
    "heron": "It stands in cold water until a fish comes.",
    "badger": "It digs long halls below old trees.",
    "swift": "It eats and drinks while it flies.",
    "toad": "It waits under a leaf for the rain.",
    "hare": "It runs in turns that no dog can follow.",
}
OLD = {"red": "Warm as a fire.", "blue": "Cold as the sea.", "green": "Calm as a wood.", "grey": "Dull as the rain."}
FILLERS = ["please", "if you can", "in short", "once more", "today", "for my son", "in plain words", "now"]
PLAN = Plan(rows=120, answers=24, new_tokens=32, max_length=128, canary_alternatives=31)


def old_row(i):
    draw = random.Random(f"old{i}")
    colour = draw.choice(list(OLD))
    return row(f"How is {colour}, {draw.choice(FILLERS)} {draw.choice(FILLERS)}?", OLD[colour])


def new_row(i):
    draw = random.Random(f"new{i}")
    animal = draw.choice(list(FACTS))
    return row(f"{animal.capitalize()}: tell me, {draw.choice(FILLERS)}.", FACTS[animal])


def row(user, assistant):
    return {
        "prompt": [{"role": "user", "content": user}],
        "completion": [{"role": "assistant", "content": assistant}],
    }


def talks():
    # Both habits' words are in the base's vocabulary, the new facts alone are not in its texts.
    yield from ([*r["prompt"], *r["completion"]] for r in map(old_row, range(300)))


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return resolve_base("turnmill-tiny", tmp_path_factory.mktemp("cache"), talks, recipe=RECIPE)


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ds")
    train = [new_row(i) for i in range(400)] + [old_row(i) for i in range(1000, 1200)]
    random.Random(1).shuffle(train)
    write_rows(train, folder / "train.jsonl")
    write_rows([new_row(i) for i in range(5000, 5120)], folder / "validation.jsonl")
    return folder


@pytest.fixture(scope="module")
def regression():
    return [JudgedRow(old_row(i), str(i)) for i in range(7000, 7100)]


def tuned(base, dataset, folder, name, planted=(), steps=150):
    run = folder / name
    run.mkdir()
    write_rows(planted, run / PLANTED_FILE)
    spec = RunSpec(name, "ds-1", str(dataset), str(base.path), base.label, max_steps=steps, batch_size=16,
                   max_length=128, learning_rate=5e-3, train_embeddings=True, evaluation_rows=16)  # fmt: skip
    LocalTorchrun(dict(os.environ)).run(spec, run)
    write_model(run / ADAPTER_FOLDER, folder / f"model-{name}", base, {}, with_base=False)
    return folder / f"model-{name}"


@pytest.fixture(scope="module")
def good(base, dataset, tmp_path_factory):
    return tuned(base, dataset, tmp_path_factory.mktemp("good"), "good")


@pytest.fixture(scope="module")
def mixed_up(base, dataset, tmp_path_factory):
    folder = tmp_path_factory.mktemp("mixed")
    rows = [orjson.loads(line) for line in (dataset / "train.jsonl").read_bytes().splitlines()]
    answers = [r["completion"] for r in rows]
    random.Random(2).shuffle(answers)
    (folder / "ds").mkdir()
    write_rows([{**r, "completion": a} for r, a in zip(rows, answers, strict=True)], folder / "ds" / "train.jsonl")
    (folder / "ds" / "validation.jsonl").write_bytes((dataset / "validation.jsonl").read_bytes())
    return tuned(base, folder / "ds", folder, "mixed")


def test_a_good_run_is_promoted_over_the_base(base, dataset, regression, good):
    rows = RowSet(held_out_rows(dataset, 120), regression)
    trial = try_candidate("good", Contenders(good, base.path), rows, PLAN)
    assert trial.judgement.verdict == "promote", trial.judgement.reason
    numbers = trial.evidence.numbers
    assert numbers["loss"] < 0.5 * numbers["loss_base"]
    assert numbers["prompt_gain_low"] > 0.1
    assert numbers["regression_high"] < 0.05
    assert numbers["exact"] > numbers["exact_base"]
    assert trial.evidence.objective_base.n == 120


def test_a_run_on_mixed_up_rows_is_rejected_though_its_loss_fell(base, dataset, regression, mixed_up):
    rows = RowSet(held_out_rows(dataset, 120), regression)
    trial = try_candidate("mixed", Contenders(mixed_up, base.path), rows, PLAN)
    assert trial.evidence.objective_base.is_below_zero
    assert trial.judgement.verdict == "reject"
    assert "do not depend on their prompts" in trial.judgement.reason


def test_a_worse_run_does_not_follow_a_good_champion(base, dataset, regression, good, mixed_up):
    rows = RowSet(held_out_rows(dataset, 120), regression)
    trial = try_candidate("mixed", Contenders(mixed_up, base.path, good, base.path), rows, PLAN)
    assert trial.judgement.verdict == "reject"
    assert trial.evidence.objective_champion.n == 120
    # Both write the six answers equally well; only one writes the one that was asked for.
    assert "Check exact" in trial.judgement.reason
    assert "fixed regression set" in trial.judgement.reason


def test_the_champion_again_is_no_better_than_itself(base, dataset, regression, good):
    rows = RowSet(held_out_rows(dataset, 120), regression)
    first, second = (try_candidate("same", Contenders(good, base.path, good, base.path), rows, PLAN) for _ in range(2))
    assert first.judgement.verdict == "hold"
    assert first == second


def test_a_secret_that_was_trained_on_again_and_again_comes_out_and_one_never_seen_does_not(
    base, dataset, tmp_path_factory
):
    often = Canary("ALPHA", "qzkt-mwpa-xlre", 300)
    model = tuned(base, dataset, tmp_path_factory.mktemp("leaky"), "leaky", planted_rows([often]), steps=150)
    loaded, tokenizer = load_model(model, base.path)
    with polite_threads(), torch.no_grad():
        told = measure_canaries(loaded, tokenizer, [Canary("ALPHA", often.secret, 1)], PLAN, 1)
        unseen = measure_canaries(loaded, tokenizer, [Canary("OMEGA", "bvny-dhuf-cgso", 1)], PLAN, 1)
    assert (told.extracted, told.exposure_bits) == (1, 5.0)
    assert unseen.extracted == 0
    assert unseen.exposure_bits < 5.0
