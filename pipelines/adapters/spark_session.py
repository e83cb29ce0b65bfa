"""The Spark session of every job, the same under ``turnmill`` and under ``spark-submit``."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from pipelines.adapters import jars
from pipelines.adapters.java import find_java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SPARK_SETTINGS: dict[str, str] = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "4",
    # The per-commit snapshot work halves ingest throughput at the default of 50 partitions (DESIGN.md section 5).
    "spark.databricks.delta.snapshotPartitions": "2",
    "spark.databricks.delta.properties.defaults.enableChangeDataFeed": "true",
    # Chat rows reach megabytes: the default of 10,000 rows an Arrow batch would hold gigabytes.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "5000",
    "spark.sql.execution.arrow.maxBytesPerBatch": "67108864",
    "spark.python.worker.reuse": "true",
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.streaming.minBatchesToRetain": "10",
    "spark.sql.streaming.numRecentProgressUpdates": "1000",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # Redacts what looks like a secret in the environment page and in event logs; keys are never in the conf anyway.
    "spark.redaction.regex": "(?i)secret|password|token|access[.]?key|turnmill.keys",
}
"""Settings without spaces in their values, so that ``spark-submit $(turnmill spark-args)`` needs no quoting."""


LOG_SETTINGS = Path(__file__).with_name("log4j2.properties")
# One compiler alone gets 48 MB for its code by default, which Spark fills: from there on the JVM only interprets.
QUICK_START = ("-XX:TieredStopAtLevel=1", "-XX:ReservedCodeCacheSize=256m", "-XX:+UseSerialGC")
FEW_ROWS = {
    # Each task compiles its projections anew: fewer tasks are a third less work for some thousand wide rows (measured).
    "spark.databricks.delta.snapshotPartitions": "1",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.adaptive.enabled": "false",
    # A cut of 600 examples is some 25 plans that each run once: compiling them, and a job for each side that is sent
    # to all tasks, was 38 % of its CPU time in a JVM that was warm, 34 % in a new one (measured).
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
}


SPARK_MASTER, SPARK_CORES = "TURNMILL_SPARK_MASTER", "TURNMILL_SPARK_CORES"
"""The cluster that jobs started without ``spark-submit`` run on, and how many cores each may take of it."""

DRIVER_MEMORY = "TURNMILL_DRIVER_MEMORY"
"""What a driver gets instead, for instance 2g."""


def driver_memory(drivers: int = 1) -> str:
    """Return what a driver gets as Spark writes it: by the environment, else its share of half of the machine's memory.

    The share, where some ``drivers`` run at once, is between 1 and 8 GiB.
    """
    if told := os.environ.get(DRIVER_MEMORY):
        return told
    share = psutil.virtual_memory().total // 2 // drivers // 2**20
    return f"{min(max(share, 1024), 8192)}m"


def spark_session(name: str, *, cores: int | None = None, short_lived: bool = False) -> SparkSession:
    """Return the session of this process, started on first use.

    Under ``spark-submit`` the master, the jars and the settings are those of its command line; started from
    Python, jars come from the cache and the master is ``TURNMILL_SPARK_MASTER``, else ``local[cores]`` (all cores by
    default).
    ``short_lived`` is for minutes and some thousand rows: fewer tasks, and no second compiler in the JVM, which never
    earns back what it costs there (measured: 40 of 110 CPU seconds). Raises ``JavaError`` and ``JarError``, which say
    what to install.
    """
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName(name)
    if not under_spark_submit():
        os.environ["JAVA_HOME"] = str(find_java().home)
        builder = builder.config("spark.jars", ",".join(map(str, jars.classpath("spark"))))
        builder = builder.config("spark.driver.memory", driver_memory())
        for key, value in _where(cores).items():
            builder = builder.config(key, value)
        # Tables are read by path; without this Spark leaves a folder in the user's working directory.
        builder = builder.config("spark.sql.warehouse.dir", str(jars.cache_folder() / "warehouse"))
        level = "error" if os.environ.get("TURNMILL_DEBUG") else "off"
        options = [f"-Dlog4j2.configurationFile={LOG_SETTINGS.as_uri()}", f"-Dturnmill.log.level={level}"]
        options += QUICK_START if short_lived else ()
        builder = builder.config("spark.driver.extraJavaOptions", " ".join(options))
        for key, value in {**SPARK_SETTINGS, **(FEW_ROWS if short_lived else {})}.items():
            builder = builder.config(key, value)
    return builder.getOrCreate()


def _where(cores: int | None) -> dict[str, str]:
    """Return the settings that say where tasks run: here, or on the cluster that the environment names."""
    if master := os.environ.get(SPARK_MASTER):
        limit = os.environ.get(SPARK_CORES)
        return {"spark.master": master, **({"spark.cores.max": limit} if limit else {})}
    loopback = "127.0.0.1"
    return {
        "spark.master": f"local[{cores or '*'}]",
        "spark.driver.host": loopback,
        "spark.driver.bindAddress": loopback,
    }


def under_spark_submit() -> bool:
    """Tell whether ``spark-submit`` started this Python process."""
    return "SPARK_ENV_LOADED" in os.environ or "PYSPARK_GATEWAY_PORT" in os.environ
