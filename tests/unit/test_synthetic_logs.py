import gzip
import json
import re
from collections import Counter

import phonenumbers
import pytest
from click.testing import CliRunner
from stdnum import iban, luhn
from stdnum.br import cpf
from stdnum.de import idnr
from stdnum.es import dni
from stdnum.fr import nir
from stdnum.it import codicefiscale
from stdnum.jp import in_ as my_number
from stdnum.nl import bsn
from stdnum.pl import pesel
from stdnum.pt import nif
from stdnum.ru import inn
from stdnum.us import ssn

from jobs.logs_generate import command
from pipelines.intake.items import Rejection, Turn
from pipelines.intake.parse import parse_record
from pipelines.synthetic import code_samples, dialogues
from pipelines.synthetic.broken_records import BREAKAGES, broken_value
from pipelines.synthetic.carrier_chats import carrier_texts
from pipelines.synthetic.language import TOLD_TYPES
from pipelines.synthetic.languages import ALL_LANGUAGES, LANGUAGES, OTHER_SCRIPTS
from pipelines.synthetic.log_files import MANIFEST, PLANTED, ForeignFolder, load_groups, read_planted, write_logs
from pipelines.synthetic.log_formats import FORMATS, GENERATED
from pipelines.synthetic.log_records import Mix, generate
from schemas.records import DeadReason

TOKEN = re.compile(r"<[A-Z_]+_[A-Z2-7]{26}>")
NATIONAL_CHECKS = (dni, nif, cpf, bsn, pesel, idnr, nir, codicefiscale, inn, my_number)


@pytest.fixture(scope="module")
def records():
    return list(generate(400, 3))


def planted(records):
    return [one for record in records for one in record.planted]


def test_equal_seeds_give_equal_records_and_other_seeds_others(records):
    assert list(generate(400, 3)) == records
    assert list(generate(20, 4)) != list(generate(20, 5))


def test_a_longer_log_begins_as_the_shorter_one(records):
    assert list(generate(50, 3)) == records[: len(list(generate(50, 3)))]


def test_all_formats_languages_and_types_occur(records):
    assert {record.format for record in records} == {*Mix().formats, "turnmill_feedback"}
    assert {one.type for one in planted(records)} == {
        "EMAIL", "PHONE", "CREDIT_CARD", "IBAN", "IP_ADDRESS", "SSN", "NATIONAL_ID", "SECRET", "PERSON", "ADDRESS",
    }  # fmt: skip
    assert {one.where for one in planted(records)} == {"text", "tool_arguments", "tool_result", "user_id", "edit"}
    assert {record.headers.get("turnmill-consent") for record in records} == {None, "analytics", "none"}
    texts = b"".join(record.value for record in records).decode("utf-8", "replace")
    for language in ALL_LANGUAGES:
        assert any(product in texts for product in language.products)


def test_planted_values_are_long_unique_and_no_part_of_each_other(records):
    values = [one.value for one in planted(records)]
    assert min(map(len, values)) >= 8
    assert len(set(values)) == len(values)
    joined = "\n".join(values)
    assert all(joined.count(value) == 1 for value in values)


def test_planted_values_are_disjoint_from_tokens_and_carrier_texts(records):
    carriers = [
        str(value)
        for language in ALL_LANGUAGES
        for value in (getattr(language, name) for name in language.__dataclass_fields__)
    ]
    carriers += [str(vars(code_samples)), str(dialogues._SYSTEM)]
    carriers += [message["content"] for chat in carrier_texts(500, 1) for message in chat]
    everything = "\n".join(carriers).lower()
    for one in planted(records):
        assert one.value.lower() not in everything
        assert not TOKEN.search(one.value)


def test_each_value_stands_first_in_the_record_that_the_truth_names(records):
    first = {}
    for record in records:
        for one in record.planted:
            first[one.value.encode()] = one.record
            assert one.record == record.number
    for record in records:
        for value, number in first.items():
            if record.number < number:
                assert value not in record.value
    for record in records:
        assert all(holds(record, one.value) for one in record.planted)


def test_planted_values_pass_the_checks_of_real_ones(records):
    for one in planted(records):
        match one.type:
            case "PHONE":
                assert phonenumbers.is_valid_number(phonenumbers.parse(one.value, None))
            case "CREDIT_CARD":
                assert luhn.is_valid(re.sub(r"\D", "", one.value))
            case "IBAN":
                assert iban.is_valid(one.value)
            case "SSN":
                assert ssn.is_valid(one.value)
            case "PERSON" | "ADDRESS":
                assert one.value.isalpha()
            case "NATIONAL_ID":
                assert any(check.is_valid(one.value) for check in NATIONAL_CHECKS)


