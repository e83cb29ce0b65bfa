"""The page of ``turnmill report`` in a real browser: every plot is drawn, nothing is logged, nothing is asked for."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser

import pytest
from click.testing import CliRunner

from jobs.command_line import main
from pipelines.adapters import delta
from pipelines.adapters.lake import Lake
from pipelines.reporting.report import CHARTS
from schemas import BATCH_LOG, DATASET_VERSIONS, EMBEDDINGS, FEEDBACK, LANDING, TRAINING_RUNS, TURN_SIGNALS, TURNS

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
HOSTILE = "</script><script>alert(1)</script><img src='https://example.com/x.png' onerror=alert(2)>"
RANKS = {"rank0_relative": 1.0, "rank0_share": 5.0, "rank1_relative": 0.6, "rank1_share": 3.0}
ADDRESS = re.compile(r"https?://[^\"\\ ]+")

pytestmark = [pytest.mark.long, pytest.mark.skipif(BROWSER is None, reason="needs Chromium: apt-get install chromium")]


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    """A lake with data for every plot, whose tenant and model are markup."""
    lake = Lake(tmp_path_factory.mktemp("page") / "lake")
    turns, signals, vectors = [], [], []
    for nth in range(40):
        role, names = ("assistant" if nth % 2 else "user"), {"turn_id": f"t{nth}", "tenant": HOSTILE}
        spans = [{"field": "/text", "start": 0, "end": 1, "type": ("PERSON", "EMAIL")[nth % 2]}]
        turns.append(
            TURNS.row(**names, role=role, model=HOSTILE, text_hash=f"h{nth}", redactions=spans, offset=nth, position=0)
        )
        signals.append(TURN_SIGNALS.row(**names, keep=nth % 5 > 0, reason=None if nth % 5 else "too_short"))
        vectors.append(EMBEDDINGS.row(tenant=HOSTILE, text_hash=f"h{nth}", vector=(nth / 40, 1 - nth / 40)))
    landed = [
        LANDING.row(outcome="turn", turn_id=turn["turn_id"], tenant=HOSTILE, offset=turn["offset"]) for turn in turns
    ]
    rows = (
        (TURNS, turns), (TURN_SIGNALS, signals), (EMBEDDINGS, vectors), (LANDING, landed),
        (FEEDBACK, [FEEDBACK.row(tenant=HOSTILE, target_turn_id="t1", value=1.0)]),
        (BATCH_LOG, [BATCH_LOG.row(seconds=1.5, rows_by_outcome={"turn": 40})]),
        (DATASET_VERSIONS, [DATASET_VERSIONS.row(drop_counts={"consent": 3})]),
        (TRAINING_RUNS, [TRAINING_RUNS.row(metrics={"loss_before": 3.0, "loss_after": 2.5} | RANKS)]),
    )  # fmt: skip
    for table, of_table in rows:
        delta.append_rows(of_table, lake, table, txn=("test", 1))
    return lake


class Drawn(HTMLParser):
    """What a browser made of the page: marks by plot, and everything that could run or lead elsewhere."""

    MARKS = ("sankey-node", "point", "js-line")

    def __init__(self):
        super().__init__()
        self.marks, self.outside, self.titles, self.plot = {}, [], [], None

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if "data-drawing" in given:
            self.plot = given["data-drawing"]
            self.marks[self.plot] = 0
        words = (given.get("class") or "").split()
        if self.plot and (set(words) & set(self.MARKS) or (tag == "path" and "scatterpts" in words)):
            self.marks[self.plot] += 1
        self.titles.append(given.get("data-title") or "")
        led = [value for key, value in attrs if key in ("href", "src", "xlink:href") and not value.startswith("#")]
        self.outside += [value for value in led if not value.startswith(("data:", "blob:"))]
        self.outside += [key for key in given if key.startswith("on")]


def browse(page, folder, network, what):
    """Open ``page`` in the browser, which logs what it asks of the network to ``network``."""
    command = [
        BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--v=0",
        "--disable-background-networking", "--disable-component-update", "--no-first-run", "--hide-scrollbars",
        f"--user-data-dir={folder / 'profile'}", f"--log-net-log={network}", "--virtual-time-budget=20000",
        "--window-size=1400,4000", what, page.as_uri(),
    ]  # fmt: skip
    told = subprocess.run(command, capture_output=True, text=True, timeout=180, check=False)
    assert told.returncode == 0, told.stderr[-2000:]
    return told


def addresses(network):
    """Return what the browser looked up or asked for."""
    events = json.loads(network.read_text())["events"]
    return {found for event in events for found in ADDRESS.findall(json.dumps(event.get("params", {})))}


@pytest.fixture(scope="module", params=["light", "dark"])
def visit(request, lake, tmp_path_factory):
    """The page opened once: its elements, what the browser logged, what it asked of the network."""
    folder = tmp_path_factory.mktemp(f"visit-{request.param}")
    page, network, shot = folder / "page.html", folder / "network.json", folder / "page.png"
    flags = ["--lake", str(lake.path), "--out", str(page), "--theme", request.param, "--title", HOSTILE]
    made = CliRunner().invoke(main, ["report", *flags])
    assert made.exit_code == 0, made.output
    browse(page, folder, network, f"--screenshot={shot}")
    told = browse(page, folder, network, "--dump-dom")
    drawn = Drawn()
    drawn.feed(told.stdout)
    console = [line for line in told.stderr.splitlines() if "CONSOLE" in line]
    return drawn, console, addresses(network), shot


def test_every_plot_has_marks_of_its_data(visit):
    drawn, *_ = visit
    assert len(drawn.marks) == len(CHARTS)
    assert [key for key, marks in drawn.marks.items() if not marks] == []


def test_the_browser_logs_nothing(visit):
    assert visit[1] == []


def test_no_request_leaves_the_page_and_no_name_became_an_element(visit):
    drawn, _, asked, _ = visit
    assert drawn.outside == []
    assert not any("example.com" in address or "plotly" in address for address in asked), asked


def test_a_request_of_a_page_would_be_seen(tmp_path):
    page, network = tmp_path / "page.html", tmp_path / "network.json"
    page.write_text('<!doctype html><img src="https://example.com/x.png">')
    browse(page, tmp_path, network, "--dump-dom")
    assert any("example.com" in address for address in addresses(network))


def test_no_button_offers_to_send_a_chart_away(visit):
    assert [title for title in visit[0].titles if re.search("cloud|share|studio", title, re.IGNORECASE)] == []
    assert any("png" in title.lower() for title in visit[0].titles)


def test_the_picture_is_no_blank(visit):
    assert visit[3].stat().st_size > 50_000
