"""E-mail addresses and phone numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from urllib.parse import unquote

import phonenumbers
from phonenumbers import PhoneMetadata, PhoneNumber
from tldextract import TLDExtract

from pipelines.privacy.number_groups import Window
from pipelines.privacy.phone_cues import (
    AFTER_NOUN,
    AFTER_VERB,
    BARE_MOBILES,
    NUMBER_WORD_BEFORE,
    OF_A_NUMBER,
    OWN_NUMBER,
    PHONE_CUE_AFTER,
    PHONE_NOUNS,
    PHONE_VERBS,
    REGIONS_OF_WORDS,
)
from pipelines.privacy.scan import EMAIL, PHONE, Scan, Span

_AT = re.compile(r"@|%40")
_LOCAL_REVERSED = re.compile(r"[\w+.!#$%&'*/=?^`{|}~-]{1,64}")
_DOMAIN = re.compile(r"[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}")
_ESCAPED_LETTER = re.compile(r"u[0-9a-f]{4}|[bfnrt]", re.IGNORECASE)
_NAME_CHARACTER = re.compile(r"\w")
PRIVATE_DOMAINS = frozenset({"local", "internal", "intranet", "lan", "corp", "home", "private", "localdomain"})
"""Last labels of internal mail domains (ICANN keeps most of them out of the root: RFC 6762 appendix G)."""
DOCUMENTATION_LABELS = frozenset({"example", "invalid", "test", "localhost"})
DOCUMENTATION_DOMAINS = frozenset(f"example.{end}" for end in ("com", "net", "org", "edu"))
"""RFC 2606."""


@lru_cache(maxsize=1)
def _top_level() -> frozenset[str]:
    suffixes = TLDExtract(suffix_list_urls=(), cache_dir=None).tlds
    return frozenset(suffix.rsplit(".")[-1] for suffix in suffixes) | PRIVATE_DOMAINS | DOCUMENTATION_LABELS


def emails(scan: Scan) -> Iterator[Span]:
    """Find e-mail addresses, unicode ones and percent-encoded ``@`` too; the domain ends in a public suffix.

    The suffix keeps out assets (``icon@2x.png``), package versions and decorators. Canonical: lower case, decoded.
    """
    text = scan.text
    for at in _AT.finditer(text):
        if at.start() in scan.url_ats:
            continue
        start = _local_start(text, at.start())
        end = _domain_end(text, at.end())
        if start is None or end is None or scan.is_own_token(start, end):
            continue
        address = scan.lowered[start:end]
        domain = address[at.end() - start :]
        if not scan.policy.documentation_ranges and is_documentation(domain):
            continue
        if address.startswith("git@") and text[end : end + 1] in (":", "/"):
            continue
        yield Span(start, end, EMAIL, unquote(address))


def _local_start(text: str, at: int) -> int | None:
    """Return where the local part begins, left of ``at``; quotes, escapes and marks of prose are left out."""
    found = _LOCAL_REVERSED.match(text[max(0, at - 64) : at][::-1])
    if found is None:
        return None
    start = at - found.end()
    local = text[start:at]
    for mark in "=?&/'`{}|*":
        cut = local.rfind(mark)
        if cut >= 0 and (mark != "'" or cut == 0 or not local[cut - 1].isalnum()):
            start, local = start + cut + 1, local[cut + 1 :]
    if start and text[start - 1] == "\\":
        escaped = _ESCAPED_LETTER.match(local)
        start += escaped.end() if escaped else 0
    while start < at and not (_NAME_CHARACTER.match(text, start) or text[start] in "+"):
        start += 1
    return start if start < at and text[at - 1] != "." else None


def _domain_end(text: str, start: int) -> int | None:
    """Return where the domain ends: after the last label that is a top-level name."""
    found = _DOMAIN.match(text, start)
    if found is None or text[start] == "-":
        return None
    labels = found[0].split(".")
    end = found.end()
    while len(labels) > 1:
        if is_top_level(labels[-1].lower()):
            return end
        # Prose that lost a space after the address is glued to its last label: "…@example.comThanks".
        end -= len(labels.pop()) + 1
    return None


def is_top_level(label: str) -> bool:
    """Tell whether a lower-case label ends domains: of the public suffix list, of internal mail, of RFC 2606."""
    return label in _top_level()


def is_documentation(domain: str) -> bool:
    """Tell whether a lower-case domain is one that documents may use freely (RFC 2606)."""
    labels = domain.split(".")
    return labels[-1] in DOCUMENTATION_LABELS or ".".join(labels[-2:]) in DOCUMENTATION_DOMAINS


EXTENSION = re.compile(
    r"\s{0,2}(?:x|#|,?\s?ext(?:ension|\.)?|durchwahl|poste)[\s.:]{0,2}[0-9]{1,6}(?![0-9\w])", re.IGNORECASE
)
_AMERICAN = re.compile(r"(?:(?:001|1)[ .-])?(?:\([2-9][0-9]{2}\)[ .-]?|[2-9][0-9]{2}[ .-])[0-9]{3}[ .-][0-9]{4}")
_YEARS = re.compile(r"(?:19|20)[0-9]{2}[ ./-]{1,3}(?:19|20)[0-9]{2}")
_GROUPED: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...] = (
    (re.compile(r"[5679][0-9]{2}([ -])[0-9]{3}\1[0-9]{3}"), ("ES", "PL", "PT")),
    (re.compile(r"[679][0-9]{2}([ .-])[0-9]{2}\1[0-9]{2}\1[0-9]{2}"), ("ES",)),
    (re.compile(r"8([ -]?)(?:\([3489][0-9]{2}\)|[3489][0-9]{2})[ -][0-9]{3}[ -][0-9]{2}[ -]?[0-9]{2}"), ("RU",)),
    (re.compile(r"1[3-9][0-9]([ -])[0-9]{4}\1[0-9]{4}"), ("CN",)),
    (re.compile(r"[1-9][0-9] 9[0-9]{4}-[0-9]{4}"), ("BR",)),
)
"""Groupings that tell a phone number of some region by themselves."""
_IN_BRACKETS = re.compile(r"\((?!(?:19|20)[0-9]{2}\))[0-9]{2,4}\) ?[0-9]{2,5}(?:[ -][0-9]{2,4}){1,3}")
_CHINESE_MOBILE = re.compile(r"1[3-9][0-9]{9}")
_DOTTED_QUAD = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}")
_THOUSANDS = re.compile(r"[0-9]{1,3}(?:[ .][0-9]{3})+")


def phone(scan: Scan, window: Window, *, by_cue: bool) -> Span | None:
    """Return the phone number that fills a window of 7 to 15 digits, or None. Canonical: E.164 where it is valid.

    Taken are: a number of possible length with ``+`` or ``00``; North American grouping; a trunk 0 with digits valid
    in a region of the policy; ``by_cue`` any grouping near a word that announces it. Bare digits alone are an id.
    """
    canonical = None if by_cue else _written_out(scan, window)
    told = by_cue and not window.is_glued and _is_called_phone(scan, window)
    if canonical is None and not told:
        return None
    if _YEARS.fullmatch(window.text) or scan.is_machine_id(window.start, window.end):
        return None
    extension = EXTENSION.match(scan.text, window.end)
    end = extension.end() if extension else window.end
    number = canonical or e164(window.digits, window.has_plus, scan.policy.default_regions) or window.digits
    suffix = "".join(c for c in extension[0] if c.isdigit()) if extension else ""
    return Span(window.start, end, PHONE, f"{number};{suffix}" if suffix else number)


_ANNOUNCED = ((PHONE_NOUNS, 26, AFTER_NOUN), (PHONE_VERBS, 40, AFTER_VERB), (OWN_NUMBER, 16, OF_A_NUMBER))


def _is_called_phone(scan: Scan, window: Window) -> bool:
    if _DOTTED_QUAD.fullmatch(window.text):
        return False
    for cue, width, between in _ANNOUNCED:
        gap = scan.gap_after(cue, window.start, width)
        if gap is not None and between.fullmatch(gap):
            return True
    return PHONE_CUE_AFTER.match(scan.lowered, window.end) is not None or _is_of_region(scan, window)


def _is_of_region(scan: Scan, window: Window) -> bool:
    """Tell whether a number right after a plain word for numbers is written as phone numbers of its language are."""
    word = NUMBER_WORD_BEFORE.search(scan.lowered[max(0, window.start - 32) : window.start])
    if word is None or word.lastgroup is None or _THOUSANDS.fullmatch(window.text):
        return False
    regions = [region for region in REGIONS_OF_WORDS[word.lastgroup] if region in scan.policy.default_regions]
    if window.text.isdigit():
        regions = [r for r in regions if r in BARE_MOBILES and BARE_MOBILES[r].fullmatch(window.text)]
    return e164(window.digits, False, tuple(regions)) is not None


def _written_out(scan: Scan, window: Window) -> str | None:
    """Return the E.164 form of a number that its own shape shows to be a phone number."""
    text, digits, regions = window.text, window.digits, scan.policy.default_regions
    if window.has_plus or (text.startswith("00") and len(digits) > 9):
        return e164(digits, window.has_plus, ())
    size = len(digits)
    if size in (10, 11, 13) and _AMERICAN.fullmatch(text):
        return f"+1{digits[-10:]}"
    if window.is_glued or not 9 <= size <= 12:
        return None
    if digits[0] == "0" and window.first_size > 1:
        return e164(digits, False, regions)
    for shape, known in _GROUPED:
        if shape.fullmatch(text):
            return e164(digits, False, tuple(r for r in known if r in regions))
    if text[0] == "(" and _IN_BRACKETS.fullmatch(text):
        return e164(digits, False, regions)
    if size == 11 and _CHINESE_MOBILE.fullmatch(text) and not scan.text.isascii():
        return e164(digits, False, tuple(r for r in ("CN",) if r in regions))
    return None


@lru_cache(maxsize=65536)
def e164(digits: str, has_plus: bool, regions: tuple[str, ...]) -> str | None:
    """Return ``+`` and the digits of a valid number in international form, or None.

    ``digits`` may start with 00 or a trunk prefix; ``regions`` are tried in order when no country code is there.
    """
    if has_plus or digits.startswith("00"):
        return _international(digits if has_plus else digits[2:])
    return next((found for region in regions if (found := _national(digits, region))), None)


def _international(digits: str) -> str | None:
    if digits[0] == "1" and len(digits) == 11 and digits[1] in "23456789" and digits[4] in "23456789":
        return f"+{digits}"
    try:
        number = phonenumbers.parse(f"+{digits}", None)
    except phonenumbers.NumberParseException:
        return None
    if not phonenumbers.is_possible_number(number):
        return None
    return str(phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164))


def _national(digits: str, region: str) -> str | None:
    metadata = PhoneMetadata.metadata_for_region(region)
    if metadata is None or metadata.general_desc is None:
        return None
    trunk = metadata.national_prefix or ""
    bare = digits[len(trunk) :] if trunk and digits.startswith(trunk) else digits
    keeps_zero = bare.startswith("0")
    if digits.startswith("0") and bare == digits and region != "IT":
        return None
    if not re.fullmatch(metadata.general_desc.national_number_pattern or "", bare):
        return None
    number = PhoneNumber(
        country_code=metadata.country_code, national_number=int(bare), italian_leading_zero=keeps_zero or None
    )
    if not phonenumbers.is_valid_number_for_region(number, region):
        return None
    return str(phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164))
