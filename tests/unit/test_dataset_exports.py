"""Every form of an export: what is in a record, that nothing is lost on the way back, that its consumer reads it."""

import csv
import io
import json

import hypothesis.strategies as st
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings

from pipelines.datasets.exports.example import Example, UnfitExampleError, example_of
from pipelines.datasets.exports.json_lines import json_line
from pipelines.datasets.exports.review import defused
from pipelines.datasets.exports.write import FORMS, SUMMARY, ExportError, export

MANIFEST = {
    "dataset_version": "ds-0123456789abcdef",
    "content_hash": "0" * 64,
    "drop_counts": {"consent": 3, "exact_duplicate": 1},
    "gate": {"verdict": "passed"},
}
WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "Current weather.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}


def said(role, text="", calls=(), call_id=None):
    told = [{"id": i, "name": n, "arguments": a} for i, n, a in calls]
    return {"role": role, "text": text, "tool_calls": told, "tool_call_id": call_id}


def row(kind="sft", split="train", prompt=None, **sides):
    sides = sides or {"completion": [said("assistant", "Hello.")]}
    known = {"example_id": "e1", "tenant": "t", "language": "en", "source": "openai_chat", "user_ref": "u-secret"}
    return {**known, "kind": kind, "split": split, "prompt": prompt or [said("user", "Hi")], **sides}


PLAIN = row()
MANY_TURNS = row(
    prompt=[said("system", "Be brief."), said("user", "Hi"), said("assistant", "Hello."), said("user", "Bye")],
    completion=[said("assistant", "Goodbye.")],
)
TOOLS = row(
    prompt=[
        said("user", "Weather in Rome?"),
        said("assistant", "", [("call_7", "weather", '{"city":"Rome"}')]),
        said("tool", "22 C", call_id="call_7"),
    ],
    completion=[said("assistant", "It is 22 C.")],
    tools=json.dumps([WEATHER]),
)
OTHER_TOOLS = row(
    split="validation",
    prompt=[said("user", "Add.")],
    completion=[said("assistant", "", [(None, "add", '{"n":[1,{"a":2.5}]}'), (None, "now", "")])],
    tools=[{"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}],
)
PAIR = row("preference", chosen=[said("assistant", "Hello, how can I help?")], rejected=[said("assistant", "What.")])
THUMB = row("unpaired", completion=[said("assistant", "What.")], label=False)
TALK = row(
    "conversation",
    completion=[said("assistant", "Hello."), said("user", "More?"), said("assistant", "Cut"), said("user", "?"),
                said("assistant", "Bye.")],
    loss_mask=[True, False, False, False, True],
)  # fmt: skip
ALL_ROWS = [PLAIN, MANY_TURNS, TOOLS, OTHER_TOOLS, PAIR, THUMB]


def record(form, one):
    return json.loads(json_line(FORMS[form].record(example_of(one))))


def exported(rows, form, folder):
    return export(rows, MANIFEST, FORMS[form], folder)


def test_a_talk_tells_each_trainer_which_of_its_answers_are_learned(tmp_path):
    weights = [m.get("weight") for m in record("openai", TALK)["messages"]]
    assert weights == [None, 1, None, 0, None, 1]
    assert [m["train"] for m in record("axolotl", TALK)["messages"]] == [False, True, False, False, False, True]
    exported([TALK], "hugging-face", tmp_path / "hub")
    [stored] = pq.read_table(tmp_path / "hub" / "conversation" / "train-00000-of-00001.parquet").to_pylist()
    assert stored["loss_mask"] == TALK["loss_mask"]


def test_a_talk_is_told_as_messages_only_where_all_of_its_answers_are_learned(tmp_path):
    whole = TALK | {"loss_mask": [True, False, True, False, True]}
    assert [m["role"] for m in record("trl", whole)["messages"]] == ["user", *["assistant", "user"] * 2, "assistant"]
    found = exported([TALK, whole], "trl", tmp_path / "trl")
    assert found.left_out == {"answers that are not learned": 1}
    assert [file.name for file in found.files] == ["conversation.train.jsonl"]


def lines(path):
    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line]


def test_openai_trains_the_target_alone():
    assert record("openai", MANY_TURNS) == {
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": "Hello.", "weight": 0},
            {"role": "user", "content": "Bye"},
            {"role": "assistant", "content": "Goodbye.", "weight": 1},
        ]
    }


