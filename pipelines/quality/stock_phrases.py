"""Stock phrases: talk about being a machine, closing formulas, web page furniture, and apologies.

Boilerplate is told as a share of the text, since one closing formula under a good answer is no fault. Sources: C4's
lines to remove (arXiv 1910.10683, section 2.2: javascript, lorem ipsum, policies), FastChat's blocked words
(optional_clean.py) and the openings that model answers of arena-hard-auto share.
"""

from __future__ import annotations

from pipelines.quality.anchored import AnchoredPattern

BOILERPLATE_CUES = (
    """
    an_ai just_ai artificial_intelligence language_model a_language large_language personal_opinions any_opinions
    have_opinions have_feelings personal_feelings have_emotions personal_beliefs personal_experiences have_personal
    personal_preferences have_preferences cutoff cut_off last_updated anything_else this_helps that_helps it_helps
    feel_free don't_hesitate not_hesitate to_note to_remember worth_noting consult_a consult_an consult_with
    consult_qualified consult_licensed consult_medical consult_legal consult_financial consult_professional
    rights_reserved
    use_cookies uses_cookies accept_cookies all_cookies cookie_policy cookie_settings cookie_preferences
    enable_javascript on_javascript requires_javascript require_javascript javascript_is javascript_must javascript_has
    lorem_ipsum our_newsletter privacy_policy terms_of als_ki als_künstliche sprachmodell taalmodel modelo_de
    en_tant modello_di modello_linguistico 作_为 と_し ai로서 인공지능으로서
    """,
)
_BOILERPLATE = AnchoredPattern(
    (
        "as an|as a ",
        r"as an? (?:ai|artificial intelligence|large language|language)\b(?: (?:language )?model| assistant)?",
        "as an ai|artificial|language",
    ),
    (
        "i'm|i am",
        r"i(?:'m| am) (?:just |only )?an? (?:ai|artificial intelligence|language model|large language model)\b",
        "an ai|artificial|language model",
    ),
    (
        "i don't|i do not",
        r"i (?:don't|do not) have (?:personal |any )?(?:opinions|feelings|emotions|beliefs|experiences|preferences)",
        "opinions|feelings|emotions|beliefs|experiences|preferences",
    ),
    ("knowledge|training", r"(?:knowledge|training) (?:data )?(?:cut-?off|was last updated)"),
    ("is there|if there", r"i[fs] there(?:'s| is)? anything else (?:i can|that i can|you)", "anything else"),
    ("hope", r"hope (?:this|that|it) helps"),
    (
        "feel|don't|do not",
        r"(?:feel free|don't hesitate|do not hesitate) to (?:ask|reach|contact|let)",
        "feel free|hesitate",
    ),
    (
        "it's|it is",
        r"it(?:'s| is) (?:important|essential|crucial|worth) (?:to (?:note|remember)|noting) that",
        "to note|to remember|noting",
    ),
    (
        "consult",
        r"consult (?:with )?(?:an? )?(?:qualified|licensed|medical|legal|financial|professional|doctor|lawyer)",
    ),
    ("all rights reserved|lorem ipsum", r"\w+ \w+"),
    ("we use|this site uses|accept", r"(?:we use|this site uses|accept(?: all)?) cookies"),
    ("cookie", r"cookie (?:policy|settings|preferences)"),
    ("enable|turn on|require", r"(?:enable|turn on|requires?) javascript"),
    ("javascript", r"javascript (?:is|must be|has been) (?:disabled|enabled)"),
    ("subscribe|sign up", r"(?:subscribe|sign up) (?:to|for) our newsletter"),
    ("privacy|terms", r"(?:privacy policy|terms of (?:use|service)) (?:\||and|&)"),
    (
        "als",
        r"als (?:ki|künstliche intelligenz|(?:ki-)?sprachmodell|(?:ai-)?taalmodel)\b",
        "als ki|sprachmodell|intelligenz|taalmodel",
    ),
    ("como", r"como (?:un |uma |um )?modelo de (?:lenguaje|linguagem|ia)", "modelo de"),
    ("en tant", r"en tant (?:que|qu') ?(?:modèle de langage|ia|intelligence)"),
    ("come", r"come modello (?:di )?linguistico", "linguistico"),
    ("作为", r"作为(?:一个|一名)?(?:人工智能|ai|大?语言模型)"),
    ("ai|人工知能|言語モデル", r"\w{2,5}?(?:アシスタント)?として", "として"),
    ("ai로서|인공지능으로서", r"\w+"),
)
_SENTENCE_ENDS = ".!?\n。！？"

APOLOGY_CUES = (
    """
    sorry apologize apologise apologies apology entschuldigung entschuldige leid verzeihung siento disculpa disculpe
    perdón désolé désolée m'excuse excuses dispiace scusa scusi desculpe desculpa spijt przepraszam przykro извините
    извини простите прости 抱 歉 起 申 訳 죄송합니다 죄송해요 미안해요
    """,
)
_APOLOGY = AnchoredPattern(
    ("sorry", r"sorry(?: for| about|,? but|,? i\b|[.!,]|\Z)|(?<=i'm )sorry|(?<=i am )sorry|(?<=so )sorry"),
    ("apolog", r"apologi[sz]e\b|apolog(?:y|ies)\b"),
    ("entschuldig|verzeihung|disculp|desculp|perdón|lo siento|mi dispiace|scus", r"[\w ]"),
    ("leid", r"(?<=mir )leid\b|(?<=sehr )leid\b"),
    ("désolé|je m'excuse|mes excuses|mijn excuses|het spijt me|przepraszam|przykro mi|извини|прости", r"[\w ]"),
    ("抱歉|对不起|申し訳|죄송|미안", r"\w"),
)


def boilerplate_share(text: str) -> float:
    """Share of the characters that stand in sentences with a stock phrase, 0 to 1."""
    lowered = text.lower().replace("\u2019", "'")
    covered = end = 0
    for start, last in sorted(_BOILERPLATE.places(lowered)):
        if start >= end:
            begin = max(end, max(lowered.rfind(mark, 0, start) for mark in _SENTENCE_ENDS) + 1)
            stops = [stop for stop in (lowered.find(mark, last) for mark in _SENTENCE_ENDS) if stop >= 0]
            end = min(stops, default=len(lowered) - 1) + 1
            covered += end - begin
    return covered / len(lowered) if covered else 0.0


def count_apologies(text: str) -> int:
    """Count how often a text says that its writer is sorry."""
    return len(set(_APOLOGY.places(text.lower().replace("\u2019", "'"))))
