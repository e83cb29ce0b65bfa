import json
import uuid

import pytest

from jobs.ingest_stream import ingest
from jobs.options import Settings
from jobs.settle_stream import settle
from jobs.streaming import Schedule
from pipelines.adapters import delta
from pipelines.adapters.kafka_producer import load_records
from pipelines.adapters.lake import Lake
from pipelines.conversations.accounting import accounts
from pipelines.intake.landing import Intake
from pipelines.intake.payload_record import unpack_record
from pipelines.privacy.keys import KeyFolder
from pipelines.privacy.payloads import decrypt_payload
from pipelines.privacy.policy import find_policy
from schemas import BATCH_LOG, DEAD_LETTERS, FEEDBACK, LANDING, TURNS

ONCE = Schedule(None)


@pytest.fixture
def settings(tmp_path, kafka):
    return Settings(tmp_path / "lake", tmp_path / "keys", kafka)


def chat(*texts, **fields):
    roles = ("user", "assistant")
    messages = [{"role": roles[i % 2], "content": text} for i, text in enumerate(texts)]
    return json.dumps({"messages": messages, **fields}).encode()


def run(settings, topic, records, **options):
    report = load_records(records, settings.bootstrap, topic=topic)
    assert report.acknowledged == len(records)
    ingest(settings, ONCE, Intake(settings.keys, **options), topics=[topic])
    settle(settings, ONCE)


def rows(spark, settings, table, order="offset"):
    return delta.read(spark, Lake(settings.lake), table).orderBy(order).collect()


def test_every_record_lands_and_bad_ones_become_dead_letters_with_their_payload_encrypted(spark, settings, topic):
    big = "wide plain words " * 320_000
    records = [
        (chat("hello", "hi there"), {}),
        (b'{"messages": [', {}),
        (b"\xff\xfe\x00", {}),
        (b"", {}),
        (b'{"some": "other", "shape": 1}', {"turnmill-tenant": "acme"}),
        (chat("x" * 2_000_000), {}),
        (chat(big), {"turnmill-tenant": "big"}),
        (None, {}),
    ]
    report = load_records(records, settings.bootstrap, topic=topic)
    assert report.acknowledged == len(records)
    ingest(settings, ONCE, Intake(settings.keys, max_record_bytes=6_000_000), topics=[topic])
    settle(settings, ONCE)
    landed = rows(spark, settings, LANDING)
    assert len({(row["partition"], row["offset"]) for row in landed}) == len(records)
    dead = rows(spark, settings, DEAD_LETTERS)
    assert sorted(row["reason"] for row in dead) == ["bad_json", "bad_utf8", "empty_value", "unknown_format"]
    keys = KeyFolder(settings.keys).open()
    for row in dead:
        at = tuple(row[name] for name in ("topic", "partition", "offset", "entry", "position"))
        value, _ = unpack_record(decrypt_payload(bytes(row["payload_encrypted"]), at, row["payload_key_id"], keys))
        assert value in {record for record, _ in records}
    (five_megabytes,) = (row for row in rows(spark, settings, TURNS) if row["tenant"] == "big")
    assert five_megabytes["text"] == big.strip() or five_megabytes["text"] == big


def test_a_record_above_the_limit_is_a_dead_letter_and_its_neighbour_lands(spark, settings, topic):
    run(settings, topic, [(chat("y" * 300_000), {}), (chat("short"), {})], max_record_bytes=200_000)
    assert [row["reason"] for row in rows(spark, settings, DEAD_LETTERS)] == ["too_large"]
    assert [row["text"] for row in rows(spark, settings, TURNS)] == ["short"]


def test_a_name_and_an_address_in_prose_are_replaced_and_the_name_alike_in_every_talk(spark, settings, topic):
    records = [
        (chat("My name is Ottoline Brackwater, I live at 12 Harbour Street, Leeds.", conversation_id="c1"), {}),
        (chat("Please call Ottoline Brackwater back.", conversation_id="c2"), {}),
    ]
    run(settings, topic, records)
    texts = [row["text"] for row in rows(spark, settings, TURNS, order="text")]
    assert not any(word in text for text in texts for word in ("Ottoline", "Brackwater", "Harbour"))
    renamed = next(text for text in texts if text.startswith("Please call "))[len("Please call ") : -len(" back.")]
    assert any(f"My name is {renamed}," in text for text in texts)


