"""Restarts by policy, states, readiness: a supervisor with invented processes and an invented clock."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.supervision.restart import FINAL, Ending, RestartPolicy, ending
from pipelines.supervision.states import SILENT_SECONDS, Deployment, JobState, Phase, Report, read_state
from pipelines.supervision.supervisor import JobSpec, Supervisor

POLICY = RestartPolicy(draw=lambda: 1.0)


class Invented:
    """A process that ends when it is told to, and reports what it is told to."""

    def __init__(self, pid):
        self.pid, self.code, self.reports, self.error, self.asked = pid, None, [], None, []

    def poll(self):
        return self.code

    def heard(self):
        told, self.reports = self.reports, []
        return told

    def terminate(self):
        self.asked.append("terminate")

    def kill(self):
        self.asked.append("kill")
        self.code = -9


class Deck:
    """A supervisor of some jobs, its clock, and every process it has started."""

    def __init__(self, *specs):
        self.now, self.started, self.told = 1000.0, [], []
        self.supervisor = Supervisor(
            specs or [JobSpec("streams", ("x",), frozenset({"ingest"}))], self.spawn, policy=POLICY,
            clock=lambda: self.now, tell=self.told.append,
        )  # fmt: skip
        self.supervisor.start()

    def spawn(self, spec):
        self.started.append((spec.name, Invented(len(self.started) + 1)))
        return self.started[-1][1]

    @property
    def newest(self):
        return self.started[-1][1]

    def pass_time(self, seconds):
        self.now += seconds
        self.supervisor.tick()

    def end(self, code):
        self.newest.code = code
        self.pass_time(0)

    def state(self, nth=0):
        return self.supervisor.deployment().jobs[nth]


@pytest.fixture
def deck():
    return Deck()


@pytest.mark.parametrize(
    ("code", "how"),
    [(0, "clean"), (1, "failure"), (3, "data gap"), (5, "schema change"), (-9, "killed"), (70, "failure")],
)
def test_an_exit_code_tells_how_a_job_ended(code, how):
    assert ending(code) == how


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=20).map(sorted), st.sampled_from(Ending))
def test_a_wait_stays_within_its_bounds_and_final_ends_have_none(ended_at, how):
    wait = RestartPolicy().wait(how, ended_at)
    if how in FINAL:
        assert wait is None
    else:
        assert wait is None or 0 <= wait <= RestartPolicy().most_seconds


def test_waits_double_and_a_crash_loop_is_given_up():
    ends, waits = [], []
    for nth in range(7):
        ends.append(float(nth))
        waits.append(POLICY.wait(Ending.FAILED, ends))
    assert waits == [1.0, 2.0, 4.0, 8.0, 16.0, None, None]


def test_ends_of_long_ago_do_not_count():
    assert POLICY.wait(Ending.FAILED, [*range(9), 10_000.0]) == POLICY.first_seconds


def test_a_job_is_running_once_all_its_queries_have_reported():
    deck = Deck(JobSpec("streams", ("x",), frozenset({"ingest", "filter"})))
    deck.newest.reports = [Report("ingest", deck.now)]
    deck.pass_time(1)
    assert deck.state().phase is Phase.STARTING
    deck.newest.reports = [Report("filter", deck.now)]
    deck.pass_time(1)
    assert deck.state().phase is Phase.RUNNING


def test_a_job_that_ends_is_started_again_after_its_wait(deck):
    deck.end(1)
    assert deck.state().phase is Phase.BACKING_OFF
    deck.pass_time(0.9)
    assert len(deck.started) == 1
    deck.pass_time(0.1)
    assert len(deck.started) == 2
    assert deck.state().starts == 2


def test_a_data_gap_is_left_for_a_person_while_the_others_run_on():
    deck = Deck(JobSpec("index", ("y",), frozenset()), JobSpec("streams", ("x",), frozenset()))
    deck.newest.error = "ingest: Kafka no longer holds records"
    deck.end(3)
    deck.pass_time(1e6)
    assert len(deck.started) == 2
    assert deck.state(1).phase is Phase.FAILED
    assert deck.state(1).error == "ingest: Kafka no longer holds records"
    assert deck.supervisor.running
    assert deck.supervisor.exit_code == 3


def test_the_last_reports_of_a_job_that_ended_are_heard(deck):
    deck.newest.reports = [Report("ingest", deck.now, error="it failed")]
    deck.end(1)
    assert deck.state().reports["ingest"].error == "it failed"


def test_a_job_whose_watched_value_changes_is_started_anew_without_counting_as_an_end():
    epoch = [1]
    deck = Deck(JobSpec("streams", ("x",), frozenset(), watched=lambda: epoch[0]))
    deck.pass_time(1)
    epoch[0] = 2
    deck.pass_time(1)
    deck.pass_time(1)
    assert deck.newest.asked == ["terminate"]
    deck.end(0)
    assert len(deck.started) == 2
    assert deck.state().phase is Phase.STARTING
    assert deck.state().ending is None


def test_stopping_asks_each_job_once_and_starts_none_again():
    deck = Deck(JobSpec("index", ("y",), frozenset()), JobSpec("streams", ("x",), frozenset()))
    deck.end(1)
    deck.supervisor.stop()
    assert [process.asked for _, process in deck.started] == [["terminate"], []]
    assert deck.supervisor.kill() == ["index"]
    deck.pass_time(100)
    assert not deck.supervisor.running
    assert [deck.state(nth).phase for nth in (0, 1)] == [Phase.STOPPED, Phase.STOPPED]
    assert deck.supervisor.exit_code == 0


def running(**changes):
    state = JobState("streams", Phase.RUNNING, 100.0, reports={"ingest": Report("ingest", 150.0)}, stale_after=60.0)
    return dataclasses.replace(state, **changes)


@pytest.mark.parametrize(
    ("state", "trouble"),
    [
        (running(), None),
        (running(stale_after=5.0), "silent for 10 s"),
        (running(phase=Phase.BACKING_OFF, ending=Ending.KILLED), "backing off: killed"),
        (running(phase=Phase.STARTING), "starting"),
        (running(reports={"curate": Report("curate", 159.0, error="x")}), "fails: curate"),
    ],
)
def test_a_deployment_is_ready_where_nothing_troubles_a_job(state, trouble):
    told = Deployment(1, 100.0, 160.0, (state,)).troubles(160.0)
    assert told == ({"streams": trouble} if trouble else {})


def test_a_state_file_reads_as_it_was_written(tmp_path):
    written = Deployment(7, 100.0, 160.0, (running(ending=Ending.KILLED, exit_code=-9),), "127.0.0.1:9092")
    written.write(tmp_path / "supervisor" / "state.json")
    assert read_state(tmp_path / "supervisor" / "state.json", now=161.0) == written


def test_the_state_of_a_supervisor_that_is_gone_is_not_believed(tmp_path):
    Deployment(7, 100.0, 160.0, ()).write(tmp_path / "state.json")
    assert read_state(tmp_path / "state.json", now=161.0 + SILENT_SECONDS) is None
    assert read_state(tmp_path / "none.json") is None
