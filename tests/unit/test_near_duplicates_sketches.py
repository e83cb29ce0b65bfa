"""What near duplicates are found by: words and marks, signatures, bands, and their way through Arrow and Delta."""

import random

import numpy as np
import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pipelines.duplicates import sketches as sketches_module
from pipelines.duplicates.arrow_columns import from_arrow, to_arrow
from pipelines.duplicates.bands import MAX_BUCKET, Bands, Buckets, band_keys, bands_for
from pipelines.duplicates.index import AcceptedIndex, Batch
from pipelines.duplicates.minhash import EMPTY, estimates, low_bytes, signatures
from pipelines.duplicates.mixing import mixed, sequence
from pipelines.duplicates.normalise import code_points, exact_form
from pipelines.duplicates.ragged import Ragged, as_sets, sizes_in_common, stacked, starts_of
from pipelines.duplicates.sketches import FLAT, RAGGED, sketches
from pipelines.duplicates.talks import talk_text
from pipelines.duplicates.tokens import tokens, word_ids
from pipelines.intake.items import Message, ToolCall

CUT = Bands(51, 5)
TEXTS = [
    "how do i reset my router",
    "",
    "yes",
    "Convert 5 USD to EUR for Lamar please",
    "请问如何重置我的路由器呢",
    "🙂",
]


def cut(text):
    return tokens(code_points([text]))


def ragged(rows):
    sizes = np.array([len(row) for row in rows], np.int64)
    return Ragged(np.array([one for row in rows for one in row], np.uint32), starts_of(sizes))


def same(one, other):
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in FLAT) and all(
        np.array_equal(getattr(one, name).values, getattr(other, name).values)
        and np.array_equal(getattr(one, name).sizes, getattr(other, name).sizes)
        for name in RAGGED
    )


@pytest.mark.parametrize(
    ("text", "count"),
    [("how do I", 3), ("don't do it", 3), ("a,b;c", 3), ("", 0), ("...", 0), ("路由器", 2), ("路", 1),
     ("wifi路由器ok", 4), ("नमस्ते दुनिया", 2), ("get_weather", 1), ("a\x00b", 2)],
)  # fmt: skip
def test_words_are_cut_as_their_script_writes_them(text, count):
    assert cut(text).words.sizes.tolist() == [count]


@pytest.mark.parametrize(
    ("text", "count"),
    [("no mark here.", 0), ("at 10:30 sharp", 1), ("$5, 6 and A-17!", 3), ("C++ or C#", 2), ("**bold** and # head", 0),
     ("- one\n- two", 0), ("5 - 3", 3), ("a - b", 0), ('{"n": 2, "m": "x"}', 1), ("x = y", 1)],
)  # fmt: skip
def test_marks_are_values_and_signs_without_the_punctuation_around_them(text, count):
    assert cut(text).marks.sizes.tolist() == [count]


@pytest.mark.parametrize(
    ("text", "count"),
    [("Tell Lamar now", 1), ("Tell me. Now go", 0), ("what I'm told by Oswyn and Lamar", 2), ("HELLO ALL OF YOU", 0),
     ("tell\nLamar", 0), ("weather in OSLO today", 1)],
)  # fmt: skip
def test_names_are_words_in_upper_case_inside_a_sentence(text, count):
    assert cut(text).names.sizes.tolist() == [count]


def test_a_word_has_one_hash_wherever_it_stands():
    words = cut("router, my (router) is a ROUTER").words.values
    assert words[0] == words[2] == words[5]
    assert len(set(words.tolist())) == 4


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text(max_size=60) | st.text("aA5-+.# \n¢不", max_size=12), max_size=6))
@example(["", "¢A:0"])
@example(["a -", "5"])
def test_a_text_is_sketched_alike_in_any_company(texts):
    together = sketches(texts, CUT)
    assert len(together) == len(texts)
    for place, text in enumerate(texts):
        assert same(together.take(np.array([place])), sketches([text], CUT))


