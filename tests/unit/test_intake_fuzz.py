"""A short search at random for bytes that intake does not survive; the long one is in tests/faults."""

import importlib.util
import json
from pathlib import Path

import pytest

from pipelines.intake.formats import FORMAT_OF_NAME, matching_formats
from pipelines.intake.identity import IdentityKey
from pipelines.intake.items import Rejection
from pipelines.intake.parse import parse_record

PROGRAM = Path(__file__).resolve().parents[1] / "faults" / "intake_fuzz.py"

KEY = IdentityKey(bytes(range(32)))
ALONE = {"no_genai_attributes", "unjoinable_fragment"}
"""Why a sample is refused by itself: a span that is no model call, and a piece of a stream without its beginning."""


@pytest.fixture(scope="module")
def fuzz():
    spec = importlib.util.spec_from_file_location("intake_fuzz", PROGRAM)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("seed", range(4))
def test_changed_samples_of_all_formats_give_items_or_typed_reasons(fuzz, seed):
    fuzz.search(1_000, seed)


def test_every_format_has_a_sample(fuzz):
    found = {log_format.NAME for entry in fuzz.seeds() for log_format in matching_formats(entry)}
    assert found == set(FORMAT_OF_NAME) - {"chatml"}
    (named, _) = parse_record(fuzz.TEXTS[0], {"turnmill-format": b"chatml"}, KEY)
    assert named.message.text == "q"


def test_every_sample_is_read(fuzz):
    refused = [
        item.detail
        for entry in fuzz.seeds()
        for item in parse_record(json.dumps(entry).encode(), {}, KEY)
        if isinstance(item, Rejection) and item.reason not in ALONE
    ]
    assert refused == []


def test_the_search_sees_a_fault(fuzz, monkeypatch):
    class Fault:
        def __init__(self):
            self.seen = 0

        def __call__(self, data):
            self.seen += 1
            if self.seen == 5:
                raise KeyError("planted")

    monkeypatch.setattr(fuzz, "Checker", Fault)
    with pytest.raises(AssertionError, match="input 4 of seed 1"):
        fuzz.search(10, 1)
