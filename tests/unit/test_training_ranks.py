"""A run on two processes takes the steps of a run on one: no row lost or doubled, the same gradients, fewer bytes."""

import json
import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import orjson
import pytest
import torch
from safetensors.torch import load_file

pytestmark = pytest.mark.long

WORDS = ["sun", "moon", "river", "stone", "bird", "leaf", "wind", "rain", "snow", "fire"]
SCRIPT = Path(__file__).with_name("rank_scenarios.py")
ROWS, BATCH, STEPS = 27, 8, 5
METHODS = [("sft", 4), ("sft", 0), ("dpo", 4), ("dpo", 0)]

SHARDED = [("fsdp", "untied", 0), ("fsdp", "sft", 4), ("fsdp", "dpo", 4)]


def said(asked, words):
    return [{"role": "user", "content": f"Say {asked}."}, {"role": "assistant", "content": " ".join(words)}]


def row(method, i):
    choose = random.Random(i)
    prompt, good = said(choose.choice(WORDS), choose.choices(WORDS, k=choose.randint(1, 9)))
    if method == "sft":
        return {"prompt": [prompt], "completion": [good]}
    _, bad = said("", choose.choices(WORDS, k=choose.randint(1, 9)))
    return {"prompt": [prompt], "chosen": [good], "rejected": [bad]}


def scenarios(folder):
    def one(name, world, method="sft", rank=0, shares=None, **spec):
        places = {"dataset": str(folder / method), "base": str(folder / "base"), "base_label": "b@1"}
        told = {"run_id": name, "dataset_version": "ds-1", "method": method, "max_steps": STEPS, "nproc": 2, **places,
                "batch_size": BATCH // 2, "learning_rate": 1e-3, "max_length": 64, "lora_rank": rank,
                "report_steps": 2} | spec  # fmt: skip
        return {"name": name, "world": world, "shares": shares, "spec": told}

    for method, rank in METHODS:
        yield one(f"{method}-{rank}-one", 1, method, rank)
        yield one(f"{method}-{rank}-two", 2, method, rank)
        yield one(f"{method}-{rank}-uneven", 2, method, rank, shares=[7, 1], micro_batch=2)
    # An epoch's short batch leaves processes with micro-batches that have no row.
    for method, rank in (("sft", 4), ("dpo", 4)):
        yield one(f"{method}-{rank}-fsdp", 2, method, rank, parallel="fsdp", micro_batch=2)
    yield one("untied-0-one", 1, base=str(folder / "untied"))
    yield one("untied-0-fsdp", 2, base=str(folder / "untied"), parallel="fsdp", micro_batch=2)
    yield one("tensor", 2, parallel="tensor")
    yield one("fp16", 2, compression="fp16")
    yield one("bf16", 2, compression="bf16")
    yield one("powersgd", 2, compression="powersgd", max_steps=7, powersgd_warmup=3)
    slow = one("adaptive", 2, rank=4, max_steps=24, adaptive_shares=True)
    yield slow | {"slow_seconds": [0.01, 0.03]}


@pytest.fixture(scope="module")
def ran(tmp_path_factory, random_base):
    folder = tmp_path_factory.mktemp("ranks")
    random_base(folder / "base", WORDS)
    random_base(folder / "untied", WORDS, tied=False)
    for method in ("sft", "dpo"):
        (folder / method).mkdir()
        for split, places in (("train", range(ROWS)), ("validation", range(100, 106))):
            lines = (orjson.dumps(row(method, i)) + b"\n" for i in places)
            (folder / method / f"{split}.jsonl").write_bytes(b"".join(lines))
    (folder / "scenarios.json").write_text(json.dumps(list(scenarios(folder))))
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
    done = subprocess.run(
        [sys.executable, SCRIPT, folder], env=environment, capture_output=True, text=True, check=False
    )
    logs = [path.read_text()[-2000:] for path in folder.glob("*/rank-*.log")] if done.returncode else []
    assert done.returncode == 0, (done.stdout, done.stderr[-2000:], logs)
    return folder


def told(folder, name):
    return [json.loads(path.read_text()) for path in sorted((folder / name).glob("rank-?.json"))]


