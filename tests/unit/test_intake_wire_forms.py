"""Whatever a log is wrapped in comes off, within limits; what cannot come off has a reason and never an exception."""

import base64
import datetime as dt
import decimal
import gzip
import io
import json
import struct
import uuid
import zlib

import fastavro
import pytest
import zstandard
from hypothesis import example, given
from hypothesis import strategies as st

from pipelines.intake.avro_values import avro_to_json
from pipelines.intake.compression import MAX_FRAMES
from pipelines.intake.decode import Undecodable
from pipelines.intake.wire_forms import SCHEMA_HEADER, Limits, unwrap
from pipelines.intake.writer_schemas import SchemasUnavailable, WriterSchema
from schemas.records import DEAD_REASONS, DeadReason

LOG = b'{"messages":[{"role":"user","content":"hi"}]}'
CHAT = {
    "type": "record",
    "name": "com.example.Chat",
    "fields": [
        {"name": "messages", "type": {"type": "array", "items": "com.example.Message"}},
        {"name": "user", "type": ["null", "string"], "default": None},
    ],
}
MESSAGE = {
    "type": "record",
    "name": "com.example.Message",
    "fields": [{"name": "role", "type": "string"}, {"name": "content", "type": "string"}],
}
GUID = uuid.UUID("89791762-2336-4186-9674-299b90a802e2")
WITH_REFERENCE = WriterSchema("AVRO", json.dumps(CHAT), (json.dumps(MESSAGE),))


class Registry:
    """A source of schemas that are given."""

    def __init__(self, **known):
        self.known = {int(name[1:]) if name[1:].isdigit() else name: schema for name, schema in known.items()}

    def schema(self, key):
        return self.known.get(key)


REGISTRY = Registry(s1=WriterSchema("JSON", "{}"), s2=WITH_REFERENCE, s3=WriterSchema("PROTOBUF", 'syntax = "proto3";'))
REGISTRY.known[str(GUID)] = WITH_REFERENCE


def framed(schema_id, payload):
    return b"\0" + struct.pack(">I", schema_id) + payload


def avro(value, schema, *references):
    named = {}
    for reference in references:
        fastavro.parse_schema(reference, named_schemas=named)
    stream = io.BytesIO()
    fastavro.schemaless_writer(stream, fastavro.parse_schema(schema, named_schemas=named), value)
    return stream.getvalue()


AVRO_LOG = avro({**json.loads(LOG), "user": None}, CHAT, MESSAGE)


def inside(value, headers=None, **options):
    return unwrap(value, headers or {}, **options).value


def reason_of(value, headers=None, **options):
    with pytest.raises(Undecodable) as refused:
        unwrap(value, headers or {}, **options)
    return refused.value.reason


def test_a_plain_value_is_left_as_it_is():
    headers = {"turnmill-tenant": b"acme"}
    unwrapped = unwrap(LOG, headers)
    assert unwrapped.value is LOG
    assert unwrapped.headers is headers


def zstd(value):
    return zstandard.ZstdCompressor().compress(value)


def streamed_zstd(value):
    compressor = zstandard.ZstdCompressor().compressobj()
    return compressor.compress(value) + compressor.flush()


@pytest.mark.parametrize("compress", [gzip.compress, zstd, streamed_zstd])
def test_a_compressed_record_reads_as_the_plain_one(compress):
    assert inside(compress(LOG)) == LOG


@pytest.mark.parametrize("compress", [gzip.compress, zstd])
def test_all_members_and_frames_are_read(compress):
    lines = [LOG + b"\n" for _ in range(50)]
    assert inside(b"".join(map(compress, lines))) == b"".join(lines)


@pytest.mark.parametrize("compress", [gzip.compress, zstd])
@pytest.mark.parametrize(
    "damage",
    [lambda v: v[:-1], lambda v: v[:12], lambda v: v + b"{}", lambda v: v[:9] + b"\xff\xff\xff" + v[12:]],
    ids=["cut at its end", "cut at its head", "followed by other bytes", "damaged"],
)
def test_broken_compression_is_told_as_such(compress, damage):
    assert reason_of(damage(compress(LOG * 9))) == DeadReason.BAD_COMPRESSION


@pytest.mark.parametrize("compress", [gzip.compress, zstd])
def test_a_value_in_countless_empty_pieces_is_refused(compress):
    assert reason_of(compress(b"") * (MAX_FRAMES + 1)) == DeadReason.BAD_COMPRESSION


