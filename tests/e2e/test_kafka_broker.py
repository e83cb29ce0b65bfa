import json
import os
import signal
import stat
import subprocess
import sys
import time

import psutil
import pytest
from click.testing import CliRunner

from jobs.kafka_bootstrap import bootstrap_for
from jobs.kafka_broker import command
from jobs.options import Settings, UserError
from pipelines.adapters.kafka_broker import EmbeddedBroker, running_broker
from pipelines.adapters.kafka_clients import KafkaError
from pipelines.adapters.kafka_topics import ensure_topics, topic_partitions
from schemas.records import TOPIC_MESSAGE_BYTES, TOPICS

PARENT = """
import sys, time
from pathlib import Path
from pipelines.adapters.kafka_broker import running_broker
with running_broker(Path(sys.argv[1])) as bootstrap:
    print(bootstrap, flush=True)
    time.sleep(600)
"""


@pytest.fixture
def folder(tmp_path):
    """A folder for a broker of the test's own, stopped afterwards whatever happened."""
    folder = tmp_path / "lake, of José.kafka"
    yield folder
    EmbeddedBroker(folder).stop()


def wait_until(true, seconds=60):
    until = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < until, "it did not come to pass"
        time.sleep(0.1)


def test_a_broker_is_started_once_reused_and_keeps_topics_over_a_restart(folder):
    broker = EmbeddedBroker(folder)
    bootstrap = broker.start()
    pid = broker.status().pid
    assert broker.start() == bootstrap
    assert broker.status().pid == pid
    assert ensure_topics(bootstrap, partitions=3).created == TOPICS
    assert broker.stop()
    assert not broker.status().running
    assert not broker.stop()
    assert not psutil.pid_exists(pid)
    assert broker.start() == bootstrap
    assert topic_partitions(bootstrap) == dict.fromkeys(TOPICS, 3)


def test_only_the_owner_can_enter_the_folder_and_only_this_machine_the_port(folder):
    broker = EmbeddedBroker(folder)
    broker.start()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    listening = [c for c in psutil.Process(broker.status().pid).net_connections("inet") if c.status == "LISTEN"]
    assert {c.laddr.ip.removeprefix("::ffff:") for c in listening} == {"127.0.0.1"}


def test_a_state_file_whose_process_number_went_to_another_is_not_believed(folder):
    broker = EmbeddedBroker(folder)
    folder.mkdir()
    state = {"pid": os.getpid(), "started": 0.0, "bootstrap": "127.0.0.1:1", "controller_port": 2, "data": ""}
    (folder / "broker.json").write_text(json.dumps(state))
    assert not broker.status().running
    assert not broker.stop()
    (folder / "broker.json").write_text("cut sho")
    assert not broker.status().running


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_the_broker_goes_with_the_process_that_needs_it(folder, how):
    parent = subprocess.Popen([sys.executable, "-c", PARENT, str(folder)], stdout=subprocess.PIPE)
    assert parent.stdout.readline().startswith(b"127.0.0.1:")
    pid = EmbeddedBroker(folder).status().pid
    parent.send_signal(how)
    parent.wait(60)
    parent.stdout.close()
    wait_until(lambda: not psutil.pid_exists(pid))
    assert not EmbeddedBroker(folder).status().running


def test_a_broker_that_ran_before_outlives_the_one_who_uses_it(folder):
    broker = EmbeddedBroker(folder)
    started = broker.start()
    with running_broker(folder) as bootstrap:
        assert bootstrap == started
    assert broker.status().running


def test_a_killed_broker_starts_again_with_its_topics(folder):
    broker = EmbeddedBroker(folder)
    ensure_topics(broker.start())
    process = psutil.Process(broker.status().pid)
    process.kill()
    process.wait(30)
    assert set(topic_partitions(broker.start())) == set(TOPICS)


def test_topics_that_exist_are_left_alone_and_a_small_limit_is_told(kafka):
    from confluent_kafka.admin import AdminClient, NewTopic

    small = NewTopic("test-small-limit", 1, 1, config={"max.message.bytes": "1000000"})
    client = AdminClient({"bootstrap.servers": kafka})
    client.create_topics([small])["test-small-limit"].result(30)
    report = ensure_topics(kafka, topics=("test-small-limit", *TOPICS))
    assert report.created == ()
    assert len(report.warnings) == 1
    assert f"max.message.bytes to {TOPIC_MESSAGE_BYTES}" in report.warnings[0]
    assert topic_partitions(kafka)["test-small-limit"] == 1


def test_no_broker_at_an_address_is_one_sentence_with_what_to_do():
    with pytest.raises(KafkaError, match="No Kafka broker answered at 127.0.0.1:1 .* `turnmill kafka start`"):
        topic_partitions("127.0.0.1:1", timeout=1)


def test_the_command_starts_tells_and_stops(folder):
    lake = folder.with_name(folder.name.removesuffix(".kafka"))

    def run(*arguments):
        result = CliRunner().invoke(command, [*arguments, "--lake", str(lake), "--json"], catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout.splitlines()[-1])

    assert run("status")["running"] is False
    with pytest.raises(UserError, match="turnmill kafka start"):
        bootstrap_for(Settings(lake, folder))
    started = run("start")
    assert set(started["created"]) == set(TOPICS)
    told = run("status")
    assert told["running"]
    assert told["bootstrap"] == started["bootstrap"] == bootstrap_for(Settings(lake, folder))
    assert set(told["topics"]) == set(TOPICS)
    assert run("stop") == {"stopped": True}
    assert run("stop") == {"stopped": False}
