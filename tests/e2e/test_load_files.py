import json
import os
import re
import signal
import subprocess
import sys

import pytest
from click.testing import CliRunner
from confluent_kafka import Consumer, TopicPartition

from jobs.logs_load import command
from pipelines.adapters.kafka_producer import load_files, load_records
from pipelines.adapters.kafka_topics import ensure_topics, topic_partitions

BAD_LINES = [b'{"cut": "sho', b"\xff\xfe no utf-8", b"[1, 2]", b'{"a":\t"\xe2\x80\xa8"}\r']


def records_in(bootstrap, topic):
    """All records of a topic: (value, headers), each partition in its order."""
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "test", "enable.auto.commit": False})
    partitions = [TopicPartition(topic, number, 0) for number in range(topic_partitions(bootstrap)[topic])]
    left = sum(consumer.get_watermark_offsets(partition, timeout=30)[1] for partition in partitions)
    consumer.assign(partitions)
    got = []
    while left:
        message = consumer.poll(30)
        assert message is not None
        assert message.error() is None
        got.append((message.value(), {name: value.decode() for name, value in message.headers() or ()}))
        left -= 1
    consumer.close()
    return got


def run(kafka, *arguments):
    return CliRunner().invoke(command, [*map(str, arguments), "--bootstrap", kafka, "--json"], catch_exceptions=False)


def test_each_line_arrives_once_as_its_own_bytes_with_its_headers(kafka, topic, tmp_path):
    lines = [b'{"n": %d}' % n for n in range(5000)] + BAD_LINES
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"\n\n".join(lines) + b"\n")
    result = run(
        kafka, path, "--topic", topic, "--tenant", "acme", "--stream", "chat", "--user", "u-1",
        "--conversation", "c-1", "--consent", "analytics",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    figures = json.loads(result.stdout)
    assert (figures["acknowledged"], figures["failed"], figures["unknown"]) == (len(lines), 0, 0)
    assert figures["bytes"] == sum(map(len, lines))
    assert figures["files"] == 1
    got = records_in(kafka, topic)
    assert sorted(value for value, _ in got) == sorted(lines)
    traces = [headers.pop("traceparent") for _, headers in got]
    assert len(set(traces)) == len(traces)
    assert all(re.fullmatch(f"00-{figures['trace_id']}-[0-9a-f]{{16}}-01", trace) for trace in traces)
    expected = {
        "turnmill-tenant": "acme", "turnmill-stream": "chat", "turnmill-user": "u-1",
        "turnmill-conversation": "c-1", "turnmill-consent": "analytics",
    }  # fmt: skip
    assert all(headers == expected for _, headers in got)


def test_large_records_arrive_and_one_above_the_topics_limit_is_told(kafka, topic, tmp_path):
    sizes = [5_000_000, 17_000_000, 70_000_000, 10]
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"\n".join(b'"' + os.urandom(size // 2).hex().encode() + b'"' for size in sizes))
    report = load_files([path], kafka, topic=topic)
    assert (report.acknowledged, report.failed, report.unknown) == (3, 1, 0)
    assert report.reasons == {"MSG_SIZE_TOO_LARGE": 1}
    assert not report.all_acknowledged
    assert sorted(len(value) for value, _ in records_in(kafka, topic)) == [12, 5_000_002, 17_000_002]


def test_null_and_empty_values_are_sent_as_they_are(kafka, topic):
    report = load_records([(None, {}), (b"", {"turnmill-tenant": "acme"})], kafka, topic=topic)
    assert report.all_acknowledged
    assert sorted((value for value, _ in records_in(kafka, topic)), key=lambda value: value is None) == [b"", None]


def test_what_the_cluster_refuses_makes_the_command_fail(kafka, tmp_path):
    from confluent_kafka.admin import AdminClient, NewTopic

    name = "test-refusing"
    client = AdminClient({"bootstrap.servers": kafka})
    client.create_topics([NewTopic(name, 1, 1, config={"max.message.bytes": "2000"})])[name].result(30)
    ensure_topics(kafka, topics=(name,))
    path = tmp_path / "log.jsonl"
    path.write_bytes(b'"' + os.urandom(3000).hex().encode() + b'"\n{"a":1}\n')
    result = run(kafka, path, "--topic", name)
    figures = json.loads(result.stdout)
    assert result.exit_code == 1
    assert figures["failed"] >= 1
    assert figures["acknowledged"] + figures["failed"] == 2


def test_a_broken_file_fails_after_what_came_before_it(kafka, topic, tmp_path):
    good, broken = tmp_path / "good.jsonl", tmp_path / "broken.gz"
    good.write_bytes(b'{"a":1}\n')
    broken.write_bytes(b"\x1f\x8b broken")
    result = run(kafka, good, broken, "--topic", topic)
    figures = json.loads(result.stdout)
    assert result.exit_code == 1
    assert figures["acknowledged"] == 1
    assert not figures["complete"]
    assert "broken.gz" in figures["error"]


def test_an_unknown_topic_is_told_before_anything_is_sent(kafka, tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"{}\n")
    result = run(kafka, path, "--topic", "test-nowhere")
    assert result.exit_code == 1
    assert "There is no topic test-nowhere" in result.output


def test_a_rate_is_kept_and_interruption_accounts_for_all_that_was_sent(kafka, topic, tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_bytes(b'{"a":1}\n{"b":2}\n')
    arguments = ["--loop", "--rate", "200", "--topic", topic, "--bootstrap", kafka, "--json"]
    process = subprocess.Popen(
        [sys.executable, "-m", "jobs.command_line", "load", str(path), *arguments], stdout=subprocess.PIPE
    )
    while not sum(1 for _ in records_in(kafka, topic)):
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    figures = json.loads(output)
    assert process.returncode == 130
    assert (figures["failed"], figures["unknown"], figures["complete"]) == (0, 0, False)
    assert figures["acknowledged"] == len(records_in(kafka, topic))
    assert figures["acknowledged"] <= 200 * figures["seconds"] + 2


def test_a_dead_cluster_leaves_records_unknown_and_not_lost_in_silence(monkeypatch):
    monkeypatch.setattr("pipelines.adapters.kafka_producer.REPORT_SECONDS", 1.0)
    report = load_records([(b"{}", {})] * 3, "127.0.0.1:1", topic="turnmill.logs")
    assert (report.acknowledged, report.failed, report.unknown) == (0, 0, 3)
    assert not report.all_acknowledged


def test_a_fresh_topic_gets_the_settings_of_the_logs_topic(kafka, topic):
    from confluent_kafka.admin import AdminClient, ConfigResource, ResourceType

    assert ensure_topics(kafka, topics=(topic,)).warnings == ()
    client = AdminClient({"bootstrap.servers": kafka})
    (future,) = client.describe_configs([ConfigResource(ResourceType.TOPIC, topic)]).values()
    settings = {name: entry.value for name, entry in future.result(30).items()}
    assert settings["retention.ms"] == "86400000"
    assert settings["message.timestamp.type"] == "LogAppendTime"


@pytest.mark.parametrize("value", ["training", "analytics", "none"])
def test_every_consent_of_the_contract_can_be_given(kafka, topic, tmp_path, value):
    path = tmp_path / "log.json"
    path.write_bytes(b'[{"a":1}]')
    assert run(kafka, path, "--topic", topic, "--consent", value).exit_code == 0
