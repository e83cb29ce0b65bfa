"""Streaming: nothing slips through a split, and the result is that of the whole text."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.privacy.anonymizer import Anonymizer
from pipelines.privacy.keys import KeyFolder
from pipelines.privacy.policy import ANALYTICS
from pipelines.privacy.streaming import HOLD, HeldBackText

CASES = Path(__file__).resolve().parents[2].parent / "shared" / "cases" / "privacy.jsonl"
PROSE = "The build failed again because the cache was stale, so the team cleared it and started over. " * 4
PLANTED = (
    "SSN 529-41-6372 ok", "mail nina@korvane-labs.com now", "call +1 202 555 0117 or (303) 555-0142",
    "Here is the key: sk-ant-api03-Qm7xT2vLr9KdWz4Hb8NcYp3F done", "visa 4539 7301 8264 5071 thanks",
    "wire to GB04 KORV 6016 1331 9268 19 PLEASE", "postgres://alda:a/b:9z@db.internal:5432/app", "PWD=kestrel88;",
    "-----BEGIN PRIVATE KEY-----\n" + "MIIEvQIBADANBgkqhkiG9w0B\n" * 30 + "-----END PRIVATE KEY-----",
)  # fmt: skip


@pytest.fixture(scope="module")
def anonymizer(tmp_path_factory) -> Anonymizer:
    return Anonymizer(KeyFolder(tmp_path_factory.mktemp("lake") / "keys").open_or_create(), ANALYTICS)


def streamed(anonymizer, chunks) -> list[str]:
    held = HeldBackText(anonymizer, "default")
    return [held.feed(chunk) for chunk in chunks] + [held.close()]


def cut(text, places):
    ends = sorted({*(place % (len(text) + 1) for place in places), len(text)})
    return [text[start:end] for start, end in zip([0, *ends], ends, strict=False)]


@given(
    st.lists(st.sampled_from(PLANTED), unique=True, max_size=6),
    st.lists(st.integers(0, 10**6), max_size=40),
    st.sampled_from([" ", "\n", PROSE, PROSE[: HOLD + 3]]),
)
@settings(max_examples=60)
def test_the_result_is_that_of_the_whole_text_however_it_is_cut(anonymizer, planted, places, between):
    text = PROSE + between.join(("", *planted, PROSE))
    assert "".join(streamed(anonymizer, cut(text, places))) == anonymizer.text("default", text).text


@given(st.text(max_size=900), st.lists(st.integers(0, 10**6), max_size=20))
def test_any_text_comes_out_as_if_it_were_whole(anonymizer, text, places):
    assert "".join(streamed(anonymizer, cut(text, places))) == anonymizer.text("default", text).text


@pytest.mark.parametrize("size", [1, 3, 50])
@pytest.mark.parametrize("value", PLANTED)
def test_no_prefix_that_went_out_holds_a_part_of_a_value(anonymizer, value, size):
    text = f"{PROSE}{value} {PROSE}"
    sent = "".join(streamed(anonymizer, [text[i : i + size] for i in range(0, len(text), size)]))
    assert sent == anonymizer.text("default", text).text
    assert sent != text


def test_long_prose_flows_before_its_end(anonymizer):
    pieces = streamed(anonymizer, [PROSE] * 6)
    assert sum(map(len, pieces[:-1])) > 3 * len(PROSE)


@pytest.mark.parametrize("start", ['{"note": "', '[{"a": "', '"quoted '])
def test_text_that_may_be_json_waits_for_its_end(anonymizer, start):
    text = start + PROSE * 2
    pieces = streamed(anonymizer, [text, "and more"])
    assert pieces[:-1] == ["", ""]
    assert "".join(pieces) == text + "and more"


def test_text_in_brackets_or_quotes_that_is_no_json_flows(anonymizer):
    for start in ("[a link](https://example.com) ", '"Well," she said. ', "{{ name }} "):
        assert any(streamed(anonymizer, [start + PROSE, PROSE])[:-1])


def test_json_that_streams_still_parses(anonymizer):
    text = json.dumps({"note": PROSE, "phone": 2025550117, "mail": "nina@korvane-labs.com"})
    sent = "".join(streamed(anonymizer, [text[i : i + 7] for i in range(0, len(text), 7)]))
    assert set(json.loads(sent)) == {"note", "phone", "mail"}
    assert "2025550117" not in sent


@pytest.mark.skipif(not CASES.exists(), reason="no shared cases here")
def test_no_value_of_the_shared_cases_slips_through_its_chunks(anonymizer):
    cases = [case for case in map(json.loads, CASES.read_text(encoding="utf-8").splitlines()) if "chunks" in case]
    assert cases
    for case in cases:
        sent = "".join(streamed(anonymizer, case["chunks"]))
        assert not any(entity["value"] in sent for entity in case["expected"])
        assert all(kept in sent for kept in case["must_keep"])
