"""What 45 CFR 164.514(b)(2) lets stand of a date, an age and a place; everything else of them becomes a mask."""

from __future__ import annotations

import re

from pipelines.privacy.surrogates.dates import year_of

OLDEST_AGE = 89
RESTRICTED_ZIP_PREFIXES = frozenset(
    "036 059 063 102 203 556 692 790 821 823 830 831 878 879 884 890 893".split()  # noqa: SIM905
)
"""Three-digit ZIP areas of at most 20,000 people (2000 census, as the HHS guidance on de-identification lists them)."""

_NUMBER = re.compile(r"\d+")
_ZIP = re.compile(r"(?<!\d)(\d{3})\d{2}(?:-\d{4})?(?!\d)")
_STATE_BEFORE_ZIP = re.compile(r"\b[A-Z]{2}[ ,]{1,2}$")


def generalised(kind: str, text: str, oldest_birth_year: int) -> str:
    """Return what may stand in the place of ``text``: a year, ``90+``, three digits of a ZIP code, or ``[TYPE]``.

    A birth year up to ``oldest_birth_year`` shows an age over 89 and goes. A ZIP code is read after a state's letters.
    """
    mask = f"[{kind}]"
    if kind in ("DATE", "DATE_OF_BIRTH"):
        year = year_of(text)
        return mask if year is None or year <= oldest_birth_year else str(year)
    if kind == "AGE":
        return _NUMBER.sub(lambda age: "90+" if int(age[0]) > OLDEST_AGE else age[0], text, count=1)
    if kind == "ADDRESS":
        found = next((zip_code for zip_code in _ZIP.finditer(text) if _is_zip(text, zip_code.start())), None)
        return mask if found is None else f"{mask} {three_digits(found[1])}"
    return mask


def three_digits(prefix: str) -> str:
    """Return the three digits of a ZIP code that may be shown: ``000`` for areas with few people."""
    return "000" if prefix in RESTRICTED_ZIP_PREFIXES else prefix


def _is_zip(text: str, start: int) -> bool:
    return _STATE_BEFORE_ZIP.search(text, 0, start) is not None
