"""Bank accounts, bank codes and the printed details of a card, by their label."""

from __future__ import annotations

import re
from collections.abc import Iterator

from stdnum import bic
from stdnum.ar import cbu
from stdnum.es import ccc
from stdnum.us import rtn

from pipelines.privacy.labelled_values import Labelled, compact, labelled_values, value_starts
from pipelines.privacy.prefilter import ACCOUNTS
from pipelines.privacy.scan import BANK_ACCOUNT, CARD_EXPIRY, CVV, Scan, Span

_ACCOUNT = re.compile(
    r"\b(?:(?:bank|checking|savings|current|beneficiary)?[ _-]?(?:account|acct)(?:[ _.-]{0,2}(?:no|nr|num|number)\b"
    r"|[ .]?#)|(?:bank|checking|savings) (?:account|acct)|(?:account|acct)(?=[\s:]{1,3}[0-9]{8,12}(?![0-9]))"
    r"|accountnumber|acctno|a/c(?: no)?|konto-?(?:nummer|nr)"
    r"|bankverbindung|kto\.?(?:-?nr)?|(?:num[eé]ro|n[°º]) de compte|compte bancaire|rib|n[uú]mero de (?:la )?cuenta"
    r"|cuenta (?:bancaria|corriente|de ahorros?)|clabe|cbu|ccc"
    r"|numero (?:di|del) conto|conto corrente|n[uú]mero (?:da|de) conta|conta (?:corrente|poupan[cç]a|banc[aá]ria)"
    r"|rekening-?(?:nummer|nr)?"
    r"|nume?r[u]? (?:konta|rachunku)|rachun(?:ek|ku) bankow\w{1,4}|nib|nrb)(?![^\W_])"
    r"|银行账号|银行账户|銀行帳號|账号|口座番号|계좌번호|رقم الحساب|номер сч[её]та|расч[её]тный сч[её]т|खाता संख्या"
)
_ROUTING = re.compile(r"\b(?:routing|aba|rtn|transit)(?: (?:transit )?(?:no|nr|number|code|#))?\b")
_SORT_CODE = re.compile(r"\bsort[ _-]?code\b")
_BLZ = re.compile(r"\b(?:blz|bankleitzahl)\b")
_BSB = re.compile(r"\bbsb\b")
_IFSC = re.compile(r"\bifsc\b")
_BIC = re.compile(r"\b(?:bic|swift)(?:[ /-](?:swift|bic|code))?\b")
_AGENCY = re.compile(r"\bag[êe]ncia\b")
_CVV = re.compile(
    r"\b(?:cvv2?|cvc2?|csc|cav2?|card verification|(?:card )?security code|kartenpr[uü]fnummer|pr[uü]fziffer"
    r"|sicherheitscode"
    r"|c[oó]digo de (?:seguridad|seguran[cç]a)|code de s[eé]curit[eé]|cryptogramme|codice di sicurezza"
    r"|beveiligingscode|kod bezpiecze[nń]stwa)(?![^\W_])"
    r"|安全码|セキュリティコード"
)
_CVV_VALUE = re.compile(r"[0-9]{3,4}(?![0-9a-z_]|[.,/-][0-9])")
_EXPIRY = re.compile(r"(?<![0-9/.-])(?:0?[1-9]|1[0-2]) ?[/-] ?(?:20)?[2-4][0-9](?![0-9/-])")
_NEAR_CARD = 100


def _digits_between(least: int, most: int, *, may_have_letters: bool = False) -> re.Pattern[str]:
    return re.compile(rf"[A-Z]{{0,{4 if may_have_letters else 0}}}[0-9]{{{least},{most}}}")


_PLAIN_ACCOUNT = _digits_between(6, 18, may_have_letters=True)


