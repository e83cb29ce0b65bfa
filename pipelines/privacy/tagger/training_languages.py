"""Languages to train with beyond the eight: real sentences, names of their kind with their cases, a few templates.

For those without templates of their own the sentences and ``ANY_LANGUAGE`` are all there is.
"""
# ruff: noqa: E501, RUF001 - templates of other scripts read best in few lines

from __future__ import annotations

from collections.abc import Mapping
from random import Random

FURTHER_LOCALES: Mapping[str, tuple[str, ...]] = {
    "ru": ("ru_RU",), "uk": ("uk_UA",), "be": ("ru_RU",), "bg": ("bg_BG",), "sr": ("mk_MK", "hr_HR"), "el": ("el_GR",),
    "tr": ("tr_TR",), "cs": ("cs_CZ",), "sk": ("sk_SK",), "sl": ("sl_SI",), "hr": ("hr_HR",), "hu": ("hu_HU",),
    "ro": ("ro_RO",), "sv": ("sv_SE",), "da": ("da_DK",), "nb": ("no_NO",), "fi": ("fi_FI",), "et": ("et_EE",),
    "lv": ("lv_LV",), "lt": ("lt_LT",), "vi": ("vi_VN",), "id": ("id_ID",), "ca": ("es_CA",), "gl": ("es_ES",),
    "eu": ("es_ES",), "cy": ("en_GB",), "af": ("nl_NL",),
}  # fmt: skip
"""Locales of Faker; a language that it lacks takes those of a neighbour."""
FURTHER_WEIGHTS: Mapping[str, int] = dict.fromkeys(FURTHER_LOCALES, 2) | {
    "ru": 4,
    "uk": 4,
    "tr": 3,
    "vi": 3,
    "id": 3,
    "cs": 3,
}
VOICE_FOLDERS: Mapping[str, str] = {"sv": "sv-SE", "nb": "nb-NO"}
"""Folders of Common Voice that are not called like the language."""

ANY_LANGUAGE = (
    "{N}\n{W}",
    "{G}: {W}\n{G}: {W}",
    "{W}\n\n{N}",
    "{W}\n{G}",
    "{N}, {N}, {N}",
    "- {N}\n- {N}",
    "{N} ({E})",
    "{G}! {W}",
)
WITH_NAMES: Mapping[str, tuple[str, ...]] = {
    "ru": (
        "Меня зовут {N}.", "меня зовут {G}, у меня вопрос", "Моё имя {N}.", "Здравствуйте, {G}! {W}", "Привет, {G}! {W}",
        "Уважаемый {N}!\n{W}", "Уважаемая {N},\n{W}", "{W}\n\nС уважением,\n{N}", "Имя: {G}\nФамилия: {F}", "Это {N}, я звонил вчера.",
        "Спасибо, {G}.", "Пациент {N}, {D} лет", "г-н {F} не ответил.", "Директор {N} сообщил: {W}", "{G} и {G} тоже придут.",
    ),
    "uk": (
        "Мене звати {N}.", "мене звати {G}, маю питання", "Моє ім'я {N}.", "Добрий день, {G}! {W}", "Привіт, {G}! {W}",
        "Шановний {N}!\n{W}", "Шановна {N},\n{W}", "{W}\n\nЗ повагою,\n{N}", "Ім'я: {G}\nПрізвище: {F}", "Дякую, {G}.",
        "Пацієнт {N}, {D} років", "пан {F} не відповів.", "{G} і {G} теж прийдуть.",
    ),
    "tr": (
        "Benim adım {N}.", "Adım {G}, bir sorum var.", "Ben {N}.", "Merhaba {G}, {W}", "Sayın {N},\n{W}", "Sevgili {G},\n{W}",
        "{W}\n\nSaygılarımla,\n{N}", "Ad: {G}\nSoyad: {F}", "Teşekkürler {G}.", "Hasta: {N}, {D} yaşında", "{G} Bey aradı.",
        "{G} Hanım bugün yok.", "{G} ve {G} de geliyor.",
    ),
    "cs": (
        "Jmenuji se {N}.", "Jmenuju se {G} a mám dotaz.", "Ahoj {G}, {W}", "Dobrý den, {N},\n{W}", "Vážený pane {F},\n{W}",
        "Vážená paní {F},\n{W}", "{W}\n\nS pozdravem\n{N}", "Jméno: {G}\nPříjmení: {F}", "Děkuji, {G}.", "Pacient {N}, {D} let",
        "Volal pan {F}.", "{G} a {G} přijdou také.",
    ),
    "sv": (
        "Jag heter {N}.", "Mitt namn är {N}.", "jag heter {G} och har en fråga", "Hej {G}, {W}", "Hej, det här är {N}.",
        "Bästa {N},\n{W}", "{W}\n\nMed vänliga hälsningar\n{N}", "Förnamn: {G}\nEfternamn: {F}", "Tack {G}!", "Patient {N}, {D} år",
        "Ring {N}, tack.", "{G} och {G} kommer också.",
    ),
}  # fmt: skip
_CASES: Mapping[str, tuple[tuple[str, str], ...]] = {
    "ru": (("ая", "ой"), ("а", "ы у е ой"), ("я", "и ю е ей"), ("ий", "ого ому им"), ("й", "я ю ем"), ("", "а у ом")),
    "uk": (("а", "и у і ою"), ("я", "і ю ею"), ("ий", "ого ому им"), ("й", "я ю єм"), ("о", "а у ом"), ("", "а у ом")),
    "be": (("а", "ы у е ай"), ("я", "і ю яй"), ("й", "я ю ем"), ("", "а у ам")),
    "cs": (("ová", "ovou ové"), ("á", "ou é"), ("a", "y u ě ou o"), ("ý", "ého ému ým"), ("", "a ovi em e")),
    "sk": (("ová", "ovou ovej"), ("a", "y u e ou"), ("ý", "ého ému ým"), ("", "a ovi om")),
    "sl": (("a", "e i o"), ("", "a u om")),
    "hr": (("a", "e i u om"), ("", "a u om")),
    "sr": (("а", "е и у ом"), ("", "а у ом")),
    "fi": (("nen", "sen selle sta"), ("", "n lle lta sta")),
    "et": (("", "i le lt ga"),),
    "hu": (("", "nak nek val t"),),
    "tr": (("", "'in 'e 'den 'i"),),
    "lt": (("as", "o ui ą"), ("ė", "ės ei ę"), ("a", "os ai ą")),
    "lv": (("s", "a am u"), ("a", "as ai u")),
    "el": (("ος", "ου ο"), ("ης", "η"), ("α", "ας"), ("ας", "α")),
}  # fmt: skip


def inflected(name: str, code: str, random: Random) -> str:
    """Return a name with the ending of a case on each of its words, three times in ten, in languages that have them."""
    if code not in _CASES or random.random() > 0.3:
        return name
    return " ".join(_with_case(word, code, random) for word in name.split(" "))


def _with_case(word: str, code: str, random: Random) -> str:
    if len(word) < 3 or not word.isalpha() or not word[1:].islower():
        return word
    for ending, cases in _CASES[code]:
        if word.endswith(ending) and (ending or word[-1] not in _VOWELS):
            return word[: len(word) - len(ending)] + random.choice(cases.split())
    return word


_VOWELS = "aeiouyáéíóúýаеёиоуыэюяіїєьαεηιουω"
