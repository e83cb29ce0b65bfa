"""Chats on other topics than the logs, without personal data: what a small model learns to talk from first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

Chat = list[dict[str, str]]

_LANGUAGE_WORDS = {
    "English": "dog house water bread sun tree book hand night winter milk stone",
    "German": "Hund Haus Wasser Brot Sonne Baum Buch Hand Nacht Winter Milch Stein",
    "Spanish": "perro casa agua pan sol árbol libro mano noche invierno leche piedra",
    "French": "chien maison eau pain soleil arbre livre main nuit hiver lait pierre",
    "Italian": "cane casa acqua pane sole albero libro mano notte inverno latte pietra",
    "Portuguese": "cão casa água pão sol árvore livro mão noite inverno leite pedra",
    "Dutch": "hond huis water brood zon boom boek hand nacht winter melk steen",
    "Polish": "pies dom woda chleb słońce drzewo książka ręka noc zima mleko kamień",
}
_WORDS = {language: words.split() for language, words in _LANGUAGE_WORDS.items()}
_OPPOSITES = (
    ("hot", "cold"), ("big", "small"), ("early", "late"), ("dry", "wet"), ("full", "empty"), ("light", "dark"),
    ("young", "old"), ("loud", "quiet"), ("open", "shut"), ("soft", "hard"), ("near", "far"), ("rich", "poor"),
)  # fmt: skip
_PLANETS = ["Mercury", "Venus", "Earth", "Mars", "Jupiter", "Saturn", "Uranus", "Neptune"]
_ORDINALS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"]
_ANIMALS = ("fox", "owl", "hare", "otter", "heron", "badger", "wren", "toad", "mole", "lynx")
_PLACES = ("by the river", "under the old oak", "on the hill", "in the reeds", "behind the mill", "near the bridge")
_FINDS = ("a shiny acorn", "a lost glove", "a broken cup", "a long feather", "a warm stone", "a bright ribbon")
_WEATHERS = ("It had rained all day", "The snow was melting", "The wind had dropped", "The moon was rising")
_TUTORS = (
    "You are a patient tutor.",
    "You answer questions of children.",
    "You are a teacher who explains in short words.",
)


def carrier_texts(n: int, seed: int) -> Iterator[Chat]:
    """Yield ``n`` chats as lists of ``{"role", "content"}``; equal arguments give equal chats.

    Sums, series, opposites, words of eight languages, planets and small tales: none of it is a topic of the logs, and
    all of it follows rules that a model of a million parameters can learn.
    """
    random = Random(seed)  # noqa: S311 - reproducible, not secret
    for _ in range(n):
        chat: Chat = []
        if random.random() < 0.3:
            chat.append({"role": "system", "content": random.choice(_TUTORS)})
        for _ in range(random.choice((1, 1, 2, 3))):
            question, answer = random.choice(_LESSONS)(random)
            chat += [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]
        yield chat


def _sum(random: Random) -> tuple[str, str]:
    a, b = random.randrange(2, 60), random.randrange(2, 40)
    asked = random.choice(("What is {a} plus {b}?", "Add {b} to {a}.", "{a} + {b} = ?")).format(a=a, b=b)
    return asked, f"{a} + {b} = {a + b}."


def _series(random: Random) -> tuple[str, str]:
    start, step = random.randrange(1, 30), random.randrange(2, 9)
    numbers = [start + step * place for place in range(7)]
    shown = ", ".join(map(str, numbers[:4]))
    asked = random.choice(("Go on: {s}", "What comes after {s}?", "Continue the series {s}.")).format(s=shown)
    return asked, f"Each number is {step} more than the one before: {', '.join(map(str, numbers[4:]))}."


def _opposite(random: Random) -> tuple[str, str]:
    pair = list(random.choice(_OPPOSITES))
    random.shuffle(pair)
    asked = random.choice(("What is the opposite of {w}?", "Give me the opposite of {w}.", "{w} and its opposite?"))
    return asked.format(w=pair[0]), f"The opposite of {pair[0]} is {pair[1]}."


def _word(random: Random) -> tuple[str, str]:
    source, target = random.sample(sorted(_WORDS), 2)
    place = random.randrange(len(_WORDS[source]))
    word, meaning = _WORDS[source][place], _WORDS[target][place]
    asked = random.choice(
        ("What does {w} mean in {t}?", "Translate {w} from {s} into {t}.", "How do you say {w} in {t}?")
    )
    return asked.format(w=word, s=source, t=target), f"The {source} word {word} is {meaning} in {target}."


def _planet(random: Random) -> tuple[str, str]:
    place = random.randrange(len(_PLANETS))
    if random.random() < 0.5:
        return (
            f"Which planet is the {_ORDINALS[place]} from the sun?",
            f"The {_ORDINALS[place]} planet is {_PLANETS[place]}.",
        )
    return (
        f"Where is {_PLANETS[place]} among the planets?",
        f"{_PLANETS[place]} is the {_ORDINALS[place]} from the sun.",
    )


def _spelling(random: Random) -> tuple[str, str]:
    word = random.choice(_WORDS["English"])
    if random.random() < 0.5:
        return f"Spell the word {word}.", " - ".join(word)
    return f"Write {word} backwards.", word[::-1]


def _tale(random: Random) -> tuple[str, str]:
    hero, friend = random.sample(_ANIMALS, 2)
    place, find, weather = random.choice(_PLACES), random.choice(_FINDS), random.choice(_WEATHERS)
    told = (
        f"{weather}. A {hero} walked {place} and found {find}. "
        f'"Whose is this?" asked the {hero}. "It is mine," said the {friend}, "but you may keep it." '
        f"So the {hero} took {find} home, and from that day the {hero} and the {friend} were friends."
    )
    return random.choice(
        (f"Tell me a story about a {hero}.", f"A short tale with a {hero} and a {friend}, please.")
    ), told


_LESSONS: tuple[Callable[[Random], tuple[str, str]], ...] = (_sum, _series, _opposite, _word, _planet, _spelling, _tale)