def test_tool_arguments_are_a_string_for_openai_and_an_object_for_trl():
    openai, trl = record("openai", TOOLS), record("trl", TOOLS)
    assert openai["messages"][1] == {
        "role": "assistant",
        "weight": 0,
        "tool_calls": [
            {"id": "call_7", "type": "function", "function": {"name": "weather", "arguments": '{"city":"Rome"}'}}
        ],
    }
    assert openai["messages"][2] == {"role": "tool", "content": "22 C", "tool_call_id": "call_7"}
    assert trl["prompt"][1]["tool_calls"][0]["function"] == {"name": "weather", "arguments": {"city": "Rome"}}
    assert trl["prompt"][2] == {"role": "tool", "content": "22 C", "name": "weather", "tool_call_id": "call_7"}
    assert openai["tools"] == trl["tools"] == [WEATHER]


def test_preferences_have_the_fields_of_each_consumer():
    assert record("openai", PAIR) == {
        "input": {"messages": [{"role": "user", "content": "Hi"}]},
        "preferred_output": [{"role": "assistant", "content": "Hello, how can I help?"}],
        "non_preferred_output": [{"role": "assistant", "content": "What."}],
    }
    assert record("trl", PAIR) == {
        "prompt": [{"role": "user", "content": "Hi"}],
        "chosen": [{"role": "assistant", "content": "Hello, how can I help?"}],
        "rejected": [{"role": "assistant", "content": "What."}],
    }
    assert record("llama-factory", PAIR) == {
        "conversations": [{"from": "human", "value": "Hi"}],
        "chosen": {"from": "gpt", "value": "Hello, how can I help?"},
        "rejected": {"from": "gpt", "value": "What."},
        "system": "",
        "tools": "",
    }


def test_unpaired_examples_keep_their_label():
    assert record("trl", THUMB)["label"] is False
    assert record("llama-factory", THUMB)["kto_tag"] is False


def test_llama_factory_gets_calls_and_results_as_turns():
    told = record("llama-factory", TOOLS)
    assert [(turn["from"], turn["value"]) for turn in told["conversations"]] == [
        ("human", "Weather in Rome?"),
        ("function_call", '{"name":"weather","arguments":{"city":"Rome"}}'),
        ("observation", "22 C"),
        ("gpt", "It is 22 C."),
    ]
    assert json.loads(told["tools"]) == [WEATHER["function"]]


def test_results_of_calls_made_at_once_are_one_observation():
    calls = [("a", "weather", '{"city":"Rome"}'), ("b", "weather", '{"city":"Oslo"}')]
    talk = [said("user", "Both?"), said("assistant", "", calls), said("tool", "22", call_id="a"), said("tool", "9")]
    told = record("llama-factory", row(prompt=talk, completion=[said("assistant", "22 and 9.")]))
    assert [turn["from"] for turn in told["conversations"]] == ["human", "function_call", "observation", "gpt"]
    assert "22" in told["conversations"][2]["value"]
    assert "9" in told["conversations"][2]["value"]


@pytest.mark.parametrize(
    ("form", "one", "reason"),
    [
        ("openai", THUMB, "kind unpaired"),
        ("axolotl", THUMB, "kind unpaired"),
        ("llama-factory", row(prompt=[said("user", "a"), said("user", "b")]), "roles that do not alternate"),
        (
            "llama-factory",
            row(completion=[said("assistant", "Let me look.", [("c", "weather", "{}")])]),
            "text beside tool calls",
        ),
        ("llama-factory", row(prompt=[said("user", "a"), said("system", "b")]), "a system message inside the talk"),
        ("trl", row(completion=[said("assistant", "", [("c", "f", "{broken")])]), "tool arguments that are no JSON"),
        ("openai", row(prompt=[said("tool", "22 C")]), "a tool message that answers no call"),
        ("trl", row("preference", chosen=[], rejected=[said("assistant", "x")]), "an empty side"),
        (
            "trl",
            row("unpaired", completion=[said("assistant", "x")], label=None),
            "an unpaired example without a label",
        ),
    ],
)
def test_what_a_form_has_no_room_for_is_counted_and_never_lost(tmp_path, form, one, reason):
    done = exported([PLAIN, one], form, tmp_path / "out")
    assert done.left_out == {reason: 1}
    assert json.loads((tmp_path / "out" / SUMMARY).read_bytes())["left_out"] == {reason: 1}