def test_the_size_of_chunks_changes_no_sketch(monkeypatch):
    whole = sketches(TEXTS, CUT)
    monkeypatch.setattr(sketches_module, "CHUNK_CHARACTERS", 7)
    assert same(sketches(TEXTS, CUT), whole)


def test_hashes_never_change_without_a_new_version():
    # Stored sketches would compare with nothing. A change here needs a new sketches.VERSION.
    found = sketches(["How do I reset my router in Lamar to 5 GHz?"], CUT)
    assert sequence(1, 2).tolist() == SEQUENCE
    assert (int(found.exact[0]), int(found.bands[0, 0]), int(found.bands[0, -1])) == SKETCH
    assert (int(found.words.values.sum()), int(found.marks.values[0]), int(found.spelled.values[0])) == SETS


SEQUENCE = [7960286522194355700, 487617019471545679]
SKETCH = (2442471961339746704, 113346032, 1736903141)
SETS = (28084672579, 1123396446, 14988049929706938368)


def test_equal_forms_ignore_white_space_and_composition_alone():
    assert exact_form(" a \n\tb ") == "a b"
    assert exact_form("e\u0301") == "é"
    assert exact_form("A") != exact_form("a")


def test_mixing_is_one_to_one_and_moves_half_of_the_bits():
    values = np.arange(10_000, dtype=np.uint64)
    out = mixed(values)
    assert len(set(out.tolist())) == len(values)
    flipped = np.bitwise_count(out ^ mixed(values ^ np.uint64(1)))
    assert 30 < flipped.mean() < 34


def test_estimates_are_right_on_average_and_within_their_error():
    draw = random.Random(5)
    errors = []
    for _ in range(150):
        pool = [draw.getrandbits(32) for _ in range(300)]
        size = draw.randrange(20, 140)
        one, other = set(pool[: size + 60]), set(pool[size:])
        found = low_bytes(signatures(ragged([sorted(one), sorted(other)])))
        errors.append(estimates(found[:1], found[1:])[0] - len(one & other) / len(one | other))
    assert abs(np.mean(errors)) < 0.01
    assert np.abs(errors).max() < 0.12


def test_signatures_do_not_depend_on_how_they_are_chunked():
    sets = ragged([[], list(range(5000)), [7], [], list(range(4000, 4100))])
    found = signatures(sets)
    assert found.dtype == np.uint32
    assert (found[0] == EMPTY).all() and (found[3] == EMPTY).all()
    for place in (1, 2, 4):
        assert np.array_equal(found[place], signatures(ragged([sets.row(place)]))[0])
    halves = signatures(ragged([list(range(2500)), list(range(2500, 5000))]))
    assert np.array_equal(found[1], halves.min(axis=0))


