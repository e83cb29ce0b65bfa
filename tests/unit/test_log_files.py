import gzip
import io
import json
import threading

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.adapters import json_slices
from pipelines.adapters.json_slices import TooLong, lines_of, values_of
from pipelines.adapters.log_files import LogFileError, log_entries

LIMIT = 1 << 20
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
JSON_OBJECTS = st.dictionaries(st.text(), JSON_VALUES, max_size=4)
WRITERS = (
    lambda value: json.dumps(value).encode(),
    lambda value: json.dumps(value, ensure_ascii=False, indent=1).encode("utf-8", "surrogatepass"),
    lambda value: json.dumps(value, separators=(",", ":")).encode(),
)


class Drops(io.RawIOBase):
    """A stream that gives a few bytes at a time, so that every boundary falls inside something."""

    def __init__(self, data, size):
        self.data, self.size = io.BytesIO(data), size

    def read(self, size=-1):
        return self.data.read(self.size)


def write(path, data):
    path.write_bytes(data)
    return path


@given(st.lists(JSON_OBJECTS, max_size=5), st.sampled_from(WRITERS), st.integers(1, 40))
def test_the_elements_of_an_array_come_out_as_their_own_bytes(values, writer, size):
    written = [writer(value) for value in values]
    text = b" [\n" + b" ,\r\n ".join(written) + b"\t]\n"
    assert list(values_of(Drops(text, size), LIMIT)) == written


@given(st.lists(JSON_OBJECTS, max_size=5), st.sampled_from(WRITERS), st.integers(1, 40))
def test_one_value_after_the_other_comes_out_as_its_own_bytes(values, writer, size):
    written = [writer(value) for value in values]
    assert list(values_of(Drops(b"\n".join(written), size), LIMIT)) == written


@given(st.binary(), st.integers(1, 7))
def test_any_bytes_are_cut_without_an_error_and_independently_of_chunks(data, size):
    assert list(values_of(Drops(data, size), LIMIT)) == list(values_of(io.BytesIO(data), LIMIT))


@given(st.binary(), st.integers(1, 7))
def test_lines_are_what_stands_between_newline_bytes(data, size):
    expected = [line for line in data.split(b"\n") if line.strip(b" \t\r\n")]
    assert list(lines_of(Drops(data, size), LIMIT)) == expected


@given(st.lists(st.integers(0, 40), max_size=8), st.integers(1, 50), st.integers(1, 30))
@settings(max_examples=200)
def test_a_line_above_the_limit_is_told_with_its_size(lengths, size, limit):
    text = b"\n".join(b"x" * length for length in lengths)
    expected = [b"x" * n if n <= limit else TooLong(n) for n in lengths if n]
    assert list(lines_of(Drops(text, size), limit)) == expected


def test_an_element_above_the_limit_does_not_hide_its_neighbours():
    text = b'[{"a":1}, {"b":"' + b"x" * 100 + b'"}, {"c":3}]'
    first, second, third = values_of(io.BytesIO(text), 50)
    assert (first, third) == (b'{"a":1}', b'{"c":3}')
    assert isinstance(second, TooLong)


def test_a_bad_element_does_not_hide_its_neighbours():
    text = b'[{"a":1}, {"b":tru}, {"c":3}}, nonsense, {"d":"]"}]'
    expected = [b'{"a":1}', b'{"b":tru}', b'{"c":3}}', b"nonsense", b'{"d":"]"}']
    assert list(values_of(io.BytesIO(text), LIMIT)) == expected


def test_an_array_that_breaks_off_gives_its_last_piece():
    assert list(values_of(io.BytesIO(b'[{"a":1},{"b":"hel'), LIMIT)) == [b'{"a":1}', b'{"b":"hel']


@pytest.mark.parametrize("name", ["log.json", "log.jsonl", "log.txt", "log"])
def test_lines_are_told_by_content_whatever_the_name(tmp_path, name):
    lines = [b'{"a": 1}', b'{"b":\t"\xe2\x80\xa8 \xc2\x85"}\r', b"not json", b'{"c": "cut', b'{"d": 4}']
    path = write(tmp_path / name, b"\n".join(lines[:1] + [b"", b" \r"] + lines[1:]) + b"\n")
    assert list(log_entries(path)) == lines


def test_lines_whose_first_is_cut_short_are_still_lines(tmp_path):
    lines = [b'{"a": "cut sho', b'{"b": 2}', b'{"c": 3}']
    assert list(log_entries(write(tmp_path / "log", b"\n".join(lines)))) == lines


