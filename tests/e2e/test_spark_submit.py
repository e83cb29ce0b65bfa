"""Every job also runs under spark-submit; two of them are run here, in the documented form."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

from pipelines.adapters.duck import connect
from pipelines.adapters.kafka_producer import load_records
from pipelines.adapters.lake import Lake

ROOT = Path(__file__).resolve().parents[2]


def spark_submit(job, *arguments):
    """Run ``spark-submit $(turnmill spark-args) jobs/NAME.py`` as the README writes it."""
    bin_folder = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}"}
    environment = {k: v for k, v in environment.items() if not k.startswith(("PYSPARK_", "SPARK_"))}
    line = f"spark-submit $(turnmill spark-args --master 'local[2]') jobs/{job}.py {shlex.join(map(str, arguments))}"
    return subprocess.run(
        ["bash", "-c", line], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600, check=False
    )


def test_ingest_and_settle_run_under_spark_submit(kafka, topic, tmp_path):
    record = json.dumps({"messages": [{"role": "user", "content": "hello there"}]}).encode()
    load_records([(record, {})], kafka, topic=topic)
    shared = [
        "--lake",
        tmp_path / "lake",
        "--keys",
        tmp_path / "keys",
        "--bootstrap",
        kafka,
        "--available-now",
        "--json",
    ]
    ingested = spark_submit("ingest_stream", *shared, "--topic", topic)
    assert ingested.returncode == 0, ingested.stderr[-2000:]
    assert json.loads(ingested.stdout.splitlines()[-1])["query"] == "ingest"
    settled = spark_submit("settle_stream", *shared)
    assert settled.returncode == 0, settled.stderr[-2000:]
    assert connect(Lake(tmp_path / "lake")).sql("SELECT text FROM turns").fetchall() == [("hello there",)]