@pytest.mark.parametrize("compress", [gzip.compress, zstd])
def test_a_bomb_is_not_unpacked(compress):
    limits = Limits(max_record_bytes=1 << 30)
    assert reason_of(compress(bytes(64 << 20)), limits=limits) == DeadReason.DECOMPRESSION_BOMB


def test_a_bomb_inside_a_bomb_is_not_unpacked():
    bomb = gzip.compress(gzip.compress(bytes(400 << 20)))
    assert reason_of(bomb, limits=Limits(1 << 30)) == DeadReason.DECOMPRESSION_BOMB


@pytest.mark.parametrize("compress", [gzip.compress, zstd])
def test_a_record_above_the_limit_once_unpacked_is_too_large(compress):
    assert reason_of(compress(LOG * 100), limits=Limits(1_000)) == DeadReason.TOO_LARGE
    assert inside(compress(LOG * 100), limits=Limits(100 * len(LOG))) == LOG * 100


@given(st.binary(max_size=400), st.sampled_from([gzip.compress, zstd]), st.lists(st.integers(1, 50), max_size=4))
def test_compressed_bytes_come_back_however_they_were_cut_into_frames(value, compress, cuts):
    value = b"x" + value
    pieces, rest = [], value
    for cut in cuts:
        pieces.append(rest[:cut])
        rest = rest[cut:]
    assert inside(b"".join(compress(piece) for piece in [*pieces, rest])) == value


def test_json_behind_a_schema_id_is_taken_as_it_is():
    assert inside(framed(1, LOG), schemas=REGISTRY) == LOG


def test_avro_is_read_by_the_schema_that_it_names_with_its_references():
    assert json.loads(inside(framed(2, AVRO_LOG), schemas=REGISTRY)) == {**json.loads(LOG), "user": None}


@pytest.mark.parametrize("header", [b"\1" + GUID.bytes, framed(2, b"")])
def test_the_schema_may_be_named_in_the_header(header):
    unwrapped = unwrap(AVRO_LOG, {SCHEMA_HEADER: header, "turnmill-user": b"u-1"}, schemas=REGISTRY)
    assert json.loads(unwrapped.value)["messages"] == json.loads(LOG)["messages"]
    assert unwrapped.headers == {"turnmill-user": b"u-1"}


def test_the_schema_may_be_named_by_guid_before_the_payload():
    assert json.loads(inside(b"\1" + GUID.bytes + AVRO_LOG, schemas=REGISTRY))["user"] is None


def test_a_payload_named_in_the_header_is_not_taken_for_what_its_first_bytes_look_like():
    schema = {"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"}, {"name": "b", "type": "int"}]}
    payload = avro({"a": -16, "b": -70}, schema)
    assert payload.startswith(b"\x1f\x8b")
    registry = Registry(s7=WriterSchema("AVRO", json.dumps(schema)))
    assert json.loads(inside(payload, {SCHEMA_HEADER: framed(7, b"")}, schemas=registry)) == {"a": -16, "b": -70}


@pytest.mark.parametrize(
    ("schema_id", "payload", "registry", "told"),
    [
        (9, LOG, REGISTRY, "schema 9 is not in the schema registry"),
        (1, b"\x02\x06abc", None, "schema 1 is needed, and no schema registry is configured"),
        (3, LOG, REGISTRY, "schema 3 is Protobuf, which is not read: send JSON or Avro"),
    ],
)
def test_a_schema_that_cannot_be_had_is_told(schema_id, payload, registry, told):
    with pytest.raises(Undecodable) as refused:
        unwrap(framed(schema_id, payload), {}, schemas=registry)
    assert (refused.value.reason, refused.value.detail) == (DeadReason.UNKNOWN_SCHEMA, told)


def test_framed_json_needs_no_registry():
    assert unwrap(framed(1, LOG), {}).value == LOG


def test_an_id_that_may_be_text_is_not_told():
    with pytest.raises(Undecodable) as refused:
        unwrap(b"\0anna@example.com", {}, schemas=REGISTRY)
    assert refused.value.reason == DeadReason.UNKNOWN_SCHEMA
    assert not any(character.isdigit() for character in refused.value.detail)


@pytest.mark.parametrize("content", [b"", b"\0", b"\2" + GUID.bytes, b"\1" + GUID.bytes + b"x", b"\0\0\0\0"])
def test_a_schema_header_of_another_form_is_told(content):
    assert reason_of(LOG, {SCHEMA_HEADER: content}, schemas=REGISTRY) == DeadReason.BAD_HEADER


def test_a_registry_that_is_out_of_reach_fails_the_batch_and_not_the_record():
    class Away:
        def schema(self, key):
            raise SchemasUnavailable("out of reach")

    with pytest.raises(SchemasUnavailable):
        unwrap(framed(1, LOG), {}, schemas=Away())


