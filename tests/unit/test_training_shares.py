"""Rows of a step: each in one place, dealt in proportion to speed; shares move when it pays, stragglers are told of."""

import dataclasses
from collections import Counter

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.training.distributed.rank_lines import (
    MOST_RANKS_TOLD,
    RANKS_FILE,
    StepTally,
    rank_line,
    read_reports,
    summed_reports,
)
from pipelines.training.distributed.sharding import StepPlan, deal, dealt_by_shares, micro_batches
from pipelines.training.distributed.shares import ShareController, proportional, step_seconds
from pipelines.training.distributed.stragglers import ScoreBoard, alert
from pipelines.training.pinned_inputs import disagreements
from pipelines.training.run_spec import RunSpec

SPEEDS = st.lists(st.floats(0.01, 1e4), min_size=1, max_size=8)
LENGTHS = st.lists(st.integers(1, 500), min_size=1, max_size=200).map(tuple)


@given(SPEEDS, st.integers(0, 300), st.integers(0, 5))
def test_shares_add_up_and_are_within_one_of_exact(speeds, total, least):
    plain, bounded = proportional(speeds, total), proportional(speeds, total, least)
    assert sum(plain) == sum(bounded) == total
    assert all(abs(n - speed / sum(speeds) * total) < 1 + 1e-6 for n, speed in zip(plain, speeds, strict=True))
    assert min(bounded) >= min(least, total // len(speeds))


@pytest.mark.parametrize("weights", [[], [0.0, 0.0], [-1.0, 2.0], [float("nan"), 1.0], [float("inf"), 1.0]])
def test_weights_that_mean_nothing_are_refused(weights):
    with pytest.raises(ValueError, match="shares: wanted"):
        proportional(weights, 8)


@given(LENGTHS, st.integers(1, 40), st.integers(0, 3), st.lists(st.integers(0, 9), min_size=1, max_size=5).filter(any))
def test_an_epoch_deals_every_row_to_one_process_once(lengths, batch_rows, epoch, shares):
    plan = StepPlan(lengths, batch_rows, seed=3)
    seen = Counter()
    for step in range(plan.steps):
        dealt = dealt_by_shares(plan.batch(epoch, step), shares)
        assert len(dealt) == len(shares)
        seen.update(row for rows in dealt for row in rows)
    assert seen == Counter(range(len(lengths)))


@given(LENGTHS, st.integers(1, 40), st.integers(0, 3))
def test_a_plan_is_the_same_again_and_only_the_last_batch_is_short(lengths, batch_rows, epoch):
    one, other = StepPlan(lengths, batch_rows, 7), StepPlan(tuple(lengths), batch_rows, 7)
    batches = [one.batch(epoch, step) for step in range(one.steps)]
    assert batches == [other.batch(epoch, step) for step in range(other.steps)]
    assert [len(batch) for batch in batches[:-1]] == [batch_rows] * (one.steps - 1)


def test_epochs_and_seeds_differ():
    lengths = tuple(range(1, 65))
    orders = {
        tuple(row for step in range(plan.steps) for row in plan.batch(epoch, step))
        for plan in (StepPlan(lengths, 8, 1), StepPlan(lengths, 8, 2))
        for epoch in (0, 1)
    }
    assert len(orders) == 4


def test_rows_of_like_length_share_a_batch_and_each_process_gets_short_and_long_ones():
    plan = StepPlan(tuple(range(1, 401)), 8, 1)
    batches = [plan.batch(0, step) for step in range(plan.steps)]
    assert max(max(batch) - min(batch) for batch in batches) == 7
    assert deal(list(range(8)), [4, 4]) == [[0, 2, 4, 6], [1, 3, 5, 7]]
    assert deal(list(range(8)), [6, 2])[1] == [2, 6]


def test_a_deal_that_does_not_add_up_is_refused():
    with pytest.raises(ValueError, match="add up to 3 rows, found 4"):
        deal([1, 2, 3], [2, 2])


@given(st.lists(st.integers(0, 99), max_size=40), st.integers(1, 9))
def test_micro_batches_are_few_and_of_about_one_size(rows, most):
    parts = micro_batches(rows, most)
    assert [row for part in parts for row in part] == rows
    assert len(parts) == -(-len(rows) // most)
    sizes = {len(part) for part in parts}
    assert not sizes or max(sizes) <= most and max(sizes) - min(sizes) <= 1


def test_shares_follow_a_process_that_slows_down_and_one_that_recovers():
    shares = ShareController(2, 16)
    assert shares.counts == [8, 8]
    assert shares.tell([30.0, 10.0])
    assert shares.counts == [12, 4]
    for _ in range(8):
        shares.tell([30.0, 30.0])
    assert shares.counts == [8, 8]


@given(st.lists(st.floats(0.97, 1.03), min_size=4, max_size=4))
def test_speeds_that_differ_by_chance_move_nothing(noise):
    shares = ShareController(4, 32)
    assert not shares.tell([100 * factor for factor in noise])
    assert shares.counts == [8, 8, 8, 8]


@given(st.lists(st.lists(st.floats(0, 1e3), min_size=3, max_size=3), max_size=12))
def test_shares_stay_whole_and_within_bounds_and_never_move_to_what_is_slower(measured):
    shares = ShareController(3, 24)
    for speeds in measured:
        before = list(shares.counts)
        moved = shares.tell(speeds)
        assert sum(shares.counts) == 24
        assert min(shares.counts) >= shares.least >= 1
        if moved:
            assert step_seconds(shares.counts, shares.speeds) < step_seconds(before, shares.speeds)


def test_scores_are_those_of_the_fastest_and_of_ones_own_best():
    board = ScoreBoard(["one.example", "two.example"])
    first = board.score([100, 50], [1.0, 1.0])
    assert [(score.relative, score.individual) for score in first] == [(1.0, 1.0), (0.5, 1.0)]
    second = board.score([20, 50], [1.0, 1.0])
    assert [(score.relative, score.individual) for score in second] == [(0.4, 0.2), (1.0, 1.0)]
    assert [score.is_straggler for score in second] == [True, False]
    assert alert(second[0]) == "rank 0 on one.example works at 0.40 of the fastest and 0.20 of its own best (20 rows/s)"


def test_a_process_that_did_nothing_has_no_score():
    [worked, idle] = ScoreBoard(["a", "b"]).score([10, 0], [1.0, 0.0])
    assert (worked.relative, idle.relative, idle.is_straggler) == (1.0, None, False)


def reported(ranks, step=10, slow=1.0):
    told = [StepTally(10, 40, 1000, 0.1, 1.0 if rank else slow, 2.0, 4000) for rank in range(ranks)]
    scores = ScoreBoard(["host"] * ranks).score([one.rows for one in told], [one.compute_seconds for one in told])
    return rank_line(step, told, scores, [4] * ranks, 2.0)


def test_reports_are_read_back_without_a_torn_line_and_summed_up(tmp_path):
    lines = [reported(2, 10, slow=4.0), reported(2, 20)]
    (tmp_path / RANKS_FILE).write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines) + b'{"step": 3')
    assert read_reports(tmp_path) == lines
    assert read_reports(tmp_path / "none") == []
    figures = summed_reports(lines)
    assert (figures["tokens_per_second"], figures["gradient_bytes_a_step"]) == (500.0, 400.0)
    assert (figures["straggler_reports"], figures["rank0_share"], figures["rank1_relative"]) == (1.0, 4.0, 1.0)
    assert lines[0]["ranks"][1]["wait_seconds"] == pytest.approx(0.09)


def test_a_run_of_many_processes_does_not_flood_its_row():
    figures = summed_reports([reported(64)])
    assert sum(name.endswith("_share") for name in figures) == MOST_RANKS_TOLD
    assert summed_reports([]) == {}


def test_a_digest_leaves_out_where_and_how_a_run_is_carried_out():
    spec = RunSpec("run-1", "ds-1", "/a", "/b", "base@1")
    apart = {"least_nodes": 1, "rendezvous": "node.example:1", "report_steps": 3, "collective_seconds": 5.0}
    assert dataclasses.replace(spec, **apart).digest == spec.digest
    for field, value in {"nodes": 2, "compression": "fp16", "adaptive_shares": True, "micro_batch": 2}.items():
        assert dataclasses.replace(spec, **{field: value}).digest != spec.digest


def test_it_is_told_which_process_has_another_dataset_and_where():
    same = {"specification": "a", "dataset (train.jsonl)": "b"}
    told = [("one", same), ("two", same | {"dataset (train.jsonl)": "missing"}), ("three", same)]
    assert disagreements(told) == ["rank 1 on two has another dataset (train.jsonl)"]
    assert disagreements(told[:1]) == []
