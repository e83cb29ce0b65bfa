"""Make the checked-in list of jars anew: ``python -m jobs.jars_lock``, after a change of the versions below."""

from __future__ import annotations

import tempfile
from pathlib import Path

import click

from pipelines.adapters.ivy import Coordinates, Ivy
from pipelines.adapters.jars import LOCK_FILE, Jar, sha256_of, write_lock
from pipelines.adapters.java import find_java

ROOTS = {
    "spark": (
        Coordinates("org.apache.spark", "spark-sql-kafka-0-10_2.13", "4.2.0"),
        Coordinates("io.delta", "delta-spark_4.2_2.13", "4.4.0"),
    ),
    "broker": (
        Coordinates("org.apache.kafka", "kafka_2.13", "4.4.0"),
        Coordinates("org.apache.logging.log4j", "log4j-slf4j-impl", "2.25.5"),
    ),
}

SPARK_BRINGS = (
    "at.yawk.lz4",
    "com.fasterxml.jackson.core",
    "com.fasterxml.jackson.datatype",
    "com.github.luben",
    "org.apache.hadoop",
    "org.apache.logging.log4j",
    "org.apache.parquet",
    "org.lz4",
    "org.roaringbitmap",
    "org.scala-lang",
    "org.scala-lang.modules",
    "org.slf4j",
    "org.xerial.snappy",
)
"""Groups that pyspark's own folder of jars holds already, in the versions that Spark was tested with."""

SPARK_BRINGS_MODULES = ("spark-tags_2.13",)


@click.command()
def command() -> None:
    """Resolve each set with all that it needs, and write coordinates, sizes and sha256 of every jar."""
    java = find_java()
    sets: dict[str, list[Jar]] = {}
    for name, roots in ROOTS.items():
        with tempfile.TemporaryDirectory() as temporary:
            work, into = Path(temporary) / "ivy", Path(temporary) / "jars"
            jars = Ivy(java, work).resolve(roots, SPARK_BRINGS if name == "spark" else (), into)
            sets[name] = [
                Jar(jar.group, jar.artifact, jar.version, sha256_of(path), path.stat().st_size)
                for jar in jars
                if (path := into / jar.file_name) and not (name == "spark" and jar.artifact in SPARK_BRINGS_MODULES)
            ]
        click.echo(f"{name}: {len(sets[name])} jars, {sum(jar.size for jar in sets[name]) / 1e6:.0f} MB", err=True)
    write_lock(sets)
    click.echo(str(LOCK_FILE))


if __name__ == "__main__":
    command()