def test_one_pretty_document_is_one_entry(tmp_path):
    document = json.dumps({"messages": [{"role": "user", "content": "a\nb"}]}, indent=2).encode()
    assert list(log_entries(write(tmp_path / "log.json", document + b"\n"))) == [document]


@pytest.mark.parametrize("indent", [None, 0, 2])
def test_an_array_at_the_top_is_one_entry_an_element(tmp_path, indent):
    elements = [{"a": 1}, {"b": ["x", {"y": "]"}]}]
    path = write(tmp_path / "log.json", json.dumps(elements, indent=indent).encode())
    assert [orjson.loads(entry) for entry in log_entries(path)] == elements


@pytest.mark.parametrize(
    "compress", [gzip.compress, zstandard.compress, lambda data: gzip.compress(data[:10]) + gzip.compress(data[10:])]
)
def test_compression_is_told_by_content(tmp_path, compress):
    lines = [b'{"n": %d}' % n for n in range(100)]
    assert list(log_entries(write(tmp_path / "log.bin", compress(b"\n".join(lines))))) == lines


def test_a_byte_order_mark_is_no_part_of_the_first_entry(tmp_path):
    path = write(tmp_path / "log.jsonl", b'\xef\xbb\xbf{"a":1}\n{"b":2}\n')
    assert list(log_entries(path)) == [b'{"a":1}', b'{"b":2}']


def test_utf16_is_refused_with_what_to_do(tmp_path):
    path = write(tmp_path / "log.jsonl", '{"a":1}\n'.encode("utf-16"))
    with pytest.raises(LogFileError, match="iconv"):
        list(log_entries(path))


def test_a_cut_gzip_gives_what_is_whole_and_then_an_error(tmp_path):
    lines = [b'{"n": "%s"}' % (str(n).encode() * 50) for n in range(50_000)]
    path = write(tmp_path / "log.jsonl.gz", gzip.compress(b"\n".join(lines))[:-2000])
    got = []
    with pytest.raises(LogFileError, match=r"log\.jsonl\.gz cannot be read to its end"):
        for entry in log_entries(path):
            got.append(entry)
    assert got
    assert got == lines[: len(got)]


def test_parquet_rows_become_objects_of_their_columns(tmp_path):
    table = pa.table(
        {
            "id": [1, 2],
            "messages": [[{"role": "user", "content": "hé"}], []],
            "at": pa.array([0, 1_000_000], pa.timestamp("us", tz="UTC")),
            "blob": [b"text", b"\xff\xfe"],
            "labels": pa.array([[("a", "b")], None], pa.map_(pa.string(), pa.string())),
        }
    )
    pq.write_table(table, tmp_path / "log.parquet")
    first, second = (orjson.loads(entry) for entry in log_entries(tmp_path / "log.parquet"))
    assert first == {
        "id": 1, "messages": [{"role": "user", "content": "hé"}], "at": "1970-01-01T00:00:00+00:00",
        "blob": "text", "labels": {"a": "b"},
    }  # fmt: skip
    assert second["blob"] == "//4="
    assert second["labels"] is None


def test_progress_ends_at_the_size_of_the_file(tmp_path):
    data = gzip.compress(b"\n".join(b'{"n": %d}' % n for n in range(1000)))
    seen = []
    list(log_entries(write(tmp_path / "log.gz", data), seen.append))
    assert seen == sorted(seen)
    assert seen[-1] == len(data)


def test_a_large_line_is_read_whole(tmp_path):
    line = b'{"text":"' + b"x" * (5 * json_slices.CHUNK_BYTES) + b'"}'
    assert list(log_entries(write(tmp_path / "log.jsonl", line + b"\n" + line))) == [line, line]


def test_an_empty_file_has_no_entries(tmp_path):
    for data in (b"", b"\n\n", b"[]", gzip.compress(b"")):
        assert list(log_entries(write(tmp_path / "log", data))) == []


def test_two_readers_at_once_do_not_disturb_each_other(tmp_path):
    path = write(tmp_path / "log.json", orjson.dumps([{"n": n} for n in range(2000)]))
    got = [[], []]
    threads = [threading.Thread(target=lambda one=one: one.extend(log_entries(path))) for one in got]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got[0] == got[1] == [b'{"n":%d}' % n for n in range(2000)]