@pytest.mark.parametrize(
    "payload", [b"", AVRO_LOG[:-3], AVRO_LOG + b"\0", b"\xff" * 30, b"\x02\x06\xff\xfe\xfd\x00\x00\x00"]
)
def test_bytes_that_are_no_value_of_their_schema_are_told(payload):
    assert reason_of(framed(2, payload or b"\x01"), schemas=REGISTRY) == DeadReason.BAD_AVRO


@example(b"\x01" * 60)
@given(st.binary(min_size=1, max_size=60))
def test_any_bytes_behind_a_schema_id_give_json_or_a_reason(payload):
    try:
        json.loads(inside(framed(2, payload), schemas=REGISTRY))
    except Undecodable as refused:
        assert refused.reason == DeadReason.BAD_AVRO


NOON = dt.datetime(2026, 1, 2, 12, tzinfo=dt.UTC)


def one_field(kind):
    return {"type": "record", "name": "R", "fields": [{"name": "v", "type": kind}]}


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        ({"type": "long", "logicalType": "timestamp-millis"}, NOON, NOON.isoformat()),
        ({"type": "int", "logicalType": "date"}, dt.date(2026, 1, 2), "2026-01-02"),
        ({"type": "string", "logicalType": "uuid"}, GUID, str(GUID)),
        ({"type": "bytes", "logicalType": "decimal", "precision": 6, "scale": 2}, decimal.Decimal("0.25"), 0.25),
        ("bytes", "é".encode(), "é"),
        ("bytes", b"\xff\xd8", base64.b64encode(b"\xff\xd8").decode()),
        ({"type": "enum", "name": "E", "symbols": ["USER"]}, "USER", "USER"),
        ({"type": "map", "values": "int"}, {"a": 1}, {"a": 1}),
        ("double", float("nan"), None),
        ("long", -(2**63), -(2**63)),
        (["null", "string"], None, None),
    ],
)  # fmt: skip
def test_values_of_avro_become_what_json_has(kind, value, expected):
    schema = one_field(kind)
    assert json.loads(avro_to_json(avro({"v": value}, schema), WriterSchema("AVRO", json.dumps(schema)))) == {
        "v": expected
    }


def test_a_union_or_a_bare_type_may_stand_at_the_top():
    assert avro_to_json(b"\x02\x04hi", WriterSchema("AVRO", '["null", "string"]')) == b'"hi"'
    assert avro_to_json(b"\x04hi", WriterSchema("AVRO", '"string"')) == b'"hi"'
    assert avro_to_json(b"\x04hi", WriterSchema("AVRO", "string")) == b'"hi"'


TREE = {
    "type": "record",
    "name": "Node",
    "fields": [{"name": "text", "type": "string"}, {"name": "reply", "type": ["null", "Node"]}],
}


def test_a_tree_of_any_depth_is_read_or_refused_and_never_ends_the_process():
    schema = WriterSchema("AVRO", json.dumps(TREE))
    assert json.loads(avro_to_json(b"\x02a\x02" * 40 + b"\x02a\x00", schema))["reply"]["text"] == "a"
    with pytest.raises(Undecodable) as refused:
        avro_to_json(b"\x02a\x02" * 200_000 + b"\x02a\x00", schema)
    assert refused.value.reason == DeadReason.TOO_DEEP


def test_recursion_through_another_type_is_seen():
    branch = {
        "type": "record",
        "name": "Branch",
        "fields": [{"name": "nodes", "type": {"type": "array", "items": "Leaf"}}],
    }
    leaf = {"type": "record", "name": "Leaf", "fields": [{"name": "more", "type": ["null", branch]}]}
    with pytest.raises(Undecodable) as refused:
        avro_to_json(b"\x02\x02" * 100_000 + b"\x00" * 100_001, WriterSchema("AVRO", json.dumps(leaf)))
    assert refused.value.reason == DeadReason.TOO_DEEP


EMPTY = {"type": "record", "name": "Empty", "fields": [{"name": "n", "type": "null"}]}


@pytest.mark.parametrize("items", ["null", EMPTY, {"type": "fixed", "name": "F", "size": 0}])
def test_an_array_whose_count_stands_for_no_bytes_is_refused(items):
    many = b"\xfe\xff\xff\xff\xff\xff\x7f" + b"\0"
    for schema in (
        {"type": "array", "items": items},
        one_field({"type": "map", "values": {"type": "array", "items": items}}),
    ):
        with pytest.raises(Undecodable) as refused:
            avro_to_json(many, WriterSchema("AVRO", json.dumps(schema)))
        assert refused.value.reason == DeadReason.UNKNOWN_SCHEMA


