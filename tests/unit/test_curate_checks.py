"""What the gate is told beside the rows: a second look at stored turns, and the page for people."""

import pytest

from jobs.curate_checks import rescan
from pipelines.datasets.gate_page import gate_page
from pipelines.privacy.anonymizer import Anonymizer
from pipelines.privacy.keys import KeyFolder
from pipelines.privacy.policy import CLINICAL_SAFE_HARBOR
from schemas import TURNS

MAIL = "mallory.example@example.com"


@pytest.fixture
def keys(tmp_path):
    return KeyFolder(tmp_path / "keys").open_or_create()


def turn(turn_id, text, redactions=(), policy="training"):
    places = [{"field": "/text", "start": a, "end": b, "type": kind} for a, b, kind in redactions]
    return TURNS.row(turn_id=turn_id, text=text, redactions=places, policy=policy)


def test_a_value_outside_of_recorded_redactions_is_found_and_one_inside_is_not(keys):
    # The preset for which addresses of documentation are personal too.
    strict = CLINICAL_SAFE_HARBOR.name
    clean = Anonymizer(keys, CLINICAL_SAFE_HARBOR).text("default", f"Write to {MAIL} today.")
    assert clean.redactions
    leaked = turn("leaked", f"Write to {MAIL} today.", policy=strict)
    found = rescan([leaked, turn("clean", clean.text, clean.redactions, policy=strict)], keys)
    assert (found.patterned, found.n_turns, found.n_unread) == ({"leaked"}, 2, 0)


def test_a_name_is_told_apart_from_patterned_values(keys):
    found = rescan([turn("named", "My name is Dr. Margaret Thornbury and I live in Leeds.")], keys)
    assert (found.patterned, found.named) == (frozenset(), {"named"})


def test_turns_under_a_policy_that_is_not_known_are_counted_and_not_judged(keys):
    found = rescan([turn("a", MAIL, policy="house-rules"), turn("b", "hello")], keys)
    assert (found.patterned, found.n_turns, found.n_unread) == (frozenset(), 1, 1)


def manifest(verdict="held"):
    gate = {"verdict": verdict, "n_expectations": 2, "failed": ["x"], "compared_with": None}
    shape = {"languages": {"<i>en": 3}}
    return {
        "dataset_version": "ds-1", "gate": gate, "kind": "sft", "split_counts": {"train": 3}, "shape": shape,
        "drop_counts": {"consent": 1},
    }  # fmt: skip


def test_the_page_tells_failures_first_with_ids_and_escapes_all_names():
    checked = [
        {"name": "holds <b>", "wanted": "w", "observed": "o", "held": True, "ids": ()},
        {"name": "breaks", "wanted": "every row", "observed": "1 of 3 rows break it", "held": False, "ids": ("e1",)},
    ]
    page = gate_page(manifest(), checked).decode()
    assert page.index("breaks") < page.index("holds")
    assert "<code>e1</code>" in page
    assert "holds &lt;b&gt;" in page
    assert "&lt;i&gt;en" in page
    assert "<b>" not in page
    assert "http" not in page
    assert gate_page(manifest(), checked).decode() == page