@pytest.mark.parametrize("jaccard", [0.3, 0.5625, 0.75, 0.9, 1.0])
def test_bands_find_pairs_at_the_threshold_and_fit_the_signature(jaccard):
    found = bands_for(jaccard)
    assert found.count * found.rows <= 256
    assert found.chance(jaccard) >= 0.9
    assert found.rows == 256 or Bands(256 // (found.rows + 1), found.rows + 1).chance(jaccard) < 0.9


def test_candidates_are_the_rows_that_share_a_band_each_once_and_the_earliest():
    keys = np.array([[1, 2, 1, 3], [5, 6, 5, 6]], np.uint32)
    new, own, cut_short = Buckets.of(keys).candidates(np.array([[1, 9], [6, 9]], np.uint32))
    assert list(zip(new.tolist(), own.tolist(), strict=True)) == [(0, 0), (0, 1), (0, 2), (0, 3)]
    assert cut_short == 0
    full = Buckets.of(np.zeros((1, MAX_BUCKET + 9), np.uint32))
    new, own, cut_short = full.candidates(np.zeros((1, 1), np.uint32))
    assert (own.tolist(), cut_short) == (list(range(MAX_BUCKET)), 1)


def test_equal_signatures_share_all_band_keys_and_others_none():
    found = signatures(ragged([[1, 2, 3], [1, 2, 3], [900, 901]]))
    keys = band_keys(found, CUT)
    assert keys.shape == (51, 3)
    assert (keys[:, 0] == keys[:, 1]).all()
    assert not (keys[:, 0] == keys[:, 2]).any()


sets_drawn = st.lists(st.sets(st.integers(0, 2**32 - 1) | st.integers(0, 8), max_size=9), min_size=1, max_size=6)


@settings(max_examples=50, deadline=None)
@given(sets_drawn, st.data())
def test_ragged_rows_do_what_lists_of_sets_do(rows, data):
    held = ragged([sorted(row) for row in rows])
    order = data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=8))
    picked = held.take(np.array(order, np.int64))
    assert [set(picked.row(place).tolist()) for place in range(len(order))] == [rows[place] for place in order]
    turned = held.take(np.arange(len(rows))[::-1])
    assert sizes_in_common(held, turned).tolist() == [len(a & b) for a, b in zip(rows, rows[::-1], strict=True)]
    assert np.array_equal(stacked([held, turned]).sizes, np.concatenate((held.sizes, turned.sizes)))
    owners = np.repeat(np.arange(len(rows)), held.sizes)
    doubled = as_sets(np.concatenate((held.values,) * 2), np.concatenate((owners,) * 2), len(rows))
    assert np.array_equal(doubled.values, held.values)


def test_sketches_come_back_from_a_delta_table_and_find_the_same(tmp_path):
    index = AcceptedIndex()
    batch = index.batch([str(place) for place in range(len(TEXTS))], TEXTS)
    write_deltalake(tmp_path / "signatures", to_arrow(list(batch.ids), batch.rows))
    stored = DeltaTable(tmp_path / "signatures").to_pyarrow_table()
    ids, rows = from_arrow(stored)
    assert ids == list(batch.ids)
    assert same(rows, batch.rows)
    index.accept(Batch(ids, rows))
    found = index.take(index.batch(["new"], ["How do I reset my router?"]))
    assert (found[0].matched_id, found[0].score) == ("0", 1.0)


def test_sketches_come_back_from_a_slice_and_from_many_pieces():
    rows = sketches(TEXTS, CUT)
    table = to_arrow([str(place) for place in range(len(TEXTS))], rows)
    assert same(from_arrow(table.slice(2, 3))[1], rows.take(np.arange(2, 5)))
    assert same(from_arrow(pa.concat_tables([table.slice(0, 2), table.slice(2)]))[1], rows)


def test_sketches_of_another_version_or_cut_are_refused():
    table = to_arrow(["a"], sketches(["x"], CUT))
    other = table.set_column(1, "sketch_version", pa.array([sketches_module.VERSION + 1], pa.int32()))
    with pytest.raises(ValueError, match="version"):
        from_arrow(other)
    with pytest.raises(ValueError, match="version"):
        from_arrow(pa.concat_tables([table, to_arrow(["b"], sketches(["x"], Bands(51, 4)))]))


def test_no_text_is_in_a_sketch():
    rows = sketches(["my secret word is xylophonist and nothing else"], CUT)
    assert b"xylophonist" not in b"".join(
        column.to_pandas().to_string().encode() for column in to_arrow(["a"], rows).columns
    )


def test_talks_are_compared_without_instructions_and_equal_only_with_them():
    def talk(system):
        return [Message("system", system), Message("user", "hi"), call]

    call = Message("assistant", tool_calls=[ToolCall("c-1", "look", '{"b": 1, "a": 2}')])
    one, other = talk_text(talk("be kind")), talk_text(talk("be short"))
    assert one.compared == other.compared == 'user: hi\n\nassistant: \nlook {"a":2,"b":1}'
    assert one.exact != other.exact
    assert talk_text([Message("system", "alone")]).compared == "system: alone"


def test_word_ids_differ_for_common_words():
    found = word_ids(cut(" ".join(f"word{number}" for number in range(5000))).words.values)
    assert len(set(found.tolist())) == 5000
