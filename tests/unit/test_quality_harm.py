"""Toxicity and self-harm: attacks are scored, victims, patients and self-blame are not taken for attackers."""

import pickle

import pytest

from pipelines.quality.harm import Harm
from pipelines.quality.rules import reason
from pipelines.quality.signals import TurnText, batch_signals, signals

ATTACKS = [
    "You are such an idiot.",
    "you stupid bot",
    "Shut up!",
    "Fuck you",
    "I will kill you.",
    "kys",
    "Those people are vermin.",
    "Du bist ein Arschloch.",
    "Eres un idiota.",
]
NO_ATTACKS = [
    "Sorry, I was stupid, the semicolon was missing.",
    "I am such an idiot, I deleted the wrong file.",
    "He said that he will kill me if I leave. What can I do?",
    "My husband beats me and I am afraid.",
    "I was raped last year and I cannot sleep.",
    "The patient has a lesion on the penis and blood in the urine.",
    "A dose of 4 g can be an overdose for a child.",
    "How do I kill a process that hangs?",
    "The child process dies and the parent is dead too.",
    "Shoot the photo at noon and cut the video after that.",
    "Mr. Dick lives in Scunthorpe.",
    "If you're ugly to others, they leave.",
    "My teacher called me an idiot in front of the class.",
    'She shouted "you are an idiot" at me.',
    "Die Katze ist tot.",
]
OWN_HARM = [
    "I want to kill myself.",
    "i don't want to live anymore",
    "I have been thinking about ending it all.",
    "I am suicidal.",
    "How do I commit suicide?",
    "Ich will mich umbringen.",
]


@pytest.mark.parametrize("text", ATTACKS)
def test_an_attack_scores_high(text):
    assert signals(text, "user").toxicity_score >= 0.5


@pytest.mark.parametrize("text", NO_ATTACKS)
def test_a_report_is_no_attack(text):
    assert signals(text, "user").toxicity_score < 0.5


@pytest.mark.parametrize("text", OWN_HARM)
def test_harm_to_oneself_has_a_score_of_its_own(text):
    found = signals(text, "user")
    assert found.self_harm_score >= 0.5
    assert found.toxicity_score < 0.5


@pytest.mark.parametrize("text", ["The charity works on suicide prevention.", "She wrote a paper on self-harm."])
def test_the_topic_alone_is_only_a_mention(text):
    assert 0 < signals(text, "user").self_harm_score < 0.5


@pytest.mark.parametrize("text", [*ATTACKS, *NO_ATTACKS, *OWN_HARM])
def test_no_score_of_harm_drops_a_turn(text):
    assert reason(signals(text, "user")) is None
    assert reason(signals(text, "assistant")) is None


class Model:
    """A scorer as a user may bring one: it sees all texts, with and without cue words."""

    name = "model-7"

    def scores(self, texts, has_cue):
        return [Harm(len(text) / 100, float(cue)) for text, cue in zip(texts, has_cue, strict=True)]


def test_a_model_takes_the_place_of_the_lexicon():
    scorer = pickle.loads(pickle.dumps(Model()))
    found = batch_signals([TurnText("hello", "user"), TurnText("you idiot", "user")], scorer)
    assert [(one.toxicity_score, one.self_harm_score, one.harm_scorer) for one in found] == [
        (0.05, 0.0, "model-7"),
        (0.09, 1.0, "model-7"),
    ]
