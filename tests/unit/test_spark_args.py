import shlex
import subprocess

import pytest

from jobs.options import UserError
from jobs.spark_args import spark_arguments
from pipelines.adapters.spark_session import SPARK_SETTINGS

JARS = ["/cache/one-1.0.jar", "/cache/two_2.13-1.0.jar"]


def test_a_shell_hands_the_line_on_as_it_is(tmp_path):
    arguments = spark_arguments(JARS, "local[*]")
    (tmp_path / "line").write_text(" ".join(arguments))
    told = subprocess.run(["bash", "-c", "printf '%s\\n' $(cat line)"], cwd=tmp_path, capture_output=True, check=True)
    assert told.stdout.decode().splitlines() == arguments


def test_jars_settings_and_driver_are_named():
    line = " ".join(spark_arguments(JARS))
    assert "--jars /cache/one-1.0.jar,/cache/two_2.13-1.0.jar" in line
    assert "--conf spark.sql.extensions=io.delta.sql.DeltaSparkSessionExtension" in line
    assert "--conf spark.sql.catalog.spark_catalog=org.apache.spark.sql.delta.catalog.DeltaCatalog" in line
    assert all(f"--conf {key}={value}" in line for key, value in SPARK_SETTINGS.items())


def test_a_master_is_named_only_when_asked_for():
    assert "--master" not in spark_arguments(JARS)
    assert spark_arguments(JARS, "local[2]")[:2] == ["--master", "local[2]"]


def test_executors_run_in_the_packed_environment_and_the_driver_in_its_own(tmp_path):
    line = " ".join(spark_arguments(JARS, environment=tmp_path / "env.tar.gz"))
    assert f"--archives {tmp_path}/env.tar.gz#environment" in line
    assert "--conf spark.pyspark.python=./environment/bin/python" in line
    assert "spark.pyspark.driver.python=/" in line
    assert "--archives" not in spark_arguments(JARS)


@pytest.mark.parametrize("folder", ["/my cache", "/a,b", "/a\tb"])
def test_a_path_that_cannot_stand_unquoted_is_told(folder):
    with pytest.raises(UserError, match="TURNMILL_CACHE"):
        spark_arguments([f"{folder}/one.jar"])


def test_every_other_character_of_a_path_survives():
    jar = '/cäche/it\'s$(x)`y`"z"*.jar'
    assert jar in spark_arguments([jar])
    assert shlex.quote(jar) != jar
