"""What is installed is what was tested: pins, lock and constraints say the same versions, and name no address."""

import re
import tomllib
from pathlib import Path

import pytest

from jobs.requirements_lock import constraints, with_constraints

ROOT = Path(__file__).resolve().parents[2]
LOCK = (ROOT / "requirements.lock").read_text()
PROJECT_TEXT = (ROOT / "pyproject.toml").read_text()
PROJECT = tomllib.loads(PROJECT_TEXT)


def name_of(requirement):
    return re.split(r"[=\[; ]", requirement)[0].lower().replace("_", "-")


def versions(requirements):
    found = {}
    for requirement in requirements:
        version = requirement.split("==")[1].split(";")[0].strip()
        found.setdefault(name_of(requirement), set()).add(version)
    return found


def pinned():
    groups = [PROJECT["project"]["dependencies"], *PROJECT["project"]["optional-dependencies"].values()]
    groups += PROJECT["dependency-groups"].values()
    return [requirement for group in groups for requirement in group if not requirement.startswith("turnmill[")]


def test_every_direct_dependency_is_pinned_exactly_and_locked_at_that_version():
    locked = versions(constraints(LOCK))
    for requirement in pinned():
        assert re.fullmatch(r"[a-z0-9-]+==[0-9][0-9a-z.]*( ; .+)?", requirement), requirement
        assert {name_of(requirement): locked[name_of(requirement)]} == versions([requirement])


def test_the_constraints_repeat_the_lock():
    assert PROJECT["tool"]["uv"]["constraint-dependencies"] == constraints(LOCK)


def test_every_locked_file_has_a_hash():
    for entry in LOCK.replace("\\\n", " ").splitlines():
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", entry), entry.split("--hash")[0]


@pytest.mark.parametrize("text", [LOCK, PROJECT_TEXT])
def test_no_address_of_a_registry_is_in_the_repository(text):
    assert "://" not in text
    assert not re.search(r"index-url|--find-links|\[\[tool\.uv\.index\]\]| @ ", text)


def test_the_two_supported_pythons_are_locked():
    assert PROJECT["project"]["requires-python"] == ">=3.11,<3.13"
    markers = [entry.split(";")[1] for entry in constraints(LOCK) if ";" in entry]
    compared = {
        version for marker in markers for version in re.findall(r"python_full_version [<>=]+ '([0-9.]+)'", marker)
    }
    assert compared <= {"3.11", "3.12"}


def test_new_constraints_replace_the_old_ones():
    once = with_constraints(PROJECT_TEXT, ["left==1", "right==2 ; sys_platform == 'linux'"])
    twice = with_constraints(once, ["left==1", "right==2 ; sys_platform == 'linux'"])
    assert once == twice
    assert tomllib.loads(once)["tool"]["uv"]["constraint-dependencies"] == [
        "left==1",
        "right==2 ; sys_platform == 'linux'",
    ]
    assert "constraint-dependencies" not in with_constraints(once, [])
    assert tomllib.loads(once)["project"] == PROJECT["project"]


def test_a_plain_install_needs_neither_spark_nor_torch():
    plain = {name_of(requirement) for requirement in PROJECT["project"]["dependencies"]}
    assert plain.isdisjoint({"pyspark", "delta-spark", "torch", "transformers", "pandas", "confluent-kafka"})


def test_the_checkout_gets_all_extras_by_default():
    group = PROJECT["dependency-groups"]["dev"]
    extras = {extra for entry in group if entry.startswith("turnmill[") for extra in entry[9:-1].split(",")}
    assert extras == set(PROJECT["project"]["optional-dependencies"])
    assert PROJECT["tool"]["uv"]["default-groups"] == ["dev"]


def test_the_wheel_holds_the_three_packages():
    assert PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"] == ["pipelines", "jobs", "schemas"]
    assert PROJECT["project"]["scripts"] == {"turnmill": "jobs.command_line:main"}


def test_the_licence_is_apache_2():
    assert PROJECT["project"]["license"] == "Apache-2.0"
    text = (ROOT / "LICENSE").read_text()
    assert "Apache License" in text and "Version 2.0, January 2004" in text
    assert "END OF TERMS AND CONDITIONS" in text


def test_the_changelog_knows_the_version():
    changelog = (ROOT / "CHANGELOG.md").read_text()
    assert f"## [{PROJECT['project']['version']}]" in changelog
