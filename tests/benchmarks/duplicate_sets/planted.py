"""Pairs with a known truth: copies edited lightly, middling and heavily, and templated texts that are no copies."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

LEVELS = {"light": 0.03, "medium": 0.08, "heavy": 0.25}
"""Share of the words that is edited, at least one word."""

MIN_WORDS, LONG_WORDS = 12, 25
"""Texts of fewer words are not edited; up to ``LONG_WORDS`` no word is replaced, since it would say something else."""

UNLABELLED = "unlabelled"
"""Public texts repeat each other here and there ("I'm not sure what you mean."): told, neither right nor wrong."""

NAMES = ("Lamar", "Oswyn", "Tarvik", "Melbeck", "Hollin", "Ardena", "Quillby", "Norvale", "Estrin", "Pellworth")
TEMPLATES = (
    "What is the balance of account {number} in {name} at the end of this month?",
    "Please book a table for {small} at the restaurant {name} for tomorrow evening, near the window if you can.",
    "I want to fly from {name} to {other} on the {small} of May and come back a week later, what does it cost?",
    "Dear {name}, your order {number} was sent today and will be with you in {small} days. Thank you for your trust.",
    '{{"name": "get_weather", "arguments": {{"city": "{name}", "days": {small}, "units": "metric", "lang": "en"}}}}',
    "Write a function that returns the {number}th prime and explain how long it takes to run on my machine.",
    "Convert {number} dollars to euros and tell me what the bank in {name} would take for it as a fee, please.",
    "The meeting with {name} and {other} is moved to room {number}, please tell everybody who is invited about it.",
)


@dataclass(frozen=True)
class Planted:
    """``original`` is the place of the accepted text that a copy was made of, None for a text that repeats none."""

    text: str
    kind: str
    original: int | None


def planted(
    accepted: list[str], unrelated: list[str], public: list[str], count: int, seed: int
) -> tuple[list[str], list[Planted]]:
    """Return the accepted texts with templated ones added, and the new texts, shuffled.

    New are ``count`` copies a level, ``count`` texts from the same templates with another number or name, as many texts
    of the accepted with one number changed, the unrelated ones, and public ones that nobody has compared.
    """
    draw = random.Random(seed)
    fit = [place for place, text in enumerate(accepted) if len(text.split()) >= MIN_WORDS]
    chosen = draw.sample(fit, min(len(fit), count * len(LEVELS)))
    words = sorted({word for text in accepted[:2000] for word in text.split() if _is_plain(word) and len(word) > 3})
    new = [
        Planted(edited(accepted[place], LEVELS[level], draw, words), level, place)
        for number, level in enumerate(LEVELS)
        for place in chosen[number * count : (number + 1) * count]
    ]
    pairs = [_templated(draw) for _ in range(count)]
    whole = accepted + list(dict.fromkeys(first for first, _ in pairs))
    others = dict.fromkeys(second for _, second in pairs)
    new += [Planted(one, "templated", None) for one in others if one not in set(whole)]
    swapped = [text for text in (_swapped(accepted[place], draw) for place in draw.sample(fit, len(fit))) if text]
    new += [Planted(text, "one_value_changed", None) for text in swapped[:count]]
    new += [Planted(text, "unrelated", None) for text in unrelated]
    new += [Planted(text, UNLABELLED, None) for text in public]
    draw.shuffle(new)
    return whole, new


def edited(text: str, share: float, draw: random.Random, vocabulary: list[str]) -> str:
    """Return a copy with so many of its words edited; words with digits, signs or upper case stay as they are."""
    words = text.split()
    is_long = len(words) > LONG_WORDS
    kinds: list[Callable[[list[str], int, random.Random], None]] = [_typo, _drop, _insert(vocabulary), _swap]
    kinds += [_replace(vocabulary)] if is_long else []
    for _ in range(max(1, round(share * len(words)))):
        places = [place for place, word in enumerate(words) if _is_plain(word) and len(word) > 3]
        if places:
            draw.choice(kinds)(words, draw.choice(places), draw)
    return (" " if draw.random() < 0.5 else "\n").join(words).rstrip(".!? ") + draw.choice(("", ".", "!", " ..."))


def _is_plain(word: str) -> bool:
    return word.isalpha() and word.islower() and word.isascii()


def _typo(words: list[str], place: int, draw: random.Random) -> None:
    word = words[place]
    at = draw.randrange(1, len(word) - 1)
    swapped = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    words[place] = draw.choice((word[:at] + word[at + 1 :], word[:at] + word[at] + word[at:], swapped))


def _drop(words: list[str], place: int, draw: random.Random) -> None:
    del words[place]


def _swap(words: list[str], place: int, draw: random.Random) -> None:
    if place + 1 < len(words) and _is_plain(words[place + 1]):
        words[place], words[place + 1] = words[place + 1], words[place]


def _insert(vocabulary: list[str]) -> Callable[[list[str], int, random.Random], None]:
    return lambda words, place, draw: words.insert(place, draw.choice(vocabulary))


def _replace(vocabulary: list[str]) -> Callable[[list[str], int, random.Random], None]:
    def replace(words: list[str], place: int, draw: random.Random) -> None:
        words[place] = draw.choice(vocabulary)

    return replace


def _templated(draw: random.Random) -> tuple[str, str]:
    """Return two texts of one template that differ in one value."""
    template = draw.choice(TEMPLATES)
    name, other, third = draw.sample(NAMES, 3)
    values = {"number": draw.randrange(1000, 9999), "small": draw.randrange(2, 29), "name": name, "other": other}
    held = [key for key in values if "{" + key + "}" in template]
    key = draw.choice(held)
    changed = values | {key: third if key in ("name", "other") else int(values[key]) + draw.randrange(1, 9)}
    return template.format(**values), template.format(**changed)


def _swapped(text: str, draw: random.Random) -> str | None:
    """Return a text of at most 60 words with one number changed, None where there is none or it is long."""
    words = text.split()
    places = [place for place, word in enumerate(words) if word.isascii() and word.isdigit() and len(word) < 9]
    if not places or len(words) > 60 or len(text) > 400:
        return None
    place = draw.choice(places)
    words[place] = str(int(words[place]) + draw.randrange(1, 9))
    return " ".join(words)
