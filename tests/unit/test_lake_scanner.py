import base64
import gzip
import io
import json
import random
import struct
import zipfile
from pathlib import Path
from urllib.parse import quote, quote_plus

import lz4.block
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from deltalake import DeltaTable, write_deltalake
from hypothesis import given
from hypothesis import strategies as st

from pipelines.privacy.lake_scanner import scan
from pipelines.privacy.needles import Needles
from pipelines.privacy.text_views import text_views

_RANDOM = random.Random(7)  # noqa: S311
VALUES = [
    "".join(_RANDOM.choices("bcdfghjklmnpqrstvwxz", k=9))
    + "."
    + "".join(_RANDOM.choices("0123456789", k=4))
    + "@velmorq-post.com"
    for _ in range(40)
]
TEXTS = [f"Guten Tag, bitte schreiben Sie an {value} wegen Bestellung {i}." for i, value in enumerate(VALUES)]


def found(folder: Path, values: list[str] = VALUES) -> set[int]:
    return set(scan(folder, values).found)


ALL = set(range(len(VALUES)))


@pytest.mark.parametrize("compression", ["snappy", "zstd", "gzip", "brotli", "lz4", "none"])
@pytest.mark.parametrize("dictionary", [True, False])
def test_values_in_parquet_pages_are_found(tmp_path, compression, dictionary):
    table = pa.table({"text": TEXTS * 50})
    pq.write_table(
        table, tmp_path / "part.parquet", compression=compression, use_dictionary=dictionary, data_page_size=512
    )
    assert found(tmp_path) == ALL


def test_a_byte_search_misses_what_lies_in_snappy_parquet(tmp_path):
    pq.write_table(pa.table({"text": TEXTS}), tmp_path / "part.parquet", compression="snappy", write_statistics=False)
    raw = (tmp_path / "part.parquet").read_bytes()
    assert sum(value.encode() in raw for value in VALUES) < len(VALUES) / 4
    assert found(tmp_path) == ALL


def test_nested_and_binary_columns_and_footers_of_parquet_are_searched(tmp_path):
    a, b, c, d, e, f = VALUES[:6]
    table = pa.table(
        {
            "calls": pa.array([[{"name": "send", "arguments": json.dumps({"to": a})}]]),
            "labels": pa.array([{"key": b}]),
            "counts": pa.array([[(c, 1)]], pa.map_(pa.string(), pa.int32())),
            "payload": pa.array([gzip.compress(d.encode())], pa.binary()),
            "category": pa.array([e]).dictionary_encode(),
        }
    ).replace_schema_metadata({"note": f})
    pq.write_table(table, tmp_path / "nested.parquet", compression="snappy")
    report = scan(tmp_path, VALUES)
    assert set(report.found) == {0, 1, 2, 3, 4, 5}
    assert {find.field for find in report.found[0]} >= {"calls.arguments"}


def test_a_card_number_stored_as_a_number_is_found(tmp_path):
    pq.write_table(pa.table({"card": pa.array([4000001234567899], pa.int64())}), tmp_path / "n.parquet")
    assert found(tmp_path, ["4000001234567899"]) == {0}


def test_deleted_rows_commits_and_checkpoints_of_delta_are_searched(tmp_path):
    lake = tmp_path / "turns"
    write_deltalake(lake, pa.table({"id": list(range(20)), "mail": VALUES[:20], "text": TEXTS[:20]}))
    write_deltalake(lake, pa.table({"id": list(range(20, 40)), "mail": VALUES[20:], "text": TEXTS[20:]}), mode="append")
    DeltaTable(lake).delete("id < 30")
    DeltaTable(lake).create_checkpoint()
    assert found(tmp_path) == ALL
    report = scan(lake / "_delta_log", VALUES)
    kinds = {Path(find.file).suffix for finds in report.found.values() for find in finds}
    assert kinds == {".json", ".parquet"}, "statistics in commits and in the checkpoint"


def test_rows_of_lance_are_found_even_when_deleted_and_compressed(tmp_path):
    lancedb = pytest.importorskip("lancedb")
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(np.zeros(2000 * 4, np.float32)), 4)
    rows = pa.table({"turn_id": [str(i) for i in range(2000)], "text": TEXTS * 50, "vector": vectors})
    table = lancedb.connect(tmp_path).create_table("turns", rows)
    raw = next((tmp_path / "turns.lance" / "data").iterdir()).read_bytes()
    assert not all(value.encode() in raw for value in VALUES)
    table.delete("cast(turn_id as int) >= 0 and turn_id != '17'")
    report = scan(tmp_path, VALUES)
    assert set(report.found) == ALL
    assert report.not_understood == []


