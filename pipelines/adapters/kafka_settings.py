"""Settings of the embedded Kafka broker: one node in KRaft mode, loopback only, raw text kept for a day."""

from __future__ import annotations

from schemas.records import TOPIC_MESSAGE_BYTES

RETENTION_MS = 24 * 60 * 60 * 1000
"""The raw topics are the one place with raw text: a day by default (the design's first promise)."""

SEGMENT_MS = 60 * 60 * 1000
"""A segment goes when its newest record is old, so an hourly roll bounds a record's life to retention + an hour."""

DEFAULT_PARTITIONS = 4

TOPIC_SETTINGS = {
    "cleanup.policy": "delete",
    "max.message.bytes": str(TOPIC_MESSAGE_BYTES),
    # Retention goes by a record's time: only the broker's own clock keeps a wrong producer clock from stretching it.
    "message.timestamp.type": "LogAppendTime",
    "retention.ms": str(RETENTION_MS),
    "segment.ms": str(SEGMENT_MS),
}

# A serial collector: records of many megabytes would fragment the regions of G1 in a heap this small. The first
# compiler tier alone: measured on 2 cores, it halves the work of a start (8.7 to 4.2 CPU seconds) and costs no rate.
JVM_OPTIONS = (
    "-Xms128m",
    "-Xmx512m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-XX:+ExitOnOutOfMemoryError",
    "-XX:-UsePerfData",
)


def server_properties(port: int, controller_port: int) -> str:
    """Text of ``server.properties``; ``log.dirs`` is relative to the broker's working folder.

    Reference: Kafka 4.4 broker configuration. A comma in a folder's name would split an absolute ``log.dirs``.
    """
    settings = {
        "process.roles": "broker,controller",
        "node.id": "1",
        "controller.quorum.voters": f"1@127.0.0.1:{controller_port}",
        "listeners": f"PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller_port}",
        "advertised.listeners": f"PLAINTEXT://127.0.0.1:{port}",
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
        "controller.listener.names": "CONTROLLER",
        "inter.broker.listener.name": "PLAINTEXT",
        "log.dirs": "data",
        "auto.create.topics.enable": "false",
        "num.partitions": str(DEFAULT_PARTITIONS),
        "default.replication.factor": "1",
        "min.insync.replicas": "1",
        "offsets.topic.replication.factor": "1",
        "offsets.topic.num.partitions": "4",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "transaction.state.log.num.partitions": "1",
        "share.coordinator.state.topic.replication.factor": "1",
        "share.coordinator.state.topic.min.isr": "1",
        "group.initial.rebalance.delay.ms": "0",
        "message.max.bytes": str(TOPIC_MESSAGE_BYTES),
        "replica.fetch.max.bytes": str(TOPIC_MESSAGE_BYTES),
        "socket.request.max.bytes": str(2 * TOPIC_MESSAGE_BYTES),
        "log.retention.ms": str(RETENTION_MS),
        "log.retention.check.interval.ms": "60000",
        "log.roll.ms": str(SEGMENT_MS),
        "log.segment.delete.delay.ms": "10000",
        "log.cleanup.policy": "delete",
        "log.cleaner.dedupe.buffer.size": str(8 * 1024 * 1024),
        "num.network.threads": "2",
        "num.io.threads": "4",
        "background.threads": "2",
        "controlled.shutdown.enable": "true",
    }
    return "".join(f"{name}={value}\n" for name, value in settings.items())


LOG4J_SETTINGS = """<?xml version="1.0" encoding="UTF-8"?>
<Configuration status="ERROR">
  <Appenders>
    <RollingFile name="file" fileName="logs/broker.log" filePattern="logs/broker.log.%i">
      <PatternLayout pattern="[%d{ISO8601}{UTC}] %p %m (%c)%n"/>
      <SizeBasedTriggeringPolicy size="5 MB"/>
      <DefaultRolloverStrategy max="3"/>
    </RollingFile>
  </Appenders>
  <Loggers>
    <Root level="INFO"><AppenderRef ref="file"/></Root>
    <Logger name="kafka.request.logger" level="ERROR"/>
    <Logger name="org.apache.kafka.common.config" level="WARN"/>
  </Loggers>
</Configuration>
"""
