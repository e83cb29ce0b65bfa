"""The report: figures of a small lake whose answers are known, charts that plotly.js accepts, a page that is closed."""

from __future__ import annotations

import base64
import datetime as dt
import hashlib
import html
import json
import re
from html.parser import HTMLParser

import orjson
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from plotly import graph_objects

from jobs.command_line import main
from jobs.report_page import figures_of, told_steps
from pipelines.adapters import delta
from pipelines.adapters.lake import Lake
from pipelines.reporting.chart import REST, Chart, largest, name
from pipelines.reporting.figures import Figures
from pipelines.reporting.flow import flow_steps
from pipelines.reporting.page import render_page
from pipelines.reporting.report import CHARTS, report_charts, report_numbers
from schemas import (
    BATCH_LOG,
    CONVERSATIONS,
    DATASET_VERSIONS,
    DEAD_LETTERS,
    DROPS,
    EMBEDDINGS,
    FEEDBACK,
    LANDING,
    TRAINING_EXAMPLES,
    TRAINING_RUNS,
    TURN_SIGNALS,
    TURNS,
)

DAY, LATER = dt.datetime(2026, 3, 1, 9, tzinfo=dt.UTC), dt.datetime(2026, 3, 4, 9, tzinfo=dt.UTC)
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"
LINK = '<a href="https://example.com">click</a>'
SECRET_TEXT = "Words that somebody wrote"


MEASURED = {
    "loss_before": 3.0, "loss_after": 2.0, "rank0_relative": 1.0, "rank0_share": 6.0, "rank1_relative": 0.4,
    "rank1_share": 2.0,
}  # fmt: skip


def build(path):
    """Write a lake: five talks, one of them logged twice and one filtered, a version, two runs."""
    lake = Lake(path)
    turns, signals, landed = [], [], []
    for nth in range(1, 6):
        at = DAY if nth < 4 else LATER
        for role, turn_id in (("user", f"q{nth}"), ("assistant", f"a{nth}")):
            place = {"offset": nth, "position": int(role == "assistant"), "kafka_at": at}
            spans = [{"field": "/text", "start": 0, "end": 1, "type": "PERSON"}] * nth if role == "user" else []
            turns.append(
                TURNS.row(turn_id=turn_id, role=role, text=f"{SECRET_TEXT} {turn_id}", text_hash=f"h-{turn_id}",
                          redactions=spans, created_at=at, tenant=HOSTILE, model=LINK, **place)
            )  # fmt: skip
            landed.append(LANDING.row(outcome="turn", turn_id=turn_id, tenant=HOSTILE, **place))
            keep = nth < 5
            signals.append(
                TURN_SIGNALS.row(turn_id=turn_id, tenant=HOSTILE, lang="de" if nth == 1 else "en", keep=keep,
                                 reason=None if keep else "too_short")
            )  # fmt: skip
    landed += [
        LANDING.row(outcome="turn", turn_id="q1", tenant=HOSTILE, offset=90, kafka_at=LATER),
        LANDING.row(outcome="turn", turn_id="not-settled", tenant=HOSTILE, offset=91, kafka_at=LATER),
        LANDING.row(outcome="dead", reason="bad_json", offset=92, kafka_at=LATER),
        LANDING.row(outcome="feedback", offset=93, kafka_at=LATER),
    ]
    thumbs = [
        FEEDBACK.row(feedback_id=f"f{nth}", target_turn_id=f"a{nth}", value=value, tenant=HOSTILE, user_ref=f"u{nth}")
        for nth, value in ((1, 1.0), (2, -1.0), (3, -1.0))
    ]
    vectors = [
        EMBEDDINGS.row(tenant=HOSTILE, text_hash=f"h-{turn['turn_id']}", vector=vector)
        for turn, vector in zip(turns, ((1.0, 0.0), (0.0, 1.0), (0.6, 0.8), (0.8, 0.6), (-1.0, 0.0)), strict=False)
    ]
    version = {"dataset_version": "ds-2"}
    rows = (
        (TURNS, turns), (TURN_SIGNALS, signals), (LANDING, landed), (FEEDBACK, thumbs), (EMBEDDINGS, vectors),
        (DEAD_LETTERS, [DEAD_LETTERS.row()]),
        (CONVERSATIONS, [CONVERSATIONS.row(tenant=HOSTILE, conversation_id="c3", turn_ids=["q3", "a3"])]),
        (BATCH_LOG, [BATCH_LOG.row(query="ingest/v1", seconds=2.0, rows_by_outcome={"turn": 10})]),
        (DATASET_VERSIONS, [
            DATASET_VERSIONS.row(dataset_version="ds-1", created_at=DAY, drop_counts={"consent": 7}),
            DATASET_VERSIONS.row(**version, created_at=LATER, n_train=1, drop_counts={"consent": 1, "not_complete": 1}),
        ]),
        (TRAINING_EXAMPLES, [TRAINING_EXAMPLES.row(**version, tenant=HOSTILE, turn_ids=["q1", "a1"])]),
        (DROPS, [
            DROPS.row(**version, tenant=HOSTILE, subject_id="a2", rule="consent"),
            DROPS.row(**version, tenant=HOSTILE, subject="conversation", subject_id="c3", rule="not_complete"),
            DROPS.row(dataset_version="ds-1", tenant=HOSTILE, subject_id="a4", rule="consent"),
        ]),
        (TRAINING_RUNS, [
            TRAINING_RUNS.row(run_id="run-1", started_at=DAY, metrics=MEASURED),
            TRAINING_RUNS.row(run_id="run-2", started_at=LATER, state="running", metrics={}),
        ]),
    )  # fmt: skip
    for table, of_table in rows:
        delta.append_rows(of_table, lake, table, txn=("test", 1))
    run = lake.run("run-1")
    run.mkdir(parents=True)
    steps = [{"step": n, "steps": 4, "loss": loss} for n, loss in ((1, None), (2, 2.8), (3, 2.8), (4, 2.1))]
    (run / "progress.jsonl").write_bytes(b"".join(orjson.dumps(step) + b"\n" for step in steps) + b'{"step":5,')
    return lake


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    return build(tmp_path_factory.mktemp("reported") / "lake")