def _is_account(value: str) -> bool:
    """Tell whether a number can be an account: 6 to 18 digits, or 20 and more with a national check digit."""
    bare = compact(value)
    if len(bare) <= 18:
        return _PLAIN_ACCOUNT.fullmatch(bare) is not None and len(set(bare)) > 1
    return (
        bool(ccc.is_valid(bare))
        or bool(cbu.is_valid(bare))
        or is_polish_account(bare)
        or (bare.isdigit() and len(bare) <= 24)
    )


def is_polish_account(digits: str) -> bool:
    """Tell whether 26 digits are an account of Poland: those of its IBAN without the country (ISO 7064 mod 97)."""
    return len(digits) == 26 and digits.isdigit() and int(digits[2:] + "2521" + digits[:2]) % 97 == 1


def _is_clabe(digits: str) -> bool:
    """Tell whether the last of 18 digits is right (Banco de México: weights 3, 7, 1, each product mod 10)."""
    check = sum(int(d) * (3, 7, 1)[i % 3] % 10 for i, d in enumerate(digits[:17]))
    return (10 - check % 10) % 10 == int(digits[17])


def _sized(size: int) -> re.Pattern[str]:
    return re.compile(rf"[0-9]{{{size}}}")


_RULES = (
    Labelled(BANK_ACCOUNT, _ACCOUNT, _is_account, 26),
    Labelled(BANK_ACCOUNT, _ROUTING, lambda value: bool(rtn.is_valid(compact(value)))),
    Labelled(BANK_ACCOUNT, _SORT_CODE, lambda value: _sized(6).fullmatch(compact(value)) is not None),
    Labelled(BANK_ACCOUNT, _BLZ, lambda value: _sized(8).fullmatch(compact(value)) is not None),
    Labelled(BANK_ACCOUNT, _BSB, lambda value: _sized(6).fullmatch(compact(value)) is not None),
    Labelled(BANK_ACCOUNT, _AGENCY, lambda value: 4 <= len(compact(value)) <= 6),
    Labelled(BANK_ACCOUNT, _IFSC, lambda value: re.fullmatch(r"[A-Z]{4}0[A-Z0-9]{6}", compact(value)) is not None),
)
_BIC_VALUE = re.compile(r"[A-Za-z]{6}[A-Za-z0-9]{2}(?:[A-Za-z0-9]{3})?(?![A-Za-z0-9])")
_BARE_CLABE = re.compile(r"(?<![0-9])[0-9]{18}(?![0-9])")


def account_numbers(scan: Scan) -> Iterator[Span]:
    """Find accounts and bank codes after their label. Canonical: capitals and digits alone.

    Routing numbers must have their check digit (ABA), a BIC the form of ISO 9362 in capitals.
    """
    yield from labelled_values(scan, ACCOUNTS, _RULES)
    for start in value_starts(scan, ACCOUNTS, _BIC):
        found = _BIC_VALUE.match(scan.text, start)
        if found and found[0].isupper() and bic.is_valid(found[0]):
            yield Span(start, found.end(), BANK_ACCOUNT, found[0])
    if "clabe" in scan.lowered:
        for found in _BARE_CLABE.finditer(scan.text):
            if _is_clabe(found[0]):
                yield Span(found.start(), found.end(), BANK_ACCOUNT, found[0])


def card_details(scan: Scan, cards: list[Span]) -> Iterator[Span]:
    """Find verification values after their label, and expiry dates within 100 characters of a card's number."""
    for start in value_starts(scan, ACCOUNTS, _CVV):
        found = _CVV_VALUE.match(scan.lowered, start)
        if found:
            yield Span(start, found.end(), CVV, found[0])
    for card in cards:
        first, last = max(0, card.start - _NEAR_CARD), card.end + _NEAR_CARD
        for found in _EXPIRY.finditer(scan.text, first, last):
            if not (found.start() < card.end and card.start < found.end()):
                month, year = re.split(r" ?[/-] ?", found[0])
                yield Span(found.start(), found.end(), CARD_EXPIRY, f"{int(month):02}/{year[-2:]}")
