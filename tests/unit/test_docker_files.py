"""The images, the compose file and the dashboard: what can be told of them without a container engine."""

from __future__ import annotations

import json
import re
import runpy
import shlex
import time
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner
from prometheus_client import CollectorRegistry

from jobs.command_line import main
from jobs.requirements_lock import ROLES, constraints
from pipelines.adapters import delta
from pipelines.adapters.lake_metrics import LakeCollector
from pipelines.supervision.states import Deployment, JobState, Phase
from schemas import TABLES

ROOT = Path(__file__).resolve().parents[2]
DOCKER = ROOT / "docker"
DOCKERFILE = (DOCKER / "Dockerfile").read_text()
COMPOSE = yaml.safe_load((DOCKER / "compose.yaml").read_text())
DASHBOARD = json.loads((DOCKER / "grafana" / "dashboards" / "turnmill.json").read_text())
OURS = {name: service for name, service in COMPOSE["services"].items() if "turnmill" in service["image"]}


STAGES = runpy.run_path(str(DOCKER / "run_steps.py"))["stages"](DOCKERFILE)


def last(role, word):
    return [rest for instruction, rest in STAGES[role] if instruction == word][-1]


@pytest.mark.parametrize("role", ROLES)
def test_each_role_is_an_image_that_runs_without_root_and_tells_its_health(role):
    assert last(role, "USER") == "10001:10001"
    assert "CMD" in last(role, "HEALTHCHECK")
    assert json.loads(last(role, "ENTRYPOINT")) == ["turnmill"]


@pytest.mark.parametrize("role", ROLES)
def test_an_image_takes_its_packages_from_the_lock_of_its_role_by_hash(role):
    assert f"docker/locks/{role}.lock /tmp/role.lock" in last(role, "COPY") + DOCKERFILE
    installs = [rest for word, rest in STAGES[role] if word == "RUN" and "pip install" in rest]
    assert [("--require-hashes" in one) or ("--no-deps" in one) for one in installs] == [True, True]


@pytest.mark.parametrize("role", ROLES)
def test_the_lock_of_a_role_is_a_part_of_the_whole_one(role):
    text = (DOCKER / "locks" / f"{role}.lock").read_text()
    whole = {entry.split(" ;")[0] for entry in constraints((ROOT / "requirements.lock").read_text())}
    entries = [entry.split(" ;")[0] for entry in constraints(text)]
    assert set(entries) <= whole
    assert all("--hash=sha256:" in entry for entry in text.replace("\\\n", " ").splitlines() if entry.strip())
    assert "://" not in text
    assert "pytest" not in text


def test_the_reading_image_has_no_spark_no_model_and_no_java():
    text = (DOCKER / "locks" / "cli.lock").read_text()
    assert not re.search(r"^(pyspark|torch|transformers)==", text, re.MULTILINE)
    assert not any("openjdk" in rest for _, rest in STAGES["cli"])


def test_no_image_floats():
    images = [service["image"] for service in COMPOSE["services"].values() if "turnmill" not in service["image"]]
    images += re.findall(r"^ARG PYTHON=(.*)$", DOCKERFILE, re.MULTILINE)
    assert images
    for image in images:
        assert re.search(r":v?\d+\.\d+\.\d+", image), image


@pytest.mark.parametrize("words", [shlex.split(" ".join(json.loads(last(role, "CMD")))) for role in ROLES])
def test_what_an_image_runs_is_a_command_with_these_flags(words):
    told = CliRunner().invoke(main, [*words, "--help"])
    assert told.exit_code == 0, told.output


@pytest.mark.parametrize("name", OURS)
def test_a_service_of_ours_runs_what_there_is(name):
    service = OURS[name]
    if "entrypoint" in service:
        assert service["entrypoint"] == ["spark-class"]
        return
    told = CliRunner().invoke(main, [*map(str, service["command"]), "--help"])
    assert told.exit_code == 0, told.output
    assert service["image"].removeprefix("turnmill-") in STAGES


def test_services_share_the_lake_write_nowhere_else_and_hold_no_secret():
    for name, service in OURS.items():
        assert service["read_only"], name
        assert {"lake:/lake", "keys:/keys", "logs:/logs"} <= set(service["volumes"]), name
        assert service["cap_drop"] == ["ALL"], name
    for service in COMPOSE["services"].values():
        for key, value in service.get("environment", {}).items():
            assert not re.search("PASSWORD|SECRET|TOKEN|_KEY$", key) or str(value).startswith("/run/secrets/"), key
        for port in service.get("ports", []):
            assert port.startswith("127.0.0.1:"), port


def test_files_that_services_mount_are_there_or_told_of_in_the_readme():
    readme = (ROOT / "README.md").read_text()
    mounts = [mount.split(":")[0] for one in COMPOSE["services"].values() for mount in one.get("volumes", [])]
    mounts += [secret["file"] for secret in COMPOSE["secrets"].values()]
    for mount in mounts:
        if mount.startswith("./"):
            assert (DOCKER / mount).exists() or f"docker/{mount[2:]}" in readme, mount


@pytest.fixture(scope="module")
def metrics(tmp_path_factory):
    """Names of all metrics that a deployment serves."""
    from pipelines.adapters.lake import Lake

    lake, now = Lake(tmp_path_factory.mktemp("metrics") / "lake"), time.time()
    for table in TABLES:
        delta.create_table(lake, table)
    jobs = (JobState("streams", Phase.RUNNING, now),)
    registry = CollectorRegistry()
    registry.register(LakeCollector(lake, dict, lambda: Deployment(1, now, now, jobs)))
    families = list(registry.collect())
    return {family.name + ("_total" if family.type == "counter" else "") for family in families}


def test_every_metric_of_the_dashboard_the_scrape_and_the_readme_is_served(metrics):
    texts = [target["expr"] for panel in DASHBOARD["panels"] for target in panel.get("targets", [])]
    assert len(texts) > 20
    asked = {name for text in texts for name in re.findall(r"\bturnmill_[a-z_]+", text)}
    readme = (ROOT / "README.md").read_text()
    section = readme[readme.index("#### Metrics and probes") : readme.index("#### Upkeep")]
    asked |= set(re.findall(r"`(turnmill_[a-z_]+)[{`]", section))
    assert asked - metrics == set()


def test_every_metric_is_in_the_readme(metrics):
    readme = (ROOT / "README.md").read_text()
    named = set(re.findall(r"`(turnmill_[a-z_]+)", readme))
    named |= {f"turnmill_table_{kind}" for kind in re.findall(r"`_([a-z]+)`", readme)}
    assert metrics - named == set()


def test_the_dashboard_has_one_panel_a_place():
    places = [tuple(panel["gridPos"].values()) for panel in DASHBOARD["panels"]]
    assert len(places) == len(set(places))
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])


def test_prometheus_scrapes_services_that_there_are():
    scraped = yaml.safe_load((DOCKER / "prometheus" / "prometheus.yml").read_text())["scrape_configs"]
    targets = {target for one in scraped for group in one["static_configs"] for target in group["targets"]}
    assert {target.split(":")[0] for target in targets} <= set(COMPOSE["services"])
    assert {target.split(":")[1] for target in targets} == {"9464"}
