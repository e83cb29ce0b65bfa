"""What the name and address tagger promises. All persons and addresses are invented."""

import json
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.privacy.tagger.lexicon import lexemes_of
from pipelines.privacy.tagger.network import Weights
from pipelines.privacy.tagger.tag import MODEL, Tagger
from pipelines.privacy.tagger.tokens import FIRST_SEPARATOR, pack, tokenize

CASES = Path(__file__).resolve().parents[2].parent / "shared" / "cases" / "privacy.jsonl"
TAGGER = Tagger()
SMALL_BLOCKS = Tagger(block=16)
PIECES = (
    "Maria Delvento", "wrote to", "Jorvik Santell", "ANNA VERRIN", "petra", "Mr.", "O'Kellaghan", "12 Harbour Street",
    "Lindenstraße 7, 10115 Berlin", "ul. Polna 3/4", "😀", "\n", "der Hund schläft", "12.5 km", "{\"a\": 1}", "Łucja",
    "\u00a0", "—", "नमस्ते", "the", ",", "x" * 40, "\ud800",
)  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=12), max_size=30).map(" ".join)


def found(text, kind=None):
    return [text[start:end] for start, end, label in TAGGER.tag([text])[0] if kind in (None, label)]


@given(st.lists(TEXTS, max_size=6))
@settings(max_examples=60, deadline=None)
def test_block_borders_and_neighbours_change_nothing(texts):
    whole = TAGGER.tag(texts)
    assert SMALL_BLOCKS.tag(texts) == whole
    assert [TAGGER.tag([text])[0] for text in texts] == whole


@given(st.lists(st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=60), max_size=6))
@settings(max_examples=60, deadline=None)
def test_an_arrow_array_gives_the_same_spans(texts):
    expected = TAGGER.tag([text or "" for text in texts])
    assert TAGGER.tag_arrow(pa.array(texts, pa.string())) == expected
    assert TAGGER.tag_arrow(pa.array(["Maria Delvento", *texts], pa.large_string())[1:]) == expected


@given(TEXTS)
@settings(max_examples=60, deadline=None)
def test_spans_are_ordered_disjoint_and_inside(text):
    spans = TAGGER.tag([text])[0]
    edges = [edge for start, end, _ in spans for edge in (start, end)]
    assert edges == sorted(edges)
    assert all(0 <= start < end <= len(text) for start, end, _ in spans)
    assert {kind for _, _, kind in spans} <= {"PERSON", "ADDRESS"}


@given(st.text(st.characters(exclude_categories=["Cs"])))
@settings(max_examples=100, deadline=None)
def test_tokens_cover_all_that_is_no_space(text):
    buffer, starts = pack([text.encode()])
    tokens = tokenize(buffer)
    inner = tokens.code < FIRST_SEPARATOR
    pieces = [buffer[start:end].decode() for start, end in zip(tokens.start[inner], tokens.end[inner], strict=True)]
    spaces = "\t\r\x0b\x0c \xa0\u3000\u202f" + "".join(map(chr, [*range(0x00, 0x0A), *range(0x0E, 0x20), 0x7F]))
    spaces += "".join(map(chr, range(0x2000, 0x200B)))
    assert "".join(pieces) == text.translate(dict.fromkeys(map(ord, spaces)))


@pytest.mark.parametrize(
    "letters", ["aàâäáãåąæ", "cçć", "eéèêëę", "iíìîï", "nñń", "oóòôöõœ", "lł", "sśš", "uúùûü", "zżźž", "жщюя", "αβω"]
)
def test_a_word_is_known_in_any_case(letters):
    for letter in letters:
        words = [letter + letters, (letter + letters).upper(), letter.upper() + letters]
        assert lexemes_of(words).size == 1


def test_offsets_count_code_points_also_behind_emoji():
    text = "😀😀 ñandú 👩‍👩‍👧 my name is Maria Delvento 🎉"
    assert found(text) == ["Maria Delvento"]


def test_a_name_behind_a_very_long_text_is_found():
    text = "This is a plain sentence. " * 60_000 + "Dear Maria Delvento, how are you?"
    assert found(text) == ["Maria Delvento"]