def test_reasons_hold_no_content():
    broken = example_of(row(completion=[said("assistant", "", [("c", "f", '{"password": hunter2')])]))
    with pytest.raises(UnfitExampleError) as raised:
        FORMS["trl"].record(broken)
    assert "hunter2" not in str(raised.value)
    assert raised.value.__cause__ is None


def test_calls_without_ids_are_tied_to_their_results():
    calls = [(None, "weather", '{"city":"Rome"}'), (None, "time", "{}")]
    talk = [said("user", "Both?"), said("assistant", "", calls), said("tool", "22 C"), said("tool", "noon")]
    told = record("openai", row(prompt=talk))["messages"]
    assert [call["id"] for call in told[1]["tool_calls"]] == ["call_1", "call_2"]
    assert [one["tool_call_id"] for one in told[2:4]] == ["call_1", "call_2"]


@pytest.mark.parametrize("form", FORMS)
def test_equal_versions_give_equal_bytes(tmp_path, form):
    for name in ("one", "two"):
        exported(ALL_ROWS, form, tmp_path / name)
    names = sorted(p.relative_to(tmp_path / "one") for p in (tmp_path / "one").rglob("*") if p.is_file())
    assert names == sorted(p.relative_to(tmp_path / "two") for p in (tmp_path / "two").rglob("*") if p.is_file())
    for name in names:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


@pytest.mark.parametrize("form", FORMS)
def test_no_reference_of_a_person_leaves_with_an_export(tmp_path, form):
    exported(ALL_ROWS, form, tmp_path / "out")
    for path in (tmp_path / "out").rglob("*"):
        assert path.is_dir() or b"u-secret" not in path.read_bytes()
    for path in (tmp_path / "out").rglob("*.parquet"):
        assert {"user_ref", "conversation_id", "turn_ids", "example_id"} & set(pq.read_schema(path).names) == set()


def test_the_folder_is_there_whole_or_not_at_all(tmp_path):
    def breaks():
        yield PLAIN
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        exported(breaks(), "trl", tmp_path / "out")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ExportError, match="1 with kind unpaired"):
        exported([THUMB], "openai", tmp_path / "out")
    exported([PLAIN], "trl", tmp_path / "out")
    with pytest.raises(ExportError, match="wanted a new folder"):
        exported([PLAIN], "trl", tmp_path / "out")


@pytest.mark.parametrize("form", [name for name, form in FORMS.items() if form.encoding == "jsonl"])
def test_a_record_is_one_line_to_every_reader(tmp_path, form):
    text = "a\u2028b\u2029c\u0085d\x0be\x0cf\x1cg\r\nh"
    exported([row(prompt=[said("user", text)])], form, tmp_path / "out")
    raw = (tmp_path / "out" / "sft.train.jsonl").read_text("utf-8")
    assert len(raw.splitlines()) == 1
    assert _first_text(json.loads(raw)) == text


def _first_text(told):
    first = (told.get("prompt") or told.get("messages") or told.get("conversations"))[0]
    return first.get("content", first.get("value"))


@pytest.mark.parametrize("cell", ["=1+1", "+1", "-1", "@sum(a)", "\tx", "\r=x", "  =1+1"])
def test_no_cell_of_the_review_is_a_formula(tmp_path, cell):
    assert defused(cell) == f"'{cell}"
    exported([row(prompt=[said("user", cell)])], "review", tmp_path / "out")
    text = (tmp_path / "out" / "sft.train.csv").read_text("utf-8")
    for cells in csv.reader(io.StringIO(text, newline="")):
        for one in cells:
            assert not one.lstrip(" ").startswith(("=", "+", "-", "@", "\t", "\r"))


TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=30)
JSON_VALUE = st.recursive(st.none() | st.booleans() | st.integers(-99, 99) | TEXT, lambda v: st.lists(v, max_size=2))
ARGUMENTS = st.dictionaries(TEXT, JSON_VALUE, max_size=3)


@st.composite
def talks(draw):
    messages = [said("system", draw(TEXT))] if draw(st.booleans()) else []
    for _ in range(draw(st.integers(1, 3))):
        messages.append(said("user", draw(TEXT)))
        if draw(st.booleans()):
            names = draw(st.lists(st.sampled_from(["weather", "add"]), min_size=1, max_size=2))
            calls = [(f"c{len(messages)}{n}", name, json.dumps(draw(ARGUMENTS))) for n, name in enumerate(names)]
            messages.append(said("assistant", "", calls))
            messages.extend(said("tool", draw(TEXT), call_id=call[0]) for call in calls)
        messages.append(said("assistant", draw(TEXT)))
    return row(prompt=messages[:-1], completion=messages[-1:])


def read_back(message):
    """The message that a record was made of, as ids, names and values."""
    calls = [(c["id"], c["function"]["name"], c["function"]["arguments"]) for c in message.get("tool_calls") or ()]
    values = [(i, n, json.loads(a) if isinstance(a, str) else a) for i, n, a in calls]
    return message["role"], message.get("content") or "", values, message.get("tool_call_id")


@given(talks())
@settings(max_examples=80, deadline=None)
def test_every_message_comes_back_as_it_was_stored(one):
    stored = [
        (
            m["role"],
            m["text"],
            [(c["id"], c["name"], json.loads(c["arguments"])) for c in m["tool_calls"]],
            m["tool_call_id"],
        )
        for m in (*one["prompt"], *one["completion"])
    ]
    openai, trl, axolotl = (record(form, one) for form in ("openai", "trl", "axolotl"))
    assert [read_back(m) for m in openai["messages"]] == stored
    assert [read_back(m) for m in trl["prompt"] + trl["completion"]] == stored
    assert [read_back(m) for m in axolotl["messages"]] == stored
    assert [m["train"] for m in axolotl["messages"]] == [False] * (len(stored) - 1) + [True]


@given(talks())
@settings(max_examples=50, deadline=None)
def test_a_talk_of_llama_factory_alternates_and_keeps_every_text(one):
    told = record("llama-factory", one)
    kinds = [turn["from"] for turn in told["conversations"]]
    assert all((kind in ("human", "observation")) == (n % 2 == 0) for n, kind in enumerate(kinds))
    assert len(kinds) % 2 == 0
    whole = "\n".join([told["system"], *(turn["value"] for turn in told["conversations"])])
    assert all(m["text"] in whole for m in (*one["prompt"], *one["completion"]))


def test_an_example_without_new_columns_is_read():
    assert isinstance(example_of(PLAIN), Example)
    assert example_of(PLAIN).tools == ()


@pytest.fixture
def offline(monkeypatch, tmp_path):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    return tmp_path


def test_datasets_loads_the_files_of_trl_and_trl_renders_them(offline):
    from datasets import load_dataset
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast
    from trl.data_utils import apply_chat_template, is_conversational

    from pipelines.training.chat_format import CHATML

    exported(ALL_ROWS, "trl", offline / "out")
    raw = Tokenizer(models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    raw.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=raw, unk_token="[UNK]", chat_template=CHATML)
    for kind, split, wanted in (("sft", "train", 3), ("sft", "validation", 1), ("preference", "train", 1)):
        path = str(offline / "out" / f"{kind}.{split}.jsonl")
        loaded = load_dataset("json", data_files=path, split="train", cache_dir=str(offline / "cache"))
        assert loaded.num_rows == wanted
        for told in loaded:
            assert is_conversational(told)
            rendered = apply_chat_template({k: v for k, v in told.items() if v is not None}, tokenizer)
            assert rendered["prompt"].startswith("<|im_start|>")
    stored = lines(offline / "out" / "sft.train.jsonl")
    loaded = load_dataset(
        "json", data_files=str(offline / "out" / "sft.train.jsonl"), split="train", cache_dir=str(offline / "cache")
    )
    assert [told["prompt"] for told in loaded] == [one["prompt"] for one in stored]


