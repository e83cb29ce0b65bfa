"""Code of the README that is no shell: Python runs, policies are read, queries are asked in ``test_docs``."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pandas as pd
import pytest

import pipelines.datasets.policy_files as curation
import pipelines.privacy.policy as privacy
import pipelines.training.trigger_policy as trigger

README = (Path(__file__).resolve().parents[2] / "README.md").read_text()
ELSEWHERE = {
    "From Python": "test_worked_questions.py",
    "Eight questions": "test_worked_questions.py",
}
"""Sections whose Python runs in another test, on a lake whose answers are known."""


def blocks(language):
    """Blocks of a language with the title of the section that they stand in."""
    title, found = "", []
    for head, block in re.findall(rf"^##+ ([^\n]+)$|^```{language}\n(.*?)^```", README, re.DOTALL | re.MULTILINE):
        title = head or title
        found += [(title, block)] if block else []
    return found


def by_section(language):
    sections = {}
    for title, block in blocks(language):
        sections.setdefault(title, []).append(block)
    return sections


@pytest.mark.parametrize("title", [title for title in by_section("python") if title not in ELSEWHERE])
def test_the_python_of_a_section_runs(title, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"frame": pd.DataFrame({"text": ["to nina@example.org", "nobody"]})}
    for block in by_section("python")[title]:
        exec(block, names)  # the README's own code
    assert len(names["frame"]) == 2


def test_python_that_runs_elsewhere_is_there():
    assert set(ELSEWHERE) <= set(by_section("python"))


@pytest.mark.parametrize("block", [block for _, block in blocks("toml")], ids=[title for title, _ in blocks("toml")])
def test_a_policy_of_the_readme_is_read_by_the_reader_of_its_kind(block, tmp_path):
    declared = tomllib.loads(block)
    if "trigger" in declared:
        (tmp_path / "trigger.toml").write_text(block)
        assert trigger.read_policy(tmp_path / "trigger.toml").new_examples == declared["trigger"]["new_examples"]
    elif "second_look" in declared:
        assert privacy.declared_policy(declared).name.startswith(declared["name"])
    else:
        assert curation.declared_policy(declared, name="policy").seed == declared["seed"]


def test_every_block_names_its_language_and_runs_in_a_test():
    fences = re.findall(r"^```(\w*)", README, re.MULTILINE)[::2]
    drawings = [block for block in re.findall(r"^```\n(.*?)^```", README, re.DOTALL | re.MULTILINE) if "->" in block]
    assert set(fences) <= {"sh", "sql", "python", "toml", ""}
    assert fences.count("") == 2
    assert len(drawings) >= 1