def test_repeats_siblings_and_growing_histories_occur(records):
    chats = [record for record in records if record.kind == "chat"]
    assert max(Counter(record.value for record in chats).values()) >= 2
    requests = [json.loads(r.value)["request"]["messages"] for r in chats if r.format == "openai_chat"]
    assert any(
        len(later) > len(earlier) and later[: len(earlier)] == earlier
        for earlier, later in zip(requests, requests[1:], strict=False)
    )
    assert any(len(json.loads(r.value)["response"]["choices"]) == 2 for r in chats if r.format == "openai_chat")
    trees = [json.loads(r.value)["prompt"] for r in chats if r.format == "oasst_tree"]
    assert any(len(tree["replies"]) == 2 for tree in trees)


def test_texts_are_varied(records):
    talks = [json.loads(r.value)["conversations"] for r in records if r.format == "sharegpt" and r.kind == "chat"]
    firsts = [talk[0]["value"] for talk in talks]
    assert len(set(firsts)) > 0.8 * len(firsts)


def test_intake_reads_every_sound_record_and_rejects_each_broken_one_as_foretold(records):
    identity = identity_key()
    for record in records:
        headers = {name: value.encode() for name, value in record.headers.items()}
        reasons = {item.reason for item in parse_record(record.value, headers, identity) if isinstance(item, Rejection)}
        assert reasons == ({record.reason} if record.reason else set()), (record.format, record.kind)


def test_intake_finds_the_format_that_was_written(records):
    check_formats(records)


@pytest.mark.parametrize("name", GENERATED)
def test_a_log_in_any_one_format_is_read_whole_and_shows_what_was_planted(name):
    records = list(generate(25, 6, mix=Mix(formats={name: 1}, broken=0)))
    check_formats(records)
    assert planted(records)
    for record in records:
        assert all(holds(record, one.value) for one in record.planted)


def holds(record, value):
    once = json.dumps(value)[1:-1]
    return any(form.encode() in record.value for form in (value, once, json.dumps(once)[1:-1]))


def check_formats(records):
    identity = identity_key()
    for record in records:
        if record.kind == "chat":
            items = parse_record(record.value, {}, identity)
            assert not [item for item in items if isinstance(item, Rejection)]
            sources = {item.source for item in items if isinstance(item, Turn)}
            assert sources == {FORMATS[record.format].reads_as}


def identity_key():
    from pipelines.intake.identity import IdentityKey

    return IdentityKey(bytes(range(32)))


def test_broken_records_make_up_the_share_asked_for():
    broken = [r for r in generate(300, 1, mix=Mix(broken=0.5)) if r.kind == "broken"]
    chats = [r for r in generate(300, 1, mix=Mix(broken=0.5)) if r.kind == "chat"]
    assert 0.4 < len(broken) / len(chats) < 0.6
    assert {r.reason for r in broken} == set(BREAKAGES.values())
    assert not any(one.kept for r in broken for one in r.planted)


@pytest.mark.parametrize("breakage", sorted(BREAKAGES))
def test_no_broken_value_spans_two_lines(breakage):
    from random import Random

    value = broken_value(breakage, b'{"text":"a\\nb","n":[1,2]}', Random(1))
    assert b"\n" not in value


def test_unknown_breakages_and_formats_and_negative_sizes_are_refused():
    with pytest.raises(ValueError, match="wanted breakages out of"):
        list(generate(1, 1, breakages=("burnt",)))
    with pytest.raises(ValueError, match="found -1"):
        list(generate(-1, 1))
    with pytest.raises(ValueError, match="wanted formats out of .* found openai_chunks"):
        list(generate(1, 1, mix=Mix(formats={"openai_chunks": 1})))


def test_without_personal_share_nothing_is_planted():
    quiet = Mix(personal=0, email_user_ids=0, broken=0, feedback=0)
    assert planted(generate(100, 1, mix=quiet)) == []


def lines_of(path):
    content = path.read_bytes()
    content = gzip.decompress(content) if path.suffix == ".gz" else content
    return [content] if path.name.startswith("one-log") else content.split(b"\n")[:-1]


def test_the_files_hold_exactly_the_records_and_the_manifest_says_where(tmp_path):
    totals = write_logs(tmp_path / "logs", 120, 9)
    manifest = json.loads((tmp_path / "logs" / MANIFEST).read_bytes())["files"]
    counts = {entry["file"]: len(lines_of(tmp_path / "logs" / entry["file"])) for entry in manifest}
    assert counts == {entry["file"]: entry["records"] for entry in manifest}
    assert sum(counts.values()) == sum(totals.records.values())
    assert {path.name for path in (tmp_path / "logs").iterdir()} == {*counts, MANIFEST, PLANTED}
    assert {"logs.jsonl", "broken.jsonl", "feedback.jsonl", "one-log.json", "one-log.json.gz"} <= set(counts)
    written = Counter(line for entry in manifest for line in lines_of(tmp_path / "logs" / entry["file"]))
    assert written == Counter(
        r.value for r in generate(120, 9, breakages=tuple(b for b in BREAKAGES if b != "empty_value"))
    )
    assert DeadReason.EMPTY_VALUE not in totals.broken