@pytest.mark.parametrize("text", ["{", '{"type": "record"}', '"no.such.Type"'])
def test_a_schema_that_is_no_avro_is_told(text):
    with pytest.raises(Undecodable) as refused:
        avro_to_json(b"\0", WriterSchema("AVRO", text))
    assert refused.value.reason == DeadReason.UNKNOWN_SCHEMA


EVENT = {
    "specversion": "1.0",
    "type": "com.example.chat",
    "source": "/gateway",
    "id": "1",
    "subject": "anna@example.com",
}


@pytest.mark.parametrize(
    "data",
    [{"data": json.loads(LOG)}, {"data": LOG.decode()}, {"data_base64": base64.b64encode(LOG).decode()}],
    ids=["as JSON", "as text", "as base64"],
)
def test_the_data_of_a_cloud_event_is_the_log(data):
    for value in (json.dumps({**EVENT, **data}), json.dumps({**data, **EVENT}, indent=2)):
        assert json.loads(inside(value.encode())) == json.loads(LOG)


def test_a_cloud_event_whose_content_type_is_told_is_seen_wherever_its_attributes_stand():
    long = {"data": {"messages": [{"role": "user", "content": "x" * 2_000}]}}
    value = json.dumps({"subject": "y" * 2_000, **EVENT, **long}).encode()
    content_type = {"content-type": b"Application/CloudEvents+json; charset=UTF-8"}
    assert json.loads(inside(value, content_type)) == long["data"]


def test_the_data_of_a_cloud_event_may_itself_be_wrapped():
    event = {**EVENT, "data_base64": base64.b64encode(zstd(framed(1, LOG))).decode()}
    assert inside(gzip.compress(json.dumps(event).encode()), schemas=REGISTRY) == LOG


def test_a_cloud_event_in_binary_mode_holds_the_log_as_it_is():
    headers = {"ce_specversion": b"1.0", "ce_type": b"t", "ce_source": b"/s", "ce_id": b"1"}
    assert inside(LOG, headers) is LOG


@pytest.mark.parametrize(
    "value",
    [
        json.dumps({"messages": [{"role": "user", "content": 'what is "specversion"?'}]}).encode(),
        json.dumps({**EVENT, "messages": []}).encode(),
        json.dumps({**EVENT, "specversion": 1, "data": {}}).encode(),
        b'{"specversion": "1.0", "type"',
        b'["specversion"]',
    ],
)
def test_a_log_that_only_speaks_of_cloud_events_is_left_as_it_is(value):
    assert inside(value) is value


@pytest.mark.parametrize("data", ["%%%", 7, None, ["a"]])
def test_data_that_is_not_base64_is_told(data):
    assert reason_of(json.dumps({**EVENT, "data_base64": data}).encode()) == DeadReason.BAD_SHAPE


def test_a_lone_surrogate_in_the_data_of_an_event_is_kept_for_the_repair():
    value = json.dumps({**EVENT, "data": {"text": "\ud83c"}}).encode()
    assert json.loads(inside(value)) == {"text": "\ud83c"}


def test_four_layers_come_off_and_a_fifth_is_refused():
    four, five = LOG, LOG
    for _ in range(4):
        four = gzip.compress(four)
    for _ in range(5):
        five = gzip.compress(five)
    assert inside(four) == LOG
    assert reason_of(five) == DeadReason.TOO_DEEP


magic = st.sampled_from(
    [b"", b"\x1f\x8b", b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd", b"\0\0\0\0\2", b"\1" + GUID.bytes, b'{"specversion"']
)


@given(magic, st.binary(max_size=200), st.none() | st.binary(max_size=20))
def test_any_bytes_are_unwrapped_left_or_refused_with_a_reason(head, tail, header):
    headers = {} if header is None else {SCHEMA_HEADER: header}
    try:
        assert isinstance(unwrap(head + tail, headers, schemas=REGISTRY).value, bytes)
    except Undecodable as refused:
        assert refused.reason in DEAD_REASONS
        assert len(refused.detail) < 200


def test_no_detail_quotes_the_record():
    secret = b"anna.quent@example.com"
    broken = [
        gzip.compress(secret)[:-1],
        zlib.compress(secret),
        framed(2, secret),
        framed(9, secret),
        zstd(secret) + secret,
    ]
    for value in broken:
        try:
            unwrap(value, {}, schemas=REGISTRY)
        except Undecodable as refused:
            assert "anna" not in f"{refused} {refused.detail}"