def test_an_orphaned_lance_file_is_read_without_its_dataset(tmp_path):
    lancedb = pytest.importorskip("lancedb")
    rows = pa.table({"s": [{"text": t, "tags": [t, None]} for t in TEXTS] * 30})
    lancedb.connect(tmp_path / "whole").create_table("t", rows)
    data = next((tmp_path / "whole" / "t.lance" / "data").iterdir())
    (tmp_path / "orphan").mkdir()
    data.rename(tmp_path / "orphan" / data.name)
    assert found(tmp_path / "orphan") == ALL


@pytest.mark.parametrize("lz4_block", [True, False])
def test_state_store_files_in_lz4_java_framing_are_read(tmp_path, lz4_block):
    rows = b"".join(struct.pack(">I", len(text)) + text.encode() + struct.pack(">i", -1) for text in TEXTS)
    (tmp_path / "1.delta").write_bytes(lz4_java(rows, compressed=lz4_block))
    assert found(tmp_path) == ALL


def lz4_java(plain: bytes, compressed: bool) -> bytes:
    out = b""
    for start in range(0, len(plain), 1024):
        block = plain[start : start + 1024]
        stored = lz4.block.compress(block, store_size=False) if compressed else block
        out += b"LZ4Block" + struct.pack("<BIII", 0x25 if compressed else 0x15, len(stored), len(block), 0) + stored
    return out + b"LZ4Block" + struct.pack("<BIII", 0x15, 0, 0, 0)


def test_snappy_java_streams_are_read(tmp_path):
    plain = "\n".join(TEXTS).encode()
    block = pa.Codec("snappy").compress(plain, asbytes=True)
    (tmp_path / "2.snapshot").write_bytes(
        b"\x82SNAPPY\x00" + struct.pack(">II", 1, 1) + struct.pack(">I", len(block)) + block
    )
    assert found(tmp_path) == ALL


@pytest.mark.parametrize("compression", ["snappy", "lz4", "lz4hc", "zstd", "zlib", "none"])
@pytest.mark.parametrize("version", [2, 5, 6])
@pytest.mark.parametrize("two_level", [False, True])
def test_every_entry_of_rocksdb_is_found_deleted_ones_too(tmp_path, compression, version, two_level):
    rocksdict = pytest.importorskip("rocksdict")
    options = rocksdict.Options(raw_mode=True)
    options.set_compression_type(getattr(rocksdict.DBCompressionType, compression)())
    blocks = rocksdict.BlockBasedOptions()
    blocks.set_format_version(version)
    blocks.set_block_size(512)
    kinds = rocksdict.BlockBasedIndexType
    blocks.set_index_type(kinds.two_level_index_search() if two_level else kinds.binary_search())
    options.set_block_based_table_factory(blocks)
    database = rocksdict.Rdict(str(tmp_path / "db"), options)
    for i, value in enumerate(VALUES[:30]):
        database[f"key {value}".encode() if i % 2 else b"%d" % i] = TEXTS[i].encode() * 3 if i % 2 == 0 else b"value"
    database.flush()
    database.delete(b"0")
    database.flush()
    for i in range(30, 40):
        database[b"%d" % i] = b"filler" * 900 + TEXTS[i].encode()
    database.close()
    zipped(tmp_path / "db", tmp_path / "zips" / "3.zip")
    assert found(tmp_path / "db") == ALL
    assert found(tmp_path / "zips") == ALL


def zipped(folder: Path, target: Path) -> None:
    target.parent.mkdir()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.iterdir()):
            archive.write(path, path.name)


@pytest.mark.parametrize(
    "pack",
    [
        gzip.compress,
        zstandard.ZstdCompressor().compress,
        lambda content: gzip.compress(zstandard.ZstdCompressor().compress(content)),
        lambda content: pa.compress(content, "lz4", asbytes=True),
    ],
)
def test_compressed_logs_are_read_through_their_layers(tmp_path, pack):
    (tmp_path / "events.log.x").write_bytes(pack("\n".join(TEXTS).encode()))
    assert found(tmp_path) == ALL