def test_the_truth_file_lists_every_planted_value(tmp_path):
    totals = write_logs(tmp_path, 60, 2)
    truth = read_planted(tmp_path)
    assert Counter(one.type for one in truth) == totals.planted
    assert Counter(one.type for one in truth if one.kept) == totals.kept
    assert truth == planted(generate(60, 2, breakages=tuple(b for b in BREAKAGES if b != "empty_value")))


def test_files_are_sent_in_groups_of_equal_topic_and_headers(tmp_path):
    write_logs(tmp_path, 120, 9)
    groups = load_groups(tmp_path)
    assert len({(group.topic, tuple(group.headers.items())) for group in groups}) == len(groups)
    sent = [path.name for group in groups for path in group.files]
    assert sorted(sent) == sorted(path.name for path in tmp_path.iterdir() if path.name not in (MANIFEST, PLANTED))


def test_a_second_run_replaces_the_first_and_gives_equal_bytes(tmp_path):
    write_logs(tmp_path, 60, 2)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    write_logs(tmp_path, 10, 5)
    write_logs(tmp_path, 60, 2)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_foreign_folder_is_refused_and_stays_as_it_is(tmp_path):
    (tmp_path / "thesis.txt").write_text("chapter one")
    with pytest.raises(ForeignFolder):
        write_logs(tmp_path, 5, 1)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]
    result = CliRunner().invoke(command, ["--out", str(tmp_path), "--conversations", "5"])
    assert result.exit_code == 2


def test_a_folder_with_a_manifest_and_a_file_of_ones_own_is_refused(tmp_path):
    write_logs(tmp_path, 5, 1)
    (tmp_path / "notes.md").write_text("mine")
    with pytest.raises(ForeignFolder):
        write_logs(tmp_path, 5, 1)
    assert (tmp_path / "notes.md").read_text() == "mine"


def test_the_command_tells_totals_as_one_json_line(tmp_path):
    result = CliRunner().invoke(
        command, ["--out", str(tmp_path / "o"), "--conversations", "30", "--seed", "4", "--json"]
    )
    assert result.exit_code == 0
    told = json.loads(result.stdout)
    assert told["conversations"] == 30
    assert told["records"]["chat"] > 30
    assert not any(one.value in result.output for one in read_planted(tmp_path / "o"))


def test_the_command_writes_the_formats_that_it_is_told(tmp_path):
    arguments = [
        "--out",
        str(tmp_path),
        "--conversations",
        "40",
        "--json",
        "--format",
        "helicone",
        "--format",
        "langfuse",
    ]
    told = json.loads(CliRunner().invoke(command, arguments).stdout)
    assert set(told["formats"]) == {"helicone", "langfuse", "turnmill_feedback"}
    every = json.loads(
        CliRunner().invoke(command, [*arguments[:2], "--conversations", "300", "--json", "--format", "all"]).stdout
    )
    assert set(every["formats"]) == {*GENERATED, "turnmill_feedback"}


def test_carrier_chats_share_no_sentence_with_the_logs(records):
    logs = b"".join(record.value for record in records).decode("utf-8", "replace")
    chats = list(carrier_texts(300, 2))
    assert chats == list(carrier_texts(300, 2))
    answers = [m["content"] for chat in chats for m in chat if m["role"] == "assistant" and len(m["content"]) > 20]
    assert not any(json.dumps(answer, ensure_ascii=False)[1:-1] in logs for answer in answers)
    assert {m["role"] for chat in chats for m in chat} == {"system", "user", "assistant"}
    assert all(chat[-1]["role"] == "assistant" for chat in chats)


def test_every_language_has_two_sentences_for_each_type_of_value():
    for language in ALL_LANGUAGES:
        assert len(language.told) == len(TOLD_TYPES)
        assert all(len(pair) == 2 and all("{value}" in sentence for sentence in pair) for pair in language.told)


def test_names_are_planted_in_eight_languages_and_types_with_a_pattern_in_two_more():
    assert len(LANGUAGES) == 8
    assert all(language.persons and language.addresses for language in LANGUAGES)
    assert not any(language.persons or language.addresses for language in OTHER_SCRIPTS)
    assert {language.code for language in ALL_LANGUAGES} == {one for one, _ in _languages_of(generate(500, 8))}


def _languages_of(records):
    for record in records:
        for language in ALL_LANGUAGES:
            for product in language.products:
                if holds(record, product):
                    yield language.code, product