@pytest.fixture(scope="module")
def figures(lake):
    return figures_of(lake)


@pytest.fixture(scope="module")
def charts(figures):
    return {chart.key: chart for chart in report_charts(figures)}


def steps_of(figures):
    return {(step.source, step.target): step.n for step in flow_steps(figures)}


def test_every_row_of_the_flow_goes_somewhere_and_every_loss_has_its_reason(figures):
    assert steps_of(figures) == {
        ("items read", "turns"): 10,
        ("items read", "repeats"): 1,
        ("items read", "waiting for settle"): 1,
        ("items read", "feedback"): 1,
        ("items read", "dead letter: bad json"): 1,
        ("turns", "kept answers"): 4,
        ("turns", "kept questions, context"): 4,
        ("turns", "filtered: too short"): 2,
        ("kept answers", "in examples of ds-2"): 1,
        ("kept answers", "dropped: consent"): 1,
        ("kept answers", "dropped: not complete"): 1,
        ("kept answers", "not in that version"): 1,
    }


def test_what_leaves_a_place_is_what_came_in(figures):
    steps = steps_of(figures)
    assert sum(n for (source, _), n in steps.items() if source == "items read") == sum(r["n"] for r in figures.items)
    for place in ("turns", "kept answers"):
        came = sum(n for (_, target), n in steps.items() if target == place)
        assert came == sum(n for (source, _), n in steps.items() if source == place)


def test_the_charts_show_what_the_tables_hold(charts):
    assert charts["pii"].rows == [("PERSON", 15, 5)]
    assert sorted(charts["languages"].rows) == [("de", 2, 0), ("en", 6, 2)]
    assert charts["thumbs"].rows == [(LINK, 1, 2)]
    assert sum(row[-1] for row in charts["arrivals"].rows) == 14
    assert charts["batches"].rows[0][2:] == (10, 2.0)
    assert [row[:3] for row in charts["rules"].rows] == [
        ("ds-1", "consent", 7), ("ds-2", "consent", 1), ("ds-2", "not_complete", 1),
    ]  # fmt: skip
    assert sum(row[1] for row in charts["topics"].rows) == 5


def test_a_loss_is_drawn_once_a_measurement_and_held_out_rows_at_both_ends(charts):
    line, held_out = charts["losses"].traces
    assert (line["x"], line["y"]) == ([2, 4], [2.8, 2.1])
    assert (held_out["x"], held_out["y"]) == ([0, 4], [3.0, 2.0])


def test_the_processes_of_a_run_are_shown_with_score_and_share(charts):
    assert [(trace["x"], trace["y"], trace["customdata"]) for trace in charts["processes"].traces] == [
        (["run-1"], [1.0], [6.0]), (["run-1"], [0.4], [2.0]),
    ]  # fmt: skip
    assert charts["processes"].rows[1][:4] == ("run-1", 1, 2.0, 0.4)


def test_no_line_runs_over_days_without_messages(charts):
    (line,) = charts["pii-days"].traces
    assert line["x"] == ["2026-03-01", "2026-03-02", "2026-03-04", "2026-03-05"]
    assert line["y"] == [6, None, 9, None]


def test_a_version_says_that_it_was_held_or_withdrawn():
    row = {
        "dataset_version": "ds-9", "policy": "p", "gate": "held", "n_train": 2, "n_validation": 1, "created_at": DAY,
        "is_withdrawn": True, "drop_counts": [{"key": "consent", "value": 4}],
    }  # fmt: skip
    charts = {chart.key: chart for chart in report_charts(Figures(versions=[row]))}
    assert charts["versions"].traces[0]["x"] == ["ds-9 (held) (withdrawn)"]
    assert charts["rules"].rows[0][:3] == ("ds-9 (held) (withdrawn)", "consent", 4)
    assert dict(report_numbers(Figures(versions=[row])))["examples, newest version"] == "0"