def test_arrow_numpy_and_safetensors_are_searched(tmp_path):
    batch = pa.record_batch({"text": TEXTS[:10]})
    with pa.OSFile(str(tmp_path / "cache.arrow"), "wb") as sink, pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    np.save(tmp_path / "texts.npy", np.array(TEXTS[10:20]))
    np.savez_compressed(tmp_path / "texts.npz", texts=np.array(TEXTS[20:30]))
    header = json.dumps({"__metadata__": {"note": json.dumps(TEXTS[30:])}}).encode()
    (tmp_path / "model.safetensors").write_bytes(struct.pack("<Q", len(header)) + header)
    assert found(tmp_path) == ALL


ENCODINGS = {
    "plain": lambda v: v,
    "upper case": str.upper,
    "json escapes": lambda v: "".join(f"\\u{ord(c):04x}" for c in v),
    "nested json": lambda v: json.dumps(json.dumps(json.dumps({"a": 'say "' + v.replace("@", "\\u0040") + '"'}))),
    "escaped slash": lambda v: json.dumps({"u": "https://x/" + v}).replace("/", "\\/"),
    "percent": lambda v: quote("to " + v, safe=""),
    "percent twice": lambda v: quote(quote(v, safe=""), safe=""),
    "percent in json": lambda v: json.dumps({"url": "https://example.org/?q=" + quote(v)}),
    "form": lambda v: "q=" + quote_plus("to: " + v),
    "base64": lambda v: base64.b64encode(v.encode()).decode(),
    "base64 of more": lambda v: base64.b64encode(f"a{v} and more".encode()).decode(),
    "base64 after a word": lambda v: "prefix" + base64.b64encode(f"ab{v} and more".encode()).decode(),
    "base64 of json": lambda v: base64.b64encode(json.dumps({"a": v.replace("@", "\\u0040")}).encode()).decode(),
    "url-safe base64": lambda v: base64.urlsafe_b64encode(f"??>>{v}".encode()).decode(),
    "base64 in lines": lambda v: base64.encodebytes(b"x" * 50 + v.encode() + b"y" * 50).decode(),
    "hex": lambda v: v.encode().hex(),
}


@pytest.mark.parametrize("encoding", sorted(ENCODINGS))
def test_an_encoded_value_in_a_log_is_found(tmp_path, encoding):
    (tmp_path / "driver.log").write_text("\n".join(f"INFO {ENCODINGS[encoding](v)} done" for v in VALUES))
    assert found(tmp_path) == ALL


@pytest.mark.parametrize("encoding", sorted(ENCODINGS))
def test_an_encoded_value_in_a_parquet_column_is_found(tmp_path, encoding):
    pq.write_table(
        pa.table({"t": [ENCODINGS[encoding](v) for v in VALUES]}), tmp_path / "p.parquet", compression="zstd"
    )
    assert found(tmp_path) == ALL


@pytest.mark.parametrize("codec", ["utf-16", "utf-16-be", "utf-16-le", "utf-32-le"])
def test_wide_text_is_searched(tmp_path, codec):
    (tmp_path / "wide.txt").write_bytes("\n".join(TEXTS).encode(codec))
    assert found(tmp_path) == ALL


def test_a_value_with_other_than_ascii_letters_is_found_in_any_case_and_normal_form(tmp_path):
    (tmp_path / "a.log").write_text("MÜLLER-ÖZGÜR")
    (tmp_path / "b.json").write_text(json.dumps("zoe\u0308@velmorq-post.com"))
    assert found(tmp_path, ["müller-özgür", "zoë@velmorq-post.com"]) == {0, 1}


def test_spaced_numbers_survive_form_encoding(tmp_path):
    (tmp_path / "a.log").write_text("card=4000+0012+3456+7899&phone=%2B44+7700+900123")
    assert found(tmp_path, ["4000 0012 3456 7899", "+44 7700 900123"]) == {0, 1}


def test_file_and_column_names_are_searched_and_the_report_hides_them(tmp_path):
    (tmp_path / f"user={VALUES[0]}").mkdir()
    pq.write_table(pa.table({VALUES[1]: ["x"]}), tmp_path / f"user={VALUES[0]}" / "part.parquet")
    report = scan(tmp_path, VALUES, types=["EMAIL"] * len(VALUES))
    assert set(report.found) == {0, 1}
    shown = json.dumps(report.as_dict())
    assert not any(value in shown for value in VALUES)
    assert report.found_by_type == {"EMAIL": 2}


