"""Messages to token ids: one chat format for the tiny base, and rendering that no text can break out of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import orjson

IM_START, IM_END, PAD = "<|im_start|>", "<|im_end|>", "<pad>"
CONTROL_TOKENS = (IM_START, IM_END, PAD)
IGNORED = -100
"""Label of a token that takes no part in the loss (torch's ``cross_entropy`` default)."""

CHATML = (
    "{% if tools %}{{ '<|im_start|>system\n<tools>' + (tools | tojson) + '</tools><|im_end|>\n' }}{% endif %}"
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message['role'] + '\n' }}"
    "{% if message['role'] == 'assistant' %}{% generation %}"
    "{{ message['content'] or '' }}"
    "{% for call in message['tool_calls'] or [] %}"
    "{{ '\n<tool_call>' + (call['function'] | tojson) + '</tool_call>' }}"
    "{% endfor %}{{ '<|im_end|>' }}{% endgeneration %}"
    "{% else %}{{ (message['content'] or '') + '<|im_end|>' }}{% endif %}"
    "{{ '\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
"""ChatML; ``{% generation %}`` marks what the assistant wrote, which TRL's assistant_only_loss needs."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """One training row: ids of prompt and completion, and labels that leave the prompt out of the loss."""

    input_ids: list[int]
    labels: list[int]
    prompt_cut: bool
    """The oldest tokens of the prompt were cut to fit the length."""


def defuse(value: Any, control_tokens: Sequence[str]) -> Any:
    """Break every control token inside the strings of ``value``, so that logged text cannot end its own message.

    A space goes behind the token's first character; a token of one character is taken out.
    """
    if isinstance(value, str):
        for token in control_tokens:
            if token in value:
                value = value.replace(token, f"{token[0]} {token[1:]}" if len(token) > 1 else "")
        return value
    if isinstance(value, Mapping):
        return {defuse(k, control_tokens): defuse(v, control_tokens) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [defuse(item, control_tokens) for item in value]
    return value


def control_tokens_of(tokenizer: Any) -> list[str]:
    """Return the tokens that end or begin messages for ``tokenizer``, the longest first."""
    return sorted({*CONTROL_TOKENS, *tokenizer.all_special_tokens}, key=len, reverse=True)


def tools_of(example: Mapping[str, Any]) -> list[Any] | None:
    """Return the tools of a row, parsed where they are JSON; None where there are none."""
    tools = example.get("tools")
    if isinstance(tools, str):
        tools = orjson.loads(tools) if tools.strip() else None
    return list(tools) if tools else None


def encode_example(tokenizer: Any, example: Mapping[str, Any], max_length: int) -> Tokens | None:
    """Encode a TRL prompt-completion row with loss on the completion alone; None when the completion does not fit.

    ``tools`` of the row (a list, or JSON of one) reach the template. A row with ``loss_mask`` has loss on the messages
    of the completion that it marks, alone. A prompt that is too long loses its oldest tokens, never the completion. At
    least one token of the prompt stays.
    Works with every chat template whose rendering of the first messages is a prefix of the rendering of the whole talk;
    a template for which it is not raises ``ValueError``.
    """
    control = control_tokens_of(tokenizer)
    prompt = [defuse(m, control) for m in example["prompt"]]
    completion = [defuse(m, control) for m in example["completion"]]
    tools = defuse(tools_of(example), control)

    def rendered(n: int, *, asks: bool = False) -> str:
        talk = prompt + completion[:n]
        text: str = tokenizer.apply_chat_template(talk, tools=tools, tokenize=False, add_generation_prompt=asks)
        return text

    before, whole = rendered(0, asks=True), rendered(len(completion))
    if not whole.startswith(before):
        raise ValueError("chat template: wanted the prompt's rendering as a prefix of the whole talk's, found another")
    prompt_ids = tokenizer(before, add_special_tokens=False)["input_ids"]
    completion_ids: list[int] = []
    labels: list[int] = []
    for piece, is_learned in _pieces(whole, len(before), example.get("loss_mask"), rendered):
        ids = tokenizer(piece, add_special_tokens=False)["input_ids"]
        completion_ids += ids
        labels += ids if is_learned else [IGNORED] * len(ids)
    room = max_length - len(completion_ids)
    if room < 1 or not completion_ids:
        return None
    kept = prompt_ids[-room:]
    return Tokens(
        input_ids=kept + completion_ids,
        labels=[IGNORED] * len(kept) + labels,
        prompt_cut=len(kept) < len(prompt_ids),
    )


class _Rendered(Protocol):
    def __call__(self, n: int, *, asks: bool = False) -> str: ...


def _pieces(whole: str, start: int, mask: Sequence[bool] | None, rendered: _Rendered) -> Iterator[tuple[str, bool]]:
    """Yield the completion's text in pieces and whether each is learned; a line feed at its end is left out."""
    if mask is None:
        yield whole[start:].rstrip("\n"), True
        return
    done = start
    for place in (place for place, is_learned in enumerate(mask) if is_learned):
        head, text = rendered(place, asks=True), rendered(place + 1)
        if not (whole.startswith(head) and whole.startswith(text)):
            raise ValueError("chat template: wanted each message's rendering as a part of the talk's, found another")
        if len(head) > done:
            yield whole[done : len(head)], False
        done = len(text.rstrip("\n"))
        yield whole[len(head) : done], True
