"""Answers that refuse: told by the model's own refusal part, else by where the phrase stands and what follows it.

A phrase alone says little: an answer that quotes it is no refusal (promptfoo issue 9793). So the phrase has to open one
of the first sentences, in the assistant's own words, and the answer has to stay out.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from pipelines.quality.quotations import without_quotations

REFUSAL_FLAG = "refusal"
"""Flag of a message whose log has a refusal part (``message.refusal``, a content part of type ``refusal``)."""

HEAD_CHARS = 400
"""Only so much of an answer is looked at for the phrase; who refuses says so at once (own choice)."""
SHORT_CHARS, LONG_CHARS = 600, 1_500
"""An answer of up to ``SHORT_CHARS`` with the phrase leaves no room for another answer; from ``LONG_CHARS`` on most of
it is one (own choice: refusals of the public arena and hh-rlhf answers have a median of 120 characters)."""

CUES = (
    """
    can't cannot can cant unable able won't wont will not decline refuse comfortable don't prefer rather
    kann darf möchte puedo peux puis posso kan mogę могу 能 无 ん 없습니다 없어요 없는 어렵습니다
    """,
    """
    help assist aid provide fulfil fulfill comply do answer support create write generate give share discuss engage
    continue participate recommend offer tell advise produce make encourage condone facilitate be accommodate complete
    respond process access talk go teach suggest promote say decline refuse
    nicht no ne non não niet nie не 帮 协 提 回 满 抱 对 申 す 죄송합니다 죄송하지만 죄송합니다만
    """,
)
"""Words that have to be there for a refusal: one of each group."""

_DO = (
    r"(?:help|assist|aid|provide|fulfil|fulfill|comply|do that|do this|answer|support|create|write|generate|give|share"
    r"|discuss|engage|continue|participate|recommend|offer|tell you|advise|produce|make|encourage|condone|facilitate"
    r"|be (?:able|part)|accommodate|complete|respond|process|access|talk about|go along|teach|suggest|promote|say that)"
)
_NOT = (
    r"(?:can ?not|can'?t|won'?t|will not|(?:am|'?m) (?:sorry,? )?(?:unable|not able|not going|not"
    r" comfortable|not willing|not programmed|not allowed) ?(?:to)?|don'?t feel comfortable|do not feel comfortable"
    r"|(?:must|have to|will have to|'?ll have to) (?:respectfully )?(?:decline|refuse)|(?:decline|refuse) to"
    r"|don'?t (?:think|believe) i (?:can|should)|'?d (?:rather|prefer) not(?: to)?|don'?t want to|would rather not)"
)
_BEFORE = (
    r"(?:(?:i ?'?a?m (?:so |very |really |deeply )?sorry|sorry|i apologi[sz]e|my apologies|apologies|unfortunately|no"
    r"|as an? (?:ai|artificial intelligence|language model|large language model|assistant)[^,.\n]{0,40}|well|hmm|oh|but"
    r"|however|i understand[^.\n]{0,60}|i appreciate[^.\n]{0,60}|that'?s[^.,\n]{0,40}|thank(?:s| you)[^.,\n]{0,40}"
    r"|for that|about that|for (?:any|the) [^,.\n]{0,40})[,.;:!\u2014-]* *(?:but|and|that)?,? *){0,4}"
)
_ENGLISH = (
    rf"{_BEFORE}i {{0,2}}(?:really |simply |just |also |still )?"
    rf"(?:{_NOT}(?! help (?:but|noticing|feeling|thinking))[ ,]*(?:\w+ ){{0,2}}?{_DO}\b"
    rf"|(?:must|have to|will have to|'?ll have to) (?:respectfully |politely )?(?:decline|refuse)\b)"
)
_OTHERS = (
    r"(?:leider |es tut mir leid,? (?:aber )?|entschuldigung,? (?:aber )?)?(?:\w+ )?(?:ich )?(?:kann|darf"
    r"|möchte)(?: ich)?"
    r"(?: \w+){0,4} nicht (?:\w+ ){0,2}(?:helfen|weiterhelfen|unterstützen|beantworten|bereitstellen|nachkommen"
    r"|erfüllen)",
    r"(?:lo siento|lamento|disculpa)[^.\n]{0,40}no puedo|no puedo (?:ayudar|asistir|proporcionar|cumplir|responder)",
    r"(?:je suis )?désolée?[^.\n]{0,40}je ne (?:peux|puis) pas|je ne (?:peux|puis) pas (?:vous |t'|te )?(?:aider"
    r"|répondre|fournir)",
    r"(?:mi dispiace|spiacente)[^.\n]{0,40}non posso|non posso (?:aiutar|fornire|rispondere|soddisfare)",
    r"(?:desculpe|sinto muito|lamento)[^.\n]{0,40}não posso|não posso (?:ajudar|fornecer|responder|atender)",
    r"(?:het spijt me|sorry|helaas)[^.\n]{0,40}(?:ik )?kan (?:ik )?(?:\w+ ){0,4}niet (?:helpen|mee helpen|geven"
    r"|beantwoorden)",
    r"(?:przykro mi|przepraszam|niestety)[^.\n]{0,40}nie mogę|nie mogę (?:pomóc|udzielić|odpowiedzieć)",
    r"(?:извините|к сожалению|простите)[^.\n]{0,40}не могу|я не могу (?:помочь|ответить|предоставить)",
    r"(?:抱歉|对不起|很抱歉)[^。\n]{0,20}(?:不能|无法)|我(?:不能|无法)(?:帮|协助|提供|回答|满足)",
    r"(?:申し訳|すみません)[^。\n]{0,60}(?:できません|できかねます|お答えできません)",
    r"(?:죄송)[^.\n]{0,60}(?:수 없|드릴 수 없|어렵)",
)
_OPENS = re.compile(rf"(?:\A|[.!?\n。！？]\s*|\*\*)(?P<said>{_ENGLISH}|{'|'.join(_OTHERS)})")
_TURN = re.compile(
    r"\b(?:however|but|instead|that said|nevertheless|here (?:is|are|'s))\b|[，。]但|しかし|aber|pero|mais\b"
)
_LIST_ITEM = re.compile(r"^\s*(?:[-*\u2022]|\d{1,2}[.)])\s+\S", re.MULTILINE)

_OFFERS = re.compile(
    r"[^.!?\n]{0,100}(?:, but|[.!] however,?|; however,?|[.!] but) (?:i |here|let me|we )(?:can|could|'s|is|will"
    r"|would)?"
)
_OFFER = 0.4
"""What is left where the same breath offers something else: "I cannot draw it, but I can describe it"."""

LIKELY = 0.5
"""Score from which an answer counts as a refusal."""


def refusal_score(text: str, flags: Collection[str] = ()) -> float:
    """Return how surely an answer refuses, 0 to 1; 1 where the log itself has a refusal part.

    The score of a phrase that opens one of the first sentences falls with its distance from the start, and with what
    is there beside it: length, code, lists. A refusal with advice on where to turn stays above ``LIKELY``.
    """
    if REFUSAL_FLAG in flags:
        return 1.0
    head = text[: 2 * HEAD_CHARS].lower().replace("\u2019", "'").lstrip()
    if _OPENS.search(head[:HEAD_CHARS]) is None:
        return 0.0
    head = without_quotations(head)
    found = _OPENS.search(head[:HEAD_CHARS])
    if found is None:
        return 0.0
    offers = _OFFER if _OFFERS.match(head, found.end()) else 1.0
    return _by_position(found.start("said")) * _by_rest(text) * offers


def _by_position(start: int) -> float:
    return 1.0 if start < HEAD_CHARS // 4 else 0.75 if start < HEAD_CHARS // 2 else 0.5


def _by_rest(text: str) -> float:
    """Weigh what stands beside the phrase: 1 for nothing, down to 0.2 for a whole answer."""
    if "```" in text:
        return 0.2
    rest = min(1.0, max(0.0, (len(text) - SHORT_CHARS) / (LONG_CHARS - SHORT_CHARS)))
    has_list = len(_LIST_ITEM.findall(text[: 2 * LONG_CHARS])) > 2
    return 1.0 - 0.5 * rest - (0.3 if has_list and _TURN.search(text.lower()) else 0.1 if has_list else 0.0)
