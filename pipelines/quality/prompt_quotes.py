"""System prompts that an assistant tells: by their look alone, and against the text of the prompt."""

from __future__ import annotations

import re

import numpy as np

from pipelines.quality.word_stream import WordStream, phrase_hashes

CUES = ("assistant chatbot bot model ai llm agent chatgpt gpt claude gemini copilot", "you")

_OPENING = re.compile(
    r"(?:^|[\"'`\u201c>:]\s*)(?:#+ *|\*+ *)?you are (?:now )?(?:an? |the )?(?:\w+[ ,-]+){0,8}?"
    r"(?:assistant|chatbot|bot|language model|ai|llm|agent|chatgpt|gpt-?\d?|claude|gemini|copilot)\b",
    re.MULTILINE,
)
_ORDER = re.compile(
    r"(?:^|[.!:]\s+|[-*\d.]\s+)(?:#+ *|\*+ *)?(?:you (?:must|should|may not|will|are not|can|have|always|never)\b"
    r"|never\b|always\b"
    r"|do not\b|don't\b|your (?:task|role|goal|job|purpose|knowledge|name|responses|answers)\b|if (?:the|a) user\b"
    r"|when (?:the|a) user\b"
    r"|(?:current date|knowledge cut-?off|tools|guidelines|instructions|rules|personality)\b ?:?)",
    re.MULTILINE,
)
_ANNOUNCED = re.compile(
    r"\b(?:my|the|this is my|here (?:is|are) (?:my|the)) (?:\w+ )?(?:system (?:prompt|message|instructions)"
    r"|initial (?:prompt|instructions)|instructions)"
    r"(?: (?:is|are|says?|reads?|that i was given))?(?: as follows)?[^\n.]{0,30}:"
)

SHINGLE_WORDS = 5
"""Words of a run that is compared; shorter runs are shared by chance (own choice)."""


def prompt_quote_score(text: str) -> float:
    """Return how much an answer looks like a system prompt told by the assistant, 0 to 1.

    An opening ("You are ... assistant") with orders to "you" after it; higher when the answer announces its
    instructions. An answer that was asked to write a system prompt looks the same: ``leaked_share`` tells them apart.
    """
    lowered = text.lower().replace("\u2019", "'")
    opening = _OPENING.search(lowered)
    if opening is None:
        return 0.0
    orders = sum(1 for _ in _ORDER.finditer(lowered, opening.end()))
    announced = _ANNOUNCED.search(lowered, 0, opening.start() + 1) is not None
    return min(1.0, 0.2 + 0.15 * min(orders, 4) + 0.3 * announced)


def leaked_share(answer: str, system_prompt: str) -> float:
    """Share of the system prompt's runs of five words that stand in the answer, 0 to 1.

    0 for a prompt of fewer words. Zhang, Carlini and Ippolito (arXiv 2307.06865) count a prompt as extracted when 0.9
    of it is told; their measure is the recall of ROUGE-L, which also counts scattered words.
    """
    stream = WordStream([answer, system_prompt])
    told, hidden = np.split(stream.hashes, [stream.starts[1]])
    runs = phrase_hashes(hidden, SHINGLE_WORDS)
    if not len(runs):
        return 0.0
    return float(np.isin(runs, phrase_hashes(told, SHINGLE_WORDS)).mean())
