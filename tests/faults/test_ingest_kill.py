"""kill -9 of the whole ingest process, Python and JVM, at random moments of its batches."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest

from jobs.ingest_stream import ingest
from jobs.options import Settings
from jobs.settle_stream import settle
from jobs.streaming import Schedule
from pipelines.adapters.duck import connect
from pipelines.adapters.kafka_producer import load_records
from pipelines.adapters.lake import Lake
from pipelines.conversations.accounting import accounts
from pipelines.intake.landing import Intake
from pipelines.synthetic.log_records import generate

pytestmark = pytest.mark.long

KILLS = 5
START_SECONDS = 180
SAME_IN_A_REPLAY = (
    'topic, "partition", "offset", entry, position, outcome, tenant, consent, reason, detail, turn_id, parent_id, '
    "root_id, system_turn_id, content_id, role, text, reasoning, CAST(tool_calls AS VARCHAR), response_id, user_ref, "
    "conversation_ref, feedback_id, kind, value, CAST(redactions AS VARCHAR), attempts"
)


def started_batches(lake):
    return {path.name for path in (lake.checkpoint("ingest") / "offsets").glob("[0-9]*")}


def kill_mid_batch(settings, topic, pause):
    """Start the ingest, wait until a new batch has begun, then kill the process group ``pause`` seconds later."""
    lake = Lake(settings.lake)
    before = started_batches(lake)
    command = [sys.executable, "-m", "jobs.ingest_stream", "--lake", settings.lake, "--keys", settings.keys]
    command += ["--bootstrap", settings.bootstrap, "--topic", topic, "--max-offsets", "150", "--every", "0.1"]
    process = subprocess.Popen(command, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + START_SECONDS
    while started_batches(lake) <= before:
        assert process.poll() is None, "the ingest ended by itself"
        assert time.monotonic() < deadline, "the ingest began no batch"
        time.sleep(0.01)
    time.sleep(pause)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def landed(lake):
    return sorted(connect(lake).sql(f"SELECT {SAME_IN_A_REPLAY} FROM landing").fetchall(), key=str)


def test_killing_the_ingest_at_any_moment_gives_the_rows_of_an_undisturbed_run(spark, kafka, topic, tmp_path):
    records = [(record.value, record.headers) for record in generate(500, seed=7)]
    report = load_records(records, kafka, topic=topic)
    assert report.acknowledged == len(records)
    calm = Settings(tmp_path / "calm", tmp_path / "keys", kafka)
    ingest(calm, Schedule(None), Intake(calm.keys), topics=[topic])

    disturbed = Settings(tmp_path / "disturbed", tmp_path / "keys", kafka)
    pauses = [random.uniform(0, 1.5) for _ in range(KILLS)]
    for pause in pauses:
        kill_mid_batch(disturbed, topic, pause)
    committed = Lake(disturbed.lake).checkpoint("ingest") / "commits"
    assert len(list(committed.glob("[0-9]*"))) < -(-len(records) // 150), f"nothing was left to replay after {pauses}"
    ingest(disturbed, Schedule(None), Intake(disturbed.keys), topics=[topic], max_offsets=500)

    expected, found = landed(Lake(calm.lake)), landed(Lake(disturbed.lake))
    assert len(found) == len(expected), f"kills after {pauses}"
    assert found == expected, f"kills after {pauses}"
    for settings in (calm, disturbed):
        settle(settings, Schedule(None))
        result = accounts(connect(Lake(settings.lake)))
        assert result.balanced
        assert result.records == len(records)
