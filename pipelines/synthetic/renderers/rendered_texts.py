"""Talks as one text: ChatML as a template renders it, and the log lines of a vLLM server that serves such prompts."""

from __future__ import annotations

import time

from pipelines.synthetic.dialogues import Dialogue, Line
from pipelines.synthetic.renderers.entries import Clock, Entry, Json, answers, owner

START, END = "<|im_start|>", "<|im_end|>"


def chatml(dialogue: Dialogue, clock: Clock) -> list[Entry]:  # noqa: ARG001 - the signature of every renderer
    """One record a talk; without ids its text may also be the record itself."""
    entry: Json = {"text": chatml_text(dialogue.system, dialogue.lines), **owner(dialogue)}
    return [Entry(entry, len(dialogue.lines))]


def chatml_text(system: str | None, lines: list[Line]) -> str:
    """Return system prompt and lines as ChatML."""
    said = [("system", system)] if system else []
    said += [(line.role, line.text) for line in lines]
    return "".join(f"{START}{role}\n{text}{END}\n" for role, text in said)


def vllm_log(dialogue: Dialogue, clock: Clock) -> list[Entry]:
    """Two log lines an answer; a prompt is a lone question as it is, a longer talk as ChatML."""
    entries = []
    for place, line, _ in answers(dialogue):
        before = dialogue.lines[:place]
        alone = not dialogue.system and len(before) == 1
        prompt = before[0].text if alone else f"{chatml_text(dialogue.system, before)}{START}assistant\n"
        request_id = f"chatcmpl-{clock.hex(32)}"
        asked = f"Received request {request_id}: prompt: {prompt!r}, params: SamplingParams(n=1, temperature=0.2), "
        answered = f"Generated response {request_id}: output: {line.text!r}, output_token_ids: [1], finish_reason: stop"
        lines = [
            f"{_stamp(clock)} [logger.py:39] {asked}prompt_token_ids: None, lora_request: None.",
            f"{_stamp(clock)} [logger.py:59] {answered}",
        ]
        entries.append(Entry({"text": "\n".join(lines) + "\n"}, place + 1, request_id))
    return entries


def _stamp(clock: Clock) -> str:
    return time.strftime("INFO %m-%d %H:%M:%S", time.gmtime(clock.tick()))