def test_nothing_is_found_in_other_texts(tmp_path):
    pq.write_table(pa.table({"text": [t.replace("@", " at ") for t in TEXTS]}), tmp_path / "p.parquet")
    (tmp_path / "a.jsonl").write_text("\n".join(json.dumps({"n": i, "x": "\\u0041%20"}) for i in range(500)))
    (tmp_path / "noise.gz").write_bytes(gzip.compress(random.Random(1).randbytes(300_000)))  # noqa: S311
    report = scan(tmp_path, VALUES)
    assert report.found == {}
    assert report.clean


def test_two_rows_never_make_a_match_together(tmp_path):
    half = len(VALUES[0]) // 2
    pq.write_table(
        pa.table({"text": [VALUES[0][:half], VALUES[0][half:]]}), tmp_path / "p.parquet", use_dictionary=False
    )
    assert found(tmp_path) == set()


def test_a_value_across_a_window_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr("pipelines.privacy.lake_decoders.WINDOW", 1000)
    monkeypatch.setattr("pipelines.privacy.lake_decoders.OVERLAP", 200)
    monkeypatch.setattr("pipelines.privacy.lake_scanner.WINDOW", 1000)
    monkeypatch.setattr("pipelines.privacy.lake_scanner.OVERLAP", 200)
    content = "".join(" " * (990 - i * 3) + v for i, v in enumerate(VALUES)).encode()
    (tmp_path / "plain.log").write_bytes(content)
    assert found(tmp_path) == ALL
    (tmp_path / "plain.log").write_bytes(gzip.compress(content))
    assert found(tmp_path) == ALL


@pytest.mark.parametrize("cut", [0.2, 0.5, 0.9])
def test_a_damaged_file_is_reported_and_never_counts_as_clean(tmp_path, cut):
    whole = io.BytesIO()
    pq.write_table(pa.table({"text": TEXTS}), whole)
    for name, content in {"a.parquet": whole.getvalue(), "b.gz": gzip.compress("\n".join(TEXTS).encode())}.items():
        (tmp_path / name).write_bytes(content[: int(len(content) * cut)])
    report = scan(tmp_path, ["nothing-of-this-kind"])
    assert {name for name, _ in report.not_understood} == {"a.parquet", "b.gz"}
    assert not report.clean


def test_an_unknown_binary_is_reported_and_its_bytes_are_searched(tmp_path):
    (tmp_path / "blob.bin").write_bytes(bytes(range(256)) * 4 + VALUES[3].encode() + bytes(64))
    report = scan(tmp_path, VALUES)
    assert set(report.found) == {3}
    assert [name for name, _ in report.not_understood] == ["blob.bin"]


def test_a_value_too_short_to_mean_anything_is_refused_by_index(tmp_path):
    with pytest.raises(ValueError, match="value 1 has fewer than 8 bytes") as refusal:
        scan(tmp_path, ["long enough", "short"])
    assert "'short'" not in str(refusal.value)


@given(st.text(min_size=8, max_size=40), st.text(max_size=60), st.text(max_size=60), st.data())
def test_a_value_is_found_in_any_nesting_of_encodings(value, before, after, data):
    text = before + value + after
    for _ in range(data.draw(st.integers(0, 3))):
        text = data.draw(st.sampled_from([json.dumps, lambda t: quote(t, safe="")]))(text)
    encoded = text.encode("utf-8", "surrogatepass")
    needles = Needles([value])
    assert any(0 in set(needles.find(view)) for _, view in text_views(encoded))


@given(st.binary(max_size=400))
def test_decoding_never_raises_on_any_bytes(content):
    for _, view in text_views(content):
        assert isinstance(view, bytes)


@pytest.mark.parametrize("head", [b"\x00v1\n", b"\x00\x02v2\x00\x00\x00\x01\x00\x20"])
def test_metadata_of_a_spark_checkpoint_is_read_as_the_text_that_it_is(tmp_path, head):
    (tmp_path / "0").write_bytes(head + b'{"topic": "marlo.quent@korvane-labs.com"}')
    report = scan(tmp_path, ["marlo.quent@korvane-labs.com"])
    assert list(report.found) == [0]
    assert report.not_understood == []