def test_a_step_that_was_done_again_counts_once(tmp_path):
    (tmp_path / "progress.jsonl").write_text('{"step":1,"loss":3}\n{"step":2,"loss":2}\n{"step":2,"loss":1}\n{"ste')
    assert told_steps(tmp_path / "progress.jsonl") == [{"step": 1, "loss": 3}, {"step": 2, "loss": 1}]


def test_plotly_knows_every_trace_and_every_setting(charts):
    for chart in charts.values():
        assert chart.traces, chart.key
        graph_objects.Figure({"data": list(chart.traces), "layout": chart.layout})


def test_an_empty_lake_gives_charts_that_say_what_to_run():
    charts = report_charts(Figures())
    assert len(charts) == len(CHARTS)
    assert all(not chart.traces and chart.missing for chart in charts)
    page = render_page("Empty", DAY, report_numbers(Figures()), charts)
    assert all(html.escape(chart.missing) in page for chart in charts)


class Elements(HTMLParser):
    """Tags, handlers and addresses of a page, and what its scripts hold."""

    def __init__(self):
        super().__init__()
        self.tags, self.addresses, self.handlers, self.scripts = [], [], [], []
        self.is_in_script = False

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.addresses += [value for key, value in attrs if key in ("src", "href", "action", "data")]
        self.handlers += [key for key, _ in attrs if key.startswith("on")]
        self.is_in_script = tag == "script"
        if self.is_in_script:
            self.scripts.append((dict(attrs).get("type"), ""))

    def handle_endtag(self, tag):
        self.is_in_script = False

    def handle_data(self, data):
        if self.is_in_script:
            kind, text = self.scripts[-1]
            self.scripts[-1] = (kind, text + data)


def elements(page):
    found = Elements()
    found.feed(page)
    return found


@pytest.fixture(scope="module")
def page(figures, charts):
    return render_page(HOSTILE, DAY, report_numbers(figures), list(charts.values()))


def test_a_hostile_name_stays_a_name(page):
    found = elements(page)
    assert len(found.scripts) == 3
    assert found.addresses == found.handlers == []
    assert not {"img", "a", "iframe", "link", "object", "form"} & set(found.tags)
    assert html.escape(HOSTILE) in page
    drawings = json.loads(next(text for kind, text in found.scripts if kind == "application/json"))
    assert drawings["origins"]["data"][0]["y"] == [name(HOSTILE)]
    assert drawings["thumbs"]["data"][0]["y"] == [html.escape(LINK)]


def test_only_the_scripts_of_the_page_may_run_and_nothing_may_be_fetched(page):
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    ours = [text for kind, text in elements(page).scripts if kind is None]
    digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in ours]
    assert rules.pop("script-src") == " ".join(f"'sha256-{digest}'" for digest in digests)
    assert rules == {"default-src": "'none'", "style-src": "'unsafe-inline'", "img-src": "data: blob:"}


def test_no_text_of_a_conversation_is_on_the_page(page):
    assert SECRET_TEXT not in page


def test_the_command_writes_the_page_and_says_what_is_on_it(lake, tmp_path):
    out = tmp_path / "page.html"
    done = CliRunner().invoke(
        main, ["report", "--lake", str(lake.path), "--out", str(out), "--theme", "dark", "--json"]
    )
    assert done.exit_code == 0, done.output
    told = json.loads(done.output)
    assert (told["charts"], told["empty_charts"], told["bytes"]) == (len(CHARTS), 0, out.stat().st_size)
    assert '<html lang="en" data-theme="dark">' in out.read_text()


def test_a_folder_that_is_not_there_is_told_before_anything_is_read(lake, tmp_path):
    done = CliRunner().invoke(main, ["report", "--lake", str(lake.path), "--out", str(tmp_path / "no" / "page.html")])
    assert done.exit_code == 1
    assert "make it first" in done.output


NAMES = st.text(max_size=80)


@settings(deadline=None, max_examples=60)
@given(NAMES)
def test_any_name_comes_back_from_its_label_and_no_tag_is_in_it(text):
    label = name(text)
    assert not set("<>\"'") & set(label)
    shown = html.unescape(label)
    assert shown == text or len(text) > 48 or not text


@settings(deadline=None, max_examples=25)
@given(NAMES, NAMES)
def test_any_names_leave_the_page_its_elements(title, cell):
    chart = Chart("k", title, cell, cell, [{"type": "bar", "name": cell}], {}, (title,), [(cell,)])
    plain = Chart("k", "t", "s", "m", [{"type": "bar", "name": "n"}], {}, ("c",), [("r",)])
    found, wanted = (elements(_without_library(render_page(c.title, DAY, [], [c]))) for c in (chart, plain))
    assert found.tags == wanted.tags


def _without_library(page):
    start = page.index("<script>")
    return page[:start] + page[page.index("</script>", start) :]


@given(st.dictionaries(st.text(max_size=3), st.integers(0, 100), max_size=12), st.integers(1, 8))
def test_the_largest_and_the_others_make_the_whole(counts, most):
    shown = largest(counts, most)
    assert sum(count for _, count in shown) == sum(counts.values())
    assert len([key for key, _ in shown if key != REST]) <= most
