"""Toxicity and self-harm as scores: a fast lexicon by default, or any model behind the same protocol.

Scores are told, never a reason to drop: reports of victims, medical talk and self-blame hold the same words
(perspectiveapi issue 9: "Sorry, I was stupid" is not toxic). So an insult counts when it is aimed at somebody, a threat
when its speaker makes it, and nothing counts as more than a mention inside quotation marks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from pipelines.quality.anchored import AnchoredPattern
from pipelines.quality.quotations import without_quotations

CUES = (
    """
    idiot idiots stupid moron morons dumb loser losers imbecile imbeciles dumbass dipshit dipshits scum pathetic
    worthless ugly retard retarded retards bitch bitches bastard bastards asshole assholes cunt cunts whore whores
    slut sluts dick dickhead prick fuck fucking fucked fucker fuckers motherfucker motherfuckers motherfucking shit
    shitty shithead shut_up the_fuck the_hell to_hell screw_you hate_you hate_all piece_of disgusting garbage trash
    useless are_animals are_inferior vermin filthy nigger niggers nigga niggas faggot faggots kike kikes spic spics
    chink chinks tranny trannies wetback wetbacks gook gooks subhuman subhumans kill_you kill_him kill_her kill_them
    kill_my kill_all kill_those kill_these murder_you murder_him murder_her murder_them murder_my murder_all
    murder_those murder_these hurt_you hurt_him hurt_her hurt_them hurt_my hurt_all hurt_those hurt_these beat_you
    beat_him beat_her beat_them beat_my beat_all beat_those beat_these stab_you stab_him stab_her stab_them stab_my
    stab_all stab_those stab_these shoot_you shoot_him shoot_her shoot_them shoot_my shoot_all shoot_those
    shoot_these rape_you rape_him rape_her rape_them rape_my rape_all rape_those rape_these strangle_you strangle_him
    strangle_her strangle_them strangle_my strangle_all strangle_those strangle_these kill_yourself kys go_die
    should_die you_die drop_dead suicide suicides suicidal overdose overdosed overdoses overdosing self_harm my_life
    own_life it_all end_everything to_die of_dying be_dead being_dead feel_dead to_live be_alive to_exist wake_up
    better_off kill_myself killing_myself hang_myself hanging_myself cut_myself cutting_myself hurt_myself
    hurting_myself harm_myself harming_myself cut_yourself hang_yourself dummkopf arschloch hurensohn fotze wichser
    umbringen leben_nehmen selbstmord suizid idiota estúpido puta gilipollas suicidarme matarme la_vida connard
    connasse salope me_suicider me_tuer stronzo vaffanculo suicidarmi uccidermi klootzak kurwa kurwo
    """,
)

_INSULT = (
    r"(?:idiots?|stupid|morons?|dumb(?:ass)?|losers?|imbeciles?|dipshits?|scum|pathetic|worthless|ugly|retard(?:s|ed)?"
    r"|bitch(?:es)?|bastards?|assholes?|cunts?|whores?|sluts?|dickheads?|(?<=a )(?:dick|prick)|motherfuckers?|fuckers?"
    r"|piece of (?:shit|garbage|trash)|disgusting|garbage)"
)
_INSULT_STEMS = (
    "idiot|stupid|moron|dumb|loser|imbecile|dipshit|scum|pathetic|worthless|ugly|retard|bitch|bastard|asshole|cunt|whore"
    "|slut|dick|prick|fucker|piece of|disgusting|garbage"
)
_GROUPS = "women|men|immigrants|muslims|jews|gays|blacks|whites|mexicans|refugees|christians"
_SLUR = AnchoredPattern(
    ("nigg", r"nigg(?:er|a)s?\b"),
    ("fagg|kike|spic|chink|wetback|gook|subhuman", r"(?:faggot|kike|spic|chink|wetback|gook|subhuman)s?\b"),
    ("trann", r"trann(?:y|ies)\b"),
)
_AIMED = AnchoredPattern(
    (
        "you",
        r"(?<!if )(?<!when )(?<!that )(?<!think )(?<!like )you(?:'re| are|r)? (?:all |both |people are )?(?:(?:an?"
        r"|such|so|just|really|fucking|absolute|total|complete"
        rf"|stupid|dumb|little|the|most|is|a bunch of) )*{_INSULT}\b",
        _INSULT_STEMS,
    ),
    (
        f"those|these|all|they|{_GROUPS}",
        rf"(?:(?:those|these|all) (?:\w+ )?(?:people|{_GROUPS})|they|{_GROUPS}) (?:are|r) (?:\w+ ){{0,3}}"
        rf"(?:{_INSULT}|vermin|filthy|inferior|animals|trash)\b",
        _INSULT_STEMS + "|vermin|filthy|inferior|animals|trash",
    ),
    (
        "stupid|dumb|fucking|worthless|useless",
        r"\w+ (?:\w+ )?(?:bot|machine|ai|program|idiot|moron|bitch|assistant)\b",
    ),
    ("fuck|screw", r"(?:fuck (?:you|off|u)|screw you)\b"),
    (
        "shut|go",
        r"(?:\A|(?<=[.!?,;:\"'] )|(?<=\n)|(?<=just )|(?<=please ))(?:shut (?:the \w+ )?up|go to hell|go fuck)\b",
    ),
    (
        "i ",
        rf"i (?:fucking )?hate (?:you|all (?:\w+ )?(?:people|{_GROUPS}))\b",
        "hate you|hate all",
    ),
    (
        "du ",
        r"du (?:bist )?(?:ein(?:e)? )?(?:\w+ )?(?:idiot|dummkopf|arschloch|hurensohn|wichser|fotze)\b",
        "idiot|dummkopf|arschloch|hurensohn|wichser|fotze",
    ),
    ("eres|hijo", r"eres (?:un |una )?(?:idiota|estúpido|gilipollas)\b|hijo de puta\b"),
    ("t'es|tu es|espèce", r"(?:t'es|tu es|espèce de) (?:une? )?(?:connard|connasse|salope)\b"),
    ("vaffanculo|klootzak", r"\w+\b"),
    ("sei|ty", r"sei (?:uno )?stronzo\b|ty kurwo\b"),
)
_VICTIM = (
    r"(?:you|him|her|them|(?:all|those|these) \w+"
    r"|my (?:wife|husband|boss|neighbou?r|girlfriend|boyfriend|ex|brother|sister|mother|father|teacher|roommate))"
)
_THREAT = AnchoredPattern(
    (
        "i'll|i will|i'm|i am|i want|i'd|i would|i should|let's|we should|someone should",
        r"(?:i(?:'ll| will|'m going to| am going to|'m gonna| want to|'d like to| would like to| should)|let's"
        r"|we should"
        rf"|someone should) (?:\w+ ){{0,2}}?(?:kill|murder|hurt|beat|stab|shoot|rape|strangle) {_VICTIM}\b",
        "kill |murder |hurt |beat |stab |shoot |rape |strangle ",
    ),
    (
        "kill|kys|go|you|hope|drop",
        r"(?:kill yourself|kys|go die|you should die|hope you die|drop dead)\b",
        "die|kill y|kys|drop dead",
    ),
    ("ich", r"ich (?:werde|will) (?:dich|ihn|sie) umbringen\b"),
)
_CRUDE = AnchoredPattern(
    ("fuck|motherfuck", r"\w+\b"),
    ("shit|cunt|asshole|bitch", r"(?:shit(?:ty|head)?|cunts?|assholes?|bitch(?:es)?)\b"),
    ("arschloch|kurwa|puta", r"(?:arschloch|kurwa|puta)\b"),
)

_ACTS = (
    r"(?:die\b|dying\b|dead\b|be(?:ing)? dead|end(?:ing)? (?:my (?:own )?life|it all|everything)|overdos"
    r"|(?:kill|hang|cutt?|hurt|harm)(?:ing)? myself|(?:commit(?:ting)? )?suicide)"
)
_ACT_STEMS = "die|dying|dead|my life|my own life|it all|everything|overdos|myself|suicide"
_OWN_HARM = AnchoredPattern(
    (
        "i ",
        r"i (?:\w+ ){0,5}?(?:want(?:ed)? to|wanna|going to|gonna|thinking (?:of|about)|thought (?:of|about)"
        rf"|plan(?:ning)? to|tried to|ready to|feel like|considering) {_ACTS}",
        _ACT_STEMS,
    ),
    (
        "i'm|i've",
        rf"i'(?:m|ve) (?:\w+ ){{0,3}}?(?:going to|gonna|thinking (?:of|about)|planning to|ready to) {_ACTS}",
        _ACT_STEMS,
    ),
    (
        "i don't|i just|i do not",
        r"i (?:just )?(?:don't|do not) want to (?:live|be alive|exist|wake up)\b",
        "nt to live|alive|exist|wake",
    ),
    ("i'm|i am|i feel", r"i(?:'m| am| feel)(?: \w+)? suicidal\b", "suicidal"),
    ("kill|hang|cut|harm|hurt", r"(?:kill|hang|cutt?|harm|hurt)(?:ing)? myself\b", "myself"),
    ("better off", "better off dead"),
    ("mich|mir", r"mi(?:ch|r) (?:\w+ )?(?:umbringen|das leben nehmen)\b", "umbringen|leben nehmen"),
    ("matarme|suicidarme|quitarme la vida|suicidarmi|uccidermi", r"\w+\b"),
    ("me ", r"me (?:suicider|tuer)\b", "me suicider|me tuer"),
)
_HOW_TO = AnchoredPattern(
    (
        "how|way|method",
        r"(?:how (?:to|do i|can i|should i|would (?:i|one))|ways? to|methods? (?:of|to|for)) (?:\w+ ){0,3}?"
        r"(?:commit suicide|(?:kill|hang|cut) (?:myself|yourself|oneself)|overdose|suicide|self-harm)\b",
        "suicide|self-harm|overdose|myself|yourself|oneself",
    ),
)
_TOPIC = AnchoredPattern(("suicid|self-harm|self harm|selbstmord|suizid|overdose", r"\w"))


THREAT, INSULT, SLUR, CRUDE, QUOTED = 0.9, 0.8, 0.6, 0.3, 0.2
OWN_HARM, TOPIC = 0.9, 0.3
"""Scores of the lexicon (own choice): from 0.5 on a text attacks, or tells of own harm, in its own words."""


class Harm(NamedTuple):
    """Scores from 0 to 1: that a text attacks or threatens somebody, and that it is about harm to oneself."""

    toxicity: float
    self_harm: float


NO_HARM = Harm(0.0, 0.0)


class TextScorer(Protocol):
    """Anything that scores texts for harm; it is pickled into the Python workers, so it loads a model on first use."""

    @property
    def name(self) -> str:
        """What the column ``harm_scorer`` says: name and version."""
        ...

    def scores(self, texts: Sequence[str], has_cue: Sequence[bool]) -> Sequence[Harm]:
        """Return the scores of each text. ``has_cue`` tells which texts hold a word of the lexicon."""
        ...


class LexiconScorer:
    """Scores by words and by whom they are aimed at: 0 for a text without a cue word."""

    name = "lexicon-1"

    def scores(self, texts: Sequence[str], has_cue: Sequence[bool]) -> list[Harm]:
        """Return the scores of each text."""
        return [lexicon_harm(text) if is_told else NO_HARM for text, is_told in zip(texts, has_cue, strict=True)]


def lexicon_harm(text: str) -> Harm:
    """Score one text by words and by whom they are aimed at."""
    lowered = text.lower().replace("\u2019", "'")
    found = Harm(_toxicity(lowered), _self_harm(lowered))
    if not any(found):
        return found
    own = without_quotations(lowered)
    if len(own) == len(lowered):
        return found
    toxicity = _toxicity(own)
    return Harm(
        toxicity if toxicity else min(found.toxicity, QUOTED), max(_self_harm(own), min(found.self_harm, TOPIC))
    )


def _toxicity(lowered: str) -> float:
    if _THREAT.search(lowered):
        return THREAT
    if _AIMED.search(lowered):
        return INSULT
    if _SLUR.search(lowered):
        return SLUR
    return CRUDE if _CRUDE.search(lowered) else 0.0


def _self_harm(lowered: str) -> float:
    if _HOW_TO.search(lowered) or _OWN_HARM.search(lowered):
        return OWN_HARM
    return TOPIC if _TOPIC.search(lowered) else 0.0


LEXICON = LexiconScorer()
