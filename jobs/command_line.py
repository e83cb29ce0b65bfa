"""The command ``turnmill``: a name, and the module that holds each command, imported only when it is asked for."""

from __future__ import annotations

import importlib.metadata

import click

from jobs.lazy_group import LazyGroup

COMMANDS: dict[str, tuple[str, str]] = {
    "demo": ("jobs.demo_run", "Run all of it here: from a chat log in Kafka to a fine-tuned model."),
    "doctor": ("jobs.doctor_check", "Check Java, jars, disk, memory, ports and GPU, and say what to do."),
    "config": ("jobs.config_show", "Show what applies to each command, and where it comes from."),
    "keys": ("jobs.keys_admin", "List the epochs of the keys, and prepare the next one."),
    "kafka": ("jobs.kafka_broker", "Start, stop or look at the embedded Kafka broker."),
    "generate": ("jobs.logs_generate", "Write chat logs with planted personal data, and the truth about them."),
    "load": ("jobs.logs_load", "Send log files to Kafka, one record a log entry."),
    "up": ("jobs.up_supervisor", "Run all streams and periodic batches under one supervisor, until SIGTERM."),
    "maintain": ("jobs.maintain_batch", "Join small files, remove old ones, let old payloads go; streams run on."),
    "ingest": ("jobs.ingest_stream", "Kafka -> landing: parse, identify, anonymise."),
    "settle": ("jobs.settle_stream", "landing -> turns, feedback, dead_letters."),
    "filter": ("jobs.filter_stream", "turns -> turn_signals: keep or reason."),
    "embed": ("jobs.embed_stream", "Kept turns -> embeddings, each text once."),
    "index": ("jobs.index_stream", "Kept turns with their vectors -> vector index."),
    "assemble": ("jobs.assemble_batch", "Touched turns -> conversations."),
    "curate": ("jobs.curate_batch", "Conversations -> drops, examples and a gated dataset version."),
    "consent": ("jobs.consent_admin", "Withdraw users and conversations from training; tell what still holds them."),
    "dataset": ("jobs.dataset_versions", "List, show, compare, export and verify dataset versions."),
    "trigger": ("jobs.trigger_batch", "Decide whether a training run starts, and say why."),
    "train": ("jobs.train_batch", "Fine-tune on a dataset version; try, promote, hold or reject the model."),
    "runs": ("jobs.training_runs", "List, show and end training runs."),
    "models": ("jobs.model_versions", "List, promote, watch and roll back models."),
    "pipe": ("jobs.text_pipes", "Filters without Kafka and Spark: JSON lines in, JSON lines out."),
    "search": ("jobs.index_search", "Find turns by meaning, by shared words or by both."),
    "analyse": ("jobs.analyse_turns", "Topics, drift, neighbours and a map of what the turns mean."),
    "sql": ("jobs.sql_query", "Ask the tables in SQL."),
    "report": ("jobs.report_page", "Write what is in the lake as one HTML page with plots."),
    "dead-letters": ("jobs.dead_letters", "List, show, replay and expire what could not be used."),
    "audit": ("jobs.leak_audit", "Look again at stored turns for personal values that are still there."),
    "status": ("jobs.lake_status", "Count what is where, and check that every record is accounted for."),
    "spark-args": ("jobs.spark_args", "Print the arguments that spark-submit needs."),
}


@click.group(cls=LazyGroup, entries=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(importlib.metadata.version("turnmill"), prog_name="turnmill")
def main() -> None:
    """Mill chat and LLM conversation logs into training data.

    Exit codes: 0 done, 1 failed, 2 wrong use, 3 data gap or accounting broken, 4 gate held, 5 schema change,
    130 interrupted.
    """


if __name__ == "__main__":
    main()