def test_datasets_loads_the_hugging_face_folder_by_its_card(offline):
    from datasets import get_dataset_config_names, load_dataset

    exported(ALL_ROWS, "hugging-face", offline / "out")
    folder = str(offline / "out")
    assert sorted(get_dataset_config_names(folder)) == ["preference", "sft", "unpaired"]
    sft = load_dataset(folder, "sft", cache_dir=str(offline / "cache"))
    assert {split: rows.num_rows for split, rows in sft.items()} == {"train": 3, "validation": 1}
    calls = sft["train"][2]["prompt"][1]["tool_calls"]
    assert json.loads(calls[0]["function"]["arguments"]) == {"city": "Rome"}
    assert json.loads(sft["train"][2]["tools"]) == [WEATHER]
    pair = load_dataset(folder, "preference", split="train", cache_dir=str(offline / "cache"))[0]
    assert pair["chosen"][0]["content"] == "Hello, how can I help?"


def test_the_card_names_counts_languages_and_drops(tmp_path):
    import yaml

    exported([*ALL_ROWS, PLAIN | {"language": "no"}], "hugging-face", tmp_path / "out")
    _, metadata, words = (tmp_path / "out" / "README.md").read_text().split("---\n", 2)
    told = yaml.safe_load(metadata)
    assert told["language"] == ["en", "no"]
    assert told["license"] == "other"
    assert {one["config_name"] for one in told["configs"]} == {"sft", "preference", "unpaired"}
    assert "| consent | 3 |" in words
    assert "| sft | train | 4 |" in words


def test_axolotl_gets_a_configuration_that_names_its_files(offline):
    import yaml
    from datasets import load_dataset

    exported(ALL_ROWS, "axolotl", offline / "out")
    told = yaml.safe_load((offline / "out" / "axolotl.yaml").read_text())
    by_path = {entry["path"]: entry for part in ("datasets", "test_datasets") for entry in told[part]}
    assert set(by_path) == {"sft.train.jsonl", "sft.validation.jsonl", "preference.train.jsonl"}
    assert by_path["sft.train.jsonl"]["message_field_training"] == "train"
    assert by_path["preference.train.jsonl"]["field_rejected"] == "rejected"
    for path in by_path:
        file = str(offline / "out" / path)
        loaded = load_dataset("json", data_files=file, split="train", cache_dir=str(offline / "cache"))
        assert loaded.num_rows == len(lines(offline / "out" / path))


def test_llama_factory_loads_its_files(offline):
    converter = pytest.importorskip("llamafactory.data.converter")
    parser = pytest.importorskip("llamafactory.data.parser")
    from llamafactory.hparams import DataArguments

    exported(ALL_ROWS, "llama-factory", offline / "out")
    arguments = DataArguments(dataset_dir=str(offline / "out"), mask_history=True)
    info = json.loads((offline / "out" / "dataset_info.json").read_bytes())
    for name, entry in info.items():
        (attributes,) = parser.get_dataset_list([name], arguments.dataset_dir)
        convert = converter.get_dataset_converter("sharegpt", attributes, arguments)
        for told in lines(offline / "out" / entry["file_name"]):
            read = convert(told)
            talk = [turn["value"] for turn in told["conversations"]]
            sides = [told[side]["value"] for side in ("chosen", "rejected") if side in told]
            asked = talk if sides else talk[:-1]
            assert [one["content"] for one in read["_prompt"]] == asked
            assert (read["_system"], read["_tools"]) == (told["system"], told["tools"])
            answers = [one["content"] for one in read["_response"] if one["content"]]
            assert answers == (sides or talk[-1:])
