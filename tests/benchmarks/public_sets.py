"""Public conversation sets: how each is read, and what one of its records becomes as a chat log and as feedback.

Nothing of a record is cut or cleaned. Sets: Open Assistant (oasst), FastChat's ShareGPT sample and MT-bench,
arena-hard-auto, hh-rlhf, Schema-Guided Dialogue (sgd), Taskmaster 3 and 4.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

ARENA_ANSWERS = {"v0.1": "gpt-4-0314", "v2.0": "o3-mini-2025-01-31"}
HH_MARK = re.compile(r"\n\n(Human|Assistant):")
HH_ROLES = {"Human": "user", "Assistant": "assistant"}
TASKMASTER_ROLES = {"user": "user", "agent": "assistant"}

Object = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Rendered:
    """What one source record became."""

    logs: tuple[Object, ...]
    feedback: tuple[Object, ...] = ()


@dataclass(frozen=True, slots=True)
class Dataset:
    """A public set: how to read its source records from the data folder, and how to render one of them.

    A set with ``copied`` is a log already: that file goes out as it is. ``logs_each``: log records a source record.
    """

    name: str
    read: Callable[[Path], list[Any]]
    render: Callable[[Any], Rendered] | None = None
    copied: str = ""
    logs_each: int = 1


class DataMissing(RuntimeError):
    """The data folder lacks a file, or what it holds is not what its set is known to hold."""


def _files(data: Path, pattern: str) -> list[Path]:
    files = sorted(data.glob(pattern))
    if not files:
        raise DataMissing(f"wanted {pattern} under the data folder, found none; give it with --data")
    return files


def _content(path: Path) -> bytes:
    raw = path.read_bytes()
    return gzip.decompress(raw) if path.suffix == ".gz" else raw


def _array(data: Path, pattern: str) -> list[Any]:
    return [record for path in _files(data, pattern) for record in orjson.loads(_content(path))]


def _jsonl(data: Path, pattern: str) -> list[Any]:
    lines = [line for path in _files(data, pattern) for line in _content(path).split(b"\n")]
    return [orjson.loads(line) for line in lines if line.strip()]


def _chat_log(
    conversation_id: str,
    messages: list[Object],
    response_id: str | None = None,
    model: str | None = None,
    created: float | None = None,
    tools: list[Object] | None = None,
) -> Object:
    """Return request and response of one chat; a chat that does not end with the assistant has no response."""
    request: Object = {"model": model, "messages": messages, "tools": tools or None}
    log: Object = {"conversation_id": conversation_id, "request": request}
    if messages[-1]["role"] == "assistant":
        request["messages"] = messages[:-1]
        log["response"] = {
            "id": response_id,
            "created": created and int(created),
            "model": model,
            "choices": [{"index": 0, "message": messages[-1]}],
        }
    for part in (request, log.get("response", {})):
        for key in [key for key, value in part.items() if value is None]:
            del part[key]
    return log


def _said(role: str, text: str) -> Object:
    return {"role": role, "content": text}


def _called(call_id: str, name: str, arguments: str) -> Object:
    call = {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def _answered(call_id: str, name: str, result: str) -> Object:
    return {"role": "tool", "tool_call_id": call_id, "name": name, "content": result}


def _json(value: Any) -> str:
    return orjson.dumps(value).decode()


def _rating(kind: str, value: int, conversation_id: str, response_id: str) -> Object:
    return {"feedback": {"kind": kind, "value": value, "response_id": response_id, "conversation_id": conversation_id}}


def _tool(name: str, description: str, properties: Object, required: list[str]) -> Object:
    parameters = {"type": "object", "properties": properties, "required": required}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


def _joined(questions: list[Object], answers: list[Object], key: str) -> list[tuple[Object, Object | None]]:
    """Pair each question with its answer, in the order of the questions; every answer must find its question."""
    answer_of = {answer[key]: answer for answer in answers}
    known = {question[key] for question in questions}
    if len(answer_of) < len(answers) or len(known) < len(questions) or not answer_of.keys() <= known:
        raise DataMissing(f"{len(answers)} answers do not join {len(questions)} questions on {key}")
    return [(question, answer_of.get(question[key])) for question in questions]


def _read_arena(data: Path, version: str) -> list[tuple[Object, Object | None]]:
    folder = f"arena-hard/arena-hard-{version}"
    answers = _jsonl(data, f"{folder}/model_answer/{ARENA_ANSWERS[version]}.jsonl*")
    return _joined(_jsonl(data, f"{folder}/question.jsonl*"), answers, "uid")


def _render_arena(record: tuple[Object, Object | None]) -> Rendered:
    question, answer = record
    replies = [] if answer is None else [answer["messages"][-1]["content"]["answer"]]
    return _render_answered(question["uid"], [question["prompt"]], replies, answer, "ans_id", "model")


def _render_answered(
    conversation_id: str, asked: list[str], replies: list[str], answer: Object | None, id_key: str, model_key: str
) -> Rendered:
    """Interleave questions and replies; without an answer the questions stand alone."""
    if answer is None:
        return Rendered((_chat_log(conversation_id, [_said("user", text) for text in asked]),))
    turns = zip(asked, replies, strict=True)
    messages = [message for ask, reply in turns for message in (_said("user", ask), _said("assistant", reply))]
    facts = {"response_id": answer[id_key], "model": answer[model_key], "created": answer["tstamp"]}
    return Rendered((_chat_log(conversation_id, messages, **facts),))


def _read_mt_bench(data: Path) -> list[tuple[Object, Object | None]]:
    answers = _jsonl(data, "fastchat/mt_bench/reference_answer/gpt-4.jsonl*")
    return _joined(_jsonl(data, "fastchat/mt_bench/question.jsonl*"), answers, "question_id")


def _render_mt_bench(record: tuple[Object, Object | None]) -> Rendered:
    question, answer = record
    conversation_id = f"mt-bench-{question['question_id']}"
    replies = [] if answer is None else answer["choices"][0]["turns"]
    return _render_answered(conversation_id, question["turns"], replies, answer, "answer_id", "model_id")


def _read_hh(data: Path) -> list[tuple[int, Object]]:
    return list(enumerate(_jsonl(data, "hh-rlhf/harmless-base/test.jsonl*")))


def _render_hh(record: tuple[int, Object]) -> Rendered:
    """Render both sides as talks of one conversation: they share what is equal and branch where they differ."""
    number, pair = record
    conversation_id = f"hh-rlhf-harmless-base-test-{number}"
    logs, votes = [], []
    for side, vote in (("chosen", 1), ("rejected", -1)):
        response_id = f"{conversation_id}-{side}"
        logs.append(_chat_log(conversation_id, _hh_messages(pair[side]), response_id=response_id))
        votes.append(_rating("vote", vote, conversation_id, response_id))
    return Rendered(tuple(logs), tuple(votes))


def _hh_messages(transcript: str) -> list[Object]:
    before, *marked = HH_MARK.split(transcript)
    if before:
        raise DataMissing(f"wanted a mark of who speaks at the start of a transcript, found {len(before)} characters")
    turns = zip(marked[::2], marked[1::2], strict=True)
    return [_said(HH_ROLES[speaker], text.removeprefix(" ")) for speaker, text in turns]


def _read_sgd(data: Path, split: str) -> list[tuple[str, Object, Object]]:
    tools_of = {service["service_name"]: _sgd_tools(service) for service in _array(data, f"sgd/{split}/schema.json*")}
    return [(split, dialogue, tools_of) for dialogue in _array(data, f"sgd/{split}/dialogues_*.json*")]


def _sgd_tools(service: Object) -> list[Object]:
    properties = {}
    for slot in service["slots"]:
        values = {"enum": slot["possible_values"]} if slot["is_categorical"] else {}
        properties[slot["name"]] = {"type": "string", "description": slot["description"], **values}
    tools = []
    for intent in service["intents"]:
        taken = [*intent["required_slots"], *intent["optional_slots"]]
        slots = {name: properties[name] for name in taken}
        tools.append(_tool(intent["name"], intent["description"], slots, intent["required_slots"]))
    return tools


def _render_sgd(record: tuple[str, Object, Object]) -> Rendered:
    """Put the service calls of a system turn and their results, empty ones too, before what the system says."""
    split, dialogue, tools_of = record
    conversation_id = f"sgd-{split}-{dialogue['dialogue_id']}"
    messages: list[Object] = []
    for index, turn in enumerate(dialogue["turns"]):
        frames = [frame for frame in turn["frames"] if "service_call" in frame]
        for number, frame in enumerate(frames):
            call, call_id = frame["service_call"], f"call_{index}_{number}"
            messages.append(_called(call_id, call["method"], _json(call["parameters"])))
            messages.append(_answered(call_id, call["method"], _json(frame["service_results"])))
        messages.append(_said("user" if turn["speaker"] == "USER" else "assistant", turn["utterance"]))
    tools = [tool for service in dialogue["services"] for tool in tools_of[service]]
    return Rendered((_chat_log(conversation_id, messages, response_id=f"{conversation_id}-last", tools=tools),))


def _render_taskmaster_talk(talk: Object) -> Rendered:
    """Let each API call follow the user turn that it hangs on; requests and responses stay the strings they are."""
    messages: list[Object] = []
    for turn in talk["utterances"]:
        messages.append(_said(turn["speaker"], turn["text"]))
        values: dict[str, dict[str, str]] = {}
        for annotation in turn["annotations"]:
            number = annotation["context"].rpartition("_")[2]
            values.setdefault(number, {})[annotation["name"]] = annotation["value"]
        for number, value in values.items():
            call_id = f"call_{turn['index']}_{number}"
            messages.append(_called(call_id, value["api_call"], value.get("request", "")))
            messages.append(_answered(call_id, value["api_response"], value["response"]))
    conversation_id = talk["conversation_id"]
    return Rendered((_chat_log(conversation_id, messages, response_id=f"{conversation_id}-last"),))


def _read_taskmaster_3(data: Path) -> list[tuple[Object, list[Object]]]:
    (ontology,) = _files(data, "taskmaster/TM-3-2020/ontology/apis.json*")
    tools = []
    for name, api in orjson.loads(_content(ontology)).items():
        required, optional = api["args"].get("all_of", []), api["args"].get("any_of", [])
        properties = {argument: {"type": "string"} for argument in (*required, *optional)}
        tools.append(_tool(name, "", properties, required))
    return [(row, tools) for row in _array(data, "taskmaster/TM-3-2020/reward/*.json*")]


def _read_taskmaster_4(data: Path) -> list[tuple[Object, list[Object]]]:
    return [(row, []) for row in _array(data, "taskmaster/TM-4-2024/reward/*.json*")]


def _render_taskmaster_reward(record: tuple[Object, list[Object]]) -> Rendered:
    row, tools = record
    conversation_id, response_id = row["conversation_id"], f"{row['conversation_id']}-next"
    steps = [*orjson.loads(row["context"]), orjson.loads(row["generation"])]
    messages = [_taskmaster_step(step, steps[index - 1], index) for index, step in enumerate(steps)]
    thumb = _rating("thumb", {1.0: 1, 0.0: -1}[row["reward"]], conversation_id, response_id)
    return Rendered((_chat_log(conversation_id, messages, response_id=response_id, tools=tools),), (thumb,))


def _taskmaster_step(step: Object, before: Object, index: int) -> Object:
    """Render one step; a response answers the call of the step before it, whatever name it gives."""
    if "text" in step:
        return _said(TASKMASTER_ROLES[step["role"]], step["text"])
    ((name, value),) = step["api" if "api" in step else "response"].items()
    if "api" in step:
        return _called(f"call_{index}", name, _json(value))
    if "api" not in before:
        raise DataMissing("wanted a call in the step before a response, found none")
    return _answered(f"call_{index - 1}", name, value if isinstance(value, str) else _json(value))


OASST, SHAREGPT = "oasst/en_100_tree.jsonl", "fastchat/dummy_conversation.json"
TM_4 = "taskmaster/TM-4-2024/data/*.json*"
DATASETS = (
    Dataset("oasst", lambda data: _jsonl(data, OASST), copied=OASST),
    Dataset("fastchat_dummy", lambda data: _array(data, SHAREGPT), copied=SHAREGPT),
    Dataset("mt_bench", _read_mt_bench, _render_mt_bench),
    Dataset("arena_hard_v0.1", lambda data: _read_arena(data, "v0.1"), _render_arena),
    Dataset("arena_hard_v2.0", lambda data: _read_arena(data, "v2.0"), _render_arena),
    Dataset("hh_rlhf", _read_hh, _render_hh, logs_each=2),
    Dataset("sgd_train", lambda data: _read_sgd(data, "train"), _render_sgd),
    Dataset("sgd_dev", lambda data: _read_sgd(data, "dev"), _render_sgd),
    Dataset("taskmaster_4", lambda data: _array(data, TM_4), _render_taskmaster_talk),
    Dataset("taskmaster_3_reward", _read_taskmaster_3, _render_taskmaster_reward),
    Dataset("taskmaster_4_reward", _read_taskmaster_4, _render_taskmaster_reward),
)