def test_personal_values_are_replaced_by_the_same_token_everywhere(spark, settings, topic):
    address = "petra.olmi@korvane-labs.com"
    records = [
        (chat(f"write to {address}", "done", user=address, conversation_id="c1"), {}),
        (chat(f"again {address.upper()}", conversation_id="c2"), {}),
    ]
    run(settings, topic, records, policy=find_policy("analytics"))
    texts = [row["text"] for row in rows(spark, settings, TURNS, order="text")]
    tokens = {word for text in texts for word in text.split() if word.startswith("<EMAIL_")}
    assert len(tokens) == 1
    assert not any("korvane" in text for text in texts)


def test_headers_decide_tenant_consent_user_and_trace(spark, settings, topic):
    trace = "0af7651916cd43dd8448eb211c80319c"
    headers = {
        "turnmill-tenant": "acme",
        "turnmill-consent": "analytics",
        "turnmill-user": "u-1234567",
        "traceparent": f"00-{trace}-b7ad6b7169203331-01",
    }
    run(settings, topic, [(chat("hello"), headers)])
    (turn,) = rows(spark, settings, TURNS)
    assert (turn["tenant"], turn["consent"], turn["trace_id"]) == ("acme", "analytics", trace)
    assert turn["user_ref"] and "1234567" not in turn["user_ref"]


def test_a_growing_history_gives_each_turn_once_and_every_item_is_accounted_for(spark, settings, topic):
    from pipelines.adapters.duck import connect

    talk = ["one", "two", "three", "four", "five"]
    records = [(chat(*talk[:n], conversation_id="c", user="u-1"), {}) for n in (1, 3, 5)]
    feedback = json.dumps({"feedback": {"kind": "thumb", "value": 1, "response_id": "r1"}}).encode()
    run(settings, topic, [*records, *records, (feedback, {}), (b"{", {})])
    assert sorted(row["text"] for row in rows(spark, settings, TURNS)) == sorted(talk)
    found = accounts(connect(Lake(settings.lake)))
    assert found.balanced
    assert (found.records, found.turns, found.repeats, found.feedback, found.dead_letters) == (8, 5, 13, 1, 1)


def test_replaying_a_batch_adds_no_rows(spark, settings, topic):
    run(settings, topic, [(chat(f"text {i}"), {}) for i in range(20)])
    before = (len(rows(spark, settings, LANDING)), len(rows(spark, settings, TURNS)))
    lake = Lake(settings.lake)
    for query in ("ingest", "settle_turns"):
        newest = max((lake.checkpoint(query) / "commits").glob("[0-9]*"), key=lambda path: int(path.name))
        newest.unlink()
        newest.with_name(f".{newest.name}.crc").unlink(missing_ok=True)
    ingest(settings, ONCE, Intake(settings.keys), topics=[topic])
    settle(settings, ONCE)
    assert (len(rows(spark, settings, LANDING)), len(rows(spark, settings, TURNS))) == before


def test_each_batch_is_logged_once_with_its_offsets_and_outcomes(spark, settings, topic):
    run(settings, topic, [(chat("a"), {}), (b"{", {})])
    run(settings, topic, [(chat("b"), {})])
    logged = [row for row in rows(spark, settings, BATCH_LOG, order="batch_id") if row["query"] == "ingest/v1"]
    assert [row["batch_id"] for row in logged] == [0, 1]
    assert [row["rows_by_outcome"] for row in logged] == [{"turn": 1, "dead": 1}, {"turn": 1}]
    assert sum(logged[-1]["offsets_in"].values()) == 3
    assert logged[0]["table_versions"] == {"landing": 1}


def test_feedback_lands_in_its_table(spark, settings, topic):
    value = {"feedback": {"kind": "edit", "text": "mail nina@korvane-labs.com", "response_id": uuid.uuid4().hex}}
    run(settings, topic, [(json.dumps(value).encode(), {})])
    (row,) = rows(spark, settings, FEEDBACK)
    assert row["kind"] == "edit"
    assert "korvane" not in row["text"]
