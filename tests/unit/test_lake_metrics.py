"""Metrics of a lake: what a scrape tells, what it costs, and what the endpoint answers."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request

import pytest
from deltalake import DeltaTable
from prometheus_client import CollectorRegistry

from pipelines.adapters import delta
from pipelines.adapters.added_rows import AddedRows, newest_ages
from pipelines.adapters.lake_metrics import LakeCollector
from pipelines.adapters.metrics_endpoint import Endpoint, EndpointError, serving
from pipelines.adapters.stream_lag import StreamLag, delta_lag
from pipelines.supervision.restart import Ending
from pipelines.supervision.states import Deployment, JobState, Phase, Report
from schemas import DEAD_LETTERS, EMBEDDINGS, LANDING, TABLES, TURN_SIGNALS, TURNS

LAGS = {
    "ingest": StreamLag("ingest", "kafka", "records", 7, 3, 1000.0),
    "filter": StreamLag("filter", "turns", "commits", 2, 4, 1001.0, 1.5),
    "embed": StreamLag("embed", "turn_signals", "commits", None),
}


def append(lake, table, *rows):
    append.nth += 1
    delta.append_rows([table.row(**row) for row in rows], lake, table, txn=("test", append.nth))


append.nth = 0


def deployment():
    now = time.time()
    reports = {"ingest": Report("ingest", now, seconds=0.5)}
    jobs = (
        JobState("streams", Phase.RUNNING, now, starts=2, reports=reports),
        JobState("embed", Phase.BACKING_OFF, now, starts=3, ending=Ending.KILLED),
    )
    return Deployment(1, now, now, jobs)


@pytest.fixture
def registry(lake):
    """The metrics of a lake with a few rows in each table that counts."""
    for table in TABLES:
        delta.create_table(lake, table)
    append(lake, LANDING, {"outcome": "turn"}, {"outcome": "turn", "position": 1}, {"outcome": "dead"})
    append(lake, TURN_SIGNALS, {"keep": True}, {"keep": True}, {"keep": False, "reason": "too_short"})
    append(lake, EMBEDDINGS, {"text_hash": "a"})
    append(lake, DEAD_LETTERS, {"reason": "bad_json"})
    registry = CollectorRegistry()
    registry.register(LakeCollector(lake, lambda: LAGS, deployment))
    return registry


def test_a_scrape_tells_rows_lags_and_jobs(registry):
    told = {
        "turnmill_items_total": ({"outcome": "turn"}, 2),
        "turnmill_turns_dropped_total": ({"reason": "too_short"}, 1),
        "turnmill_turns_kept_total": ({}, 2),
        "turnmill_dead_letters_total": ({"reason": "bad_json"}, 1),
        "turnmill_embedding_cache_hit_ratio": ({}, 0.5),
        "turnmill_table_rows": ({"table": "landing"}, 3),
        "turnmill_lag_records": ({"query": "ingest"}, 7),
        "turnmill_lag_commits": ({"query": "filter"}, 2),
        "turnmill_lag_seconds": ({"query": "filter"}, 1.5),
        "turnmill_batches": ({"query": "filter"}, 5),
        "turnmill_ready": ({}, 0),
        "turnmill_job_up": ({"job": "streams"}, 1),
        "turnmill_job_starts_total": ({"job": "embed"}, 3),
        "turnmill_batch_seconds": ({"query": "ingest"}, 0.5),
        "turnmill_scrape_failures": ({}, 0),
    }
    assert {name: registry.get_sample_value(name, labels) for name, (labels, _) in told.items()} == {
        name: value for name, (_, value) in told.items()
    }
    assert registry.get_sample_value("turnmill_job_state", {"job": "embed", "state": "backing off"}) == 1


def test_a_lag_that_cannot_be_told_is_left_out(registry):
    assert registry.get_sample_value("turnmill_lag_commits", {"query": "embed"}) is None


def test_a_part_that_fails_hides_no_other(registry, lake):
    (lake.table("dead_letters") / "_delta_log" / f"{1:020d}.json").write_text("{")
    assert registry.get_sample_value("turnmill_scrape_failures") > 0
    assert registry.get_sample_value("turnmill_lag_records", {"query": "ingest"}) == 7


def test_counting_again_reads_only_what_was_added(lake, monkeypatch):
    append(lake, LANDING, {"outcome": "turn"})
    rows, read = AddedRows(lake.table("landing"), ["outcome"]), []
    count = rows._count
    monkeypatch.setattr(rows, "_count", lambda path: (read.append(path), count(path)))
    assert rows.counted() == {("turn",): 1}
    append(lake, LANDING, {"outcome": "dead"})
    assert rows.counted() == {("turn",): 1, ("dead",): 1}
    rows.counted()
    assert len(read) == 2


def test_counts_follow_deleted_rows_and_outlive_compaction(lake):
    for outcome in ("turn", "dead", "dead"):
        append(lake, LANDING, {"outcome": outcome})
    rows = AddedRows(lake.table("landing"), ["outcome"])
    rows.counted()
    table = DeltaTable(str(lake.table("landing")))
    table.optimize.compact()
    assert rows.counted() == {("turn",): 1, ("dead",): 2}
    table.delete("outcome = 'dead'")
    assert rows.counted() == {("turn",): 1}


def test_freshness_is_told_of_the_newest_commit(lake):
    import datetime as dt

    now = dt.datetime.now(dt.UTC)
    append(lake, TURNS, {"kafka_at": now - dt.timedelta(hours=1)})
    append(lake, TURNS, {"kafka_at": now - dt.timedelta(seconds=5)})
    (age,) = newest_ages(lake.table("turns"), "kafka_at")
    assert 4 < age < 60


@pytest.mark.parametrize(("index", "behind"), [(-1, 2), (3, 1)])
def test_a_stream_is_behind_by_the_commits_that_no_committed_batch_holds(lake, index, behind):
    for _ in range(3):
        append(lake, TURNS, {})
    checkpoint = lake.checkpoint("filter")
    for folder in ("offsets", "commits"):
        (checkpoint / folder).mkdir(parents=True)
    offset = json.dumps({"reservoirVersion": 2, "index": index})
    (checkpoint / "offsets" / "5").write_text(f"v1\n{{}}\n{offset}")
    (checkpoint / "offsets" / "6").write_text(f"v1\n{{}}\n{offset.replace('2', '9')}")
    (checkpoint / "commits" / "5").write_text("v1\n{}")
    lag = delta_lag(lake, "filter", "turns")
    assert (lag.behind, lag.batch_id) == (behind, 5)
    assert lag.seconds < 60


def test_a_query_that_never_ran_is_behind_all_of_its_source(lake):
    append(lake, TURNS, {})
    assert delta_lag(lake, "filter", "turns").behind == 2


def ask(port, path):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}") as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def test_the_endpoint_answers_prometheus_and_probes(registry):
    troubles = {}
    with serving(Endpoint(registry, lambda: troubles, lambda: not troubles), 0) as port:
        status, text = ask(port, "/metrics")
        assert status == 200
        assert 'turnmill_items_total{outcome="turn"} 2.0' in text
        assert [ask(port, path)[0] for path in ("/ready", "/health", "/other")] == [200, 200, 404]
        troubles["embed"] = "backing off: killed"
        status, text = ask(port, "/ready")
        assert (status, json.loads(text)["troubles"]) == (503, troubles)
        assert ask(port, "/health")[0] == 503
        with pytest.raises(EndpointError, match="--metrics-port"), serving(Endpoint(registry, dict, bool), port):
            pass