@pytest.mark.parametrize(
    "text",
    [
        "My name is [Maria Delvento].",
        "call [anna verrin] please",
        "Patient: [TOMAS VERRIN]",
        "signed by [J. R. Santell] yesterday",
        "Please ask [Siobhan O'Kellaghan].",
        "the chart was read by [Jean-Pierre Lachaume]",
        "Mrs. [van der Velden] called.",
        "This is [Robin Dellane jr.] speaking",
        "Is [Olivia]'s account still open?",
        "Ich heiße [Jürgen Weißhaupt].",
        "Sehr geehrte Frau [Krämer],",
        "Me llamo [María José Etxeberria].",
        "La doctora [Lucía Ibáñez] pasa consulta.",
        "Je m'appelle [Hélène Vaucourt].",
        "Mi chiamo [Giulia Ferrantini].",
        "Mijn naam is [Sanne van den Broek].",
        "O meu nome é [João Carvalhal].",
        "Nazywam się [Łukasz Wiśniewski].",
        "Regards,\n[Olivia Marwick]",
    ],
)
def test_names_are_found_in_many_forms_and_languages(text):
    before, name, after = re.split(r"[\[\]]", text)
    assert name in found(before + name + after, "PERSON")


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("I live at 221B Harbour Street, London NW1 6XE, next to it.", "Harbour Street"),
        (
            "Ship it to 1450 Maple Avenue Apt 3, Springfield, IL 62704 please",
            "1450 Maple Avenue Apt 3, Springfield, IL 62704",
        ),
        ("Ich wohne in der Lindenstraße 7, 10115 Berlin.", "Lindenstraße 7, 10115 Berlin"),
        ("Domicilio: Calle Mayor 15, 3º B, 28013 Madrid.", "Calle Mayor 15"),
        ("J'habite 12 rue de la Fontaine, 75011 Paris.", "12 rue de la Fontaine, 75011 Paris"),
        ("Abito in Via Garibaldi 24, 20121 Milano.", "Via Garibaldi 24, 20121 Milano"),
        ("Ik woon op Dorpsstraat 5, 1017 AB Amsterdam.", "Dorpsstraat 5, 1017 AB Amsterdam"),
        ("Moro na Rua das Flores, 123, São Paulo.", "Rua das Flores, 123"),
        ("Mieszkam przy ul. Polnej 12/34, 00-590 Warszawa.", "12/34, 00-590 Warszawa"),
    ],
)
def test_addresses_are_found_in_eight_languages(text, address):
    assert any(address in span for span in found(text, "ADDRESS"))


@pytest.mark.parametrize(
    "text",
    [
        "He has Parkinson's disease and Bell's palsy.",
        "I asked Claude about Cassandra and Loki, and Kafka was slow.",
        "def get_user(name):\n    return User.objects.get(name=name)",
        '{"status": "ok", "trace": "9af94fb05a8912ed", "latency_ms": 1204}',
        "2026-03-03T09:12:44Z INFO queue.worker retry=3 host=/api/items/140",
        "The French and the Dutch meet on Monday in October.",
        "Der Hund schläft heute den ganzen Tag auf dem Sofa.",
        "El perro duerme todo el día en el sofá de la cocina.",
        "Le chien dort toute la journée sur le canapé.",
        "Il cane dorme tutto il giorno sul divano.",
        "De hond slaapt de hele dag op de bank.",
        "O cachorro dorme o dia inteiro no sofá.",
        "Pies śpi cały dzień na kanapie w kuchni.",
        "",
    ],
)
def test_texts_about_nobody_stay(text):
    assert found(text) == []


def test_equal_taggers_give_equal_spans_whatever_they_met_before():
    fresh = Tagger()
    text = ["Maria Delvento lives at 12 Harbour Street with Łucja."]
    fresh.tag([f"word{chr(97 + n % 26)}{'abcdefghij'[n % 10]}{n} Jorvik" for n in range(3000)])
    assert fresh.tag(text) == TAGGER.tag(text)


def test_a_text_with_more_words_than_the_table_holds_is_tagged():
    letters = "abcdefghijklmnopq"
    words = [a + b + c + d for a in letters for b in letters for c in letters for d in letters]
    text = " ".join(words) + ". My name is Maria Delvento."
    assert found(text)[-1] == "Maria Delvento"
    assert found("My name is Maria Delvento.") == ["Maria Delvento"]


def test_weights_that_are_too_large_for_exact_sums_are_refused():
    big = np.full((120, 32), 127, np.float32)
    with pytest.raises(ValueError, match="exact"):
        Weights(
            np.zeros((2, 32), np.int8), np.zeros((32, 200), np.float32), np.zeros(40, np.int16), big,
            np.zeros(32, np.float32), np.zeros((96, 3), np.float32), np.zeros(3, np.float32), (0, 0), (1 << 14, 255),
        )  # fmt: skip


def test_the_weights_are_small():
    assert MODEL.stat().st_size < 8 << 20


@pytest.mark.skipif(not CASES.is_file(), reason="the open cases are not there")
def test_open_cases_about_names_keep_what_must_stay_and_lose_the_names():
    missed, cut = [], []
    for line in CASES.read_bytes().split(b"\n"):
        if not line.strip():
            continue
        case = json.loads(line)
        wanted = [one["value"] for one in case["expected"] if one["type"] in ("PERSON", "ADDRESS")]
        if not wanted and case["kind"].startswith(("leak", "evasion", "structure")):
            continue
        repeat = case.get("prefix_repeat", {"s": "", "n": 0})
        text = repeat["s"] * repeat["n"] + case["text"]
        covered = {place for start, end, _ in TAGGER.tag([text])[0] for place in range(start, end)}
        for value in wanted:
            start = text.index(value)
            left = [c for c in range(start, start + len(value)) if c not in covered and not text[c].isspace()]
            missed += [case["id"]] if left else []
        for value in case["must_keep"]:
            start = text.find(value)
            cut += [case["id"]] if covered & set(range(start, start + len(value))) else []
    assert (missed, cut) == ([], [])


@pytest.mark.parametrize("word", ["short", "day", "block", "broker", "fresh", "yes"])
def test_a_lone_ordinary_word_in_lower_case_stays(word):
    assert Tagger().tag([word]) == [[]]


def test_a_lone_given_name_in_lower_case_is_found():
    assert Tagger().tag(["anna"]) == [[(0, 4, "PERSON")]]