@pytest.mark.parametrize(
    ("how", "method", "rank"), [(how, *one) for how in ("two", "uneven") for one in METHODS] + SHARDED
)
def test_two_processes_have_the_gradients_of_one_on_all_rows(ran, how, method, rank):
    for step in range(3):
        alone = load_file(ran / f"{method}-{rank}-one" / f"gradients-{step}.safetensors")
        shared = load_file(ran / f"{method}-{rank}-{how}" / f"gradients-{step}.safetensors")
        assert shared.keys() == alone.keys()
        scale = max(one.abs().max() for one in alone.values())
        assert scale > 1e-3
        for name, gradient in alone.items():
            assert (shared[name] - gradient).abs().max() <= (2e-5 if step == 0 else 2e-3) * scale, (step, name)
    [one], two = told(ran, f"{method}-{rank}-one"), told(ran, f"{method}-{rank}-{how}")
    for rank_told in two:
        assert rank_told["loss_after"] == pytest.approx(one["loss_after"], rel=1e-3, abs=1e-4)
    assert two[0]["train_loss"] == pytest.approx(one["train_loss"], rel=1e-3)


def test_a_model_in_parts_on_two_processes_has_the_loss_and_gradients_of_a_whole_one(ran):
    for rank, tells in enumerate(told(ran, "tensor")):
        assert tells["spread"] == pytest.approx(tells["whole"], rel=1e-5)
        assert tells["spread_elements"] < 0.75 * tells["whole_elements"]
        spread, whole = (load_file(ran / "tensor" / f"{name}-{rank}.safetensors") for name in ("spread", "whole"))
        assert spread.keys() == whole.keys()
        for name, gradient in whole.items():
            assert torch.allclose(spread[name], gradient, atol=1e-5, rtol=1e-4), name


@pytest.mark.parametrize("how", ["one", "two", "uneven"])
def test_an_epoch_has_each_row_once_whoever_gets_it(ran, how):
    steps = -(-ROWS // BATCH)
    ranks = told(ran, f"sft-0-{how}")
    for first, times in ((0, 1), (steps, 1)):
        seen = Counter(row for rank in ranks for step in rank["rows"][first : first + steps] for row in step)
        if first == 0:
            assert seen == Counter(range(ROWS))
        else:
            assert max(seen.values()) == times
    if how == "uneven":
        assert [len(step) for step in ranks[0]["rows"][:2]] == [7, 7]
        assert [len(step) for step in ranks[1]["rows"][:2]] == [1, 1]
        assert sum(len(rank["rows"][steps - 1]) for rank in ranks) == ROWS % BATCH


@pytest.mark.parametrize(("kind", "part"), [("fp16", 2), ("bf16", 2)])
def test_half_precision_halves_the_bytes_and_keeps_the_loss(ran, kind, part):
    [full, _], [half, _] = told(ran, "sft-0-two"), told(ran, kind)
    assert half["metrics"]["gradient_bytes_a_step"] * part == full["metrics"]["gradient_bytes_a_step"] > 0
    assert half["loss_after"] == pytest.approx(full["loss_after"], rel=0.02)


def test_bytes_told_are_bytes_that_went_to_all_reduce(ran):
    for name, steps in (("sft-0-two", STEPS), ("fp16", STEPS)):
        [first, _] = told(ran, name)
        gradients = first["metrics"]["gradient_bytes_a_step"] * steps
        others = first["all_reduced"] - gradients
        assert 0 <= others <= 2048, name
    [first, _] = told(ran, "powersgd")
    full = told(ran, "sft-0-two")[0]["metrics"]["gradient_bytes_a_step"]
    low = first["metrics"]["gradient_bytes_a_step"]
    assert low < full / 5
    # Three steps as they are while it warms up, four in few bytes.
    assert first["all_reduced"] == pytest.approx(3 * full + 4 * low, abs=2048)


def test_a_slow_process_gets_fewer_rows_and_the_loss_stays_that_of_equal_shares(ran):
    lines = [json.loads(line) for line in (ran / "adaptive" / "ranks.jsonl").read_text().splitlines()]
    assert [rank["share"] for rank in lines[0]["ranks"]] == [4, 4]
    fast, slow = (rank["share"] for rank in lines[-1]["ranks"])
    assert fast + slow == BATCH
    assert fast > slow
    assert 1 in lines[0]["stragglers"]
    assert "rank 1 on" in (ran / "adaptive" / "rank-0.log").read_text()
    first, second = told(ran, "adaptive")
    assert first["loss_after"] == pytest.approx(second["loss_after"], rel=1e-6)
    assert first["metrics"]["rank1_relative"] < 0.75
