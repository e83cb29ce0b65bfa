"""Words that are looked for by their hash: those that turn a sentence round, and those in upper case that name nobody.

Apostrophes cut no word, so "don't" is looked for as "dont".
"""

from __future__ import annotations

NEVER_NAMES = ("i", "im", "ill", "ive", "id")
"""English writes these in upper case inside a sentence."""

NEGATIONS = (
    # English
    *(
        "not",
        "no",
        "never",
        "none",
        "nor",
        "neither",
        "without",
        "cannot",
        "cant",
        "couldnt",
        "dont",
        "doesnt",
        "didnt",
    ),
    *(
        "isnt",
        "arent",
        "wasnt",
        "werent",
        "wont",
        "wouldnt",
        "shouldnt",
        "mustnt",
        "neednt",
        "hasnt",
        "havent",
        "hadnt",
    ),
    # German, Dutch
    *("nicht", "kein", "keine", "keinen", "keinem", "keiner", "keines", "nie", "niemals", "ohne"),
    *("niet", "geen", "nooit", "zonder"),
    # French, Spanish, Italian, Portuguese
    *("pas", "jamais", "sans", "nunca", "jamás", "sin", "non", "mai", "senza", "não", "sem"),
    # Swedish, Danish, Norwegian
    *("inte", "aldrig", "utan", "ikke", "uden", "aldri", "uten"),
    # Polish, Czech, Russian, Ukrainian
    *("nigdy", "bez", "nikdy", "не", "нет", "никогда", "без", "ні", "ніколи"),
    # Turkish
    *("değil", "hayır", "asla"),
)
"""One of them more or less, and a sentence of otherwise the same words says the opposite (own list)."""
