"""E-mail addresses whose signs are written as words: ``john at gmail dot com``, ``john [at] gmail [dot] com``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipelines.privacy.contact_detectors import is_documentation, is_top_level
from pipelines.privacy.scan import EMAIL, Scan, Span

_DOTS = "dot|punto|punkt|point|ponto|punt|kropka|точка"
_ATS = "at|ät|arroba|arobase|arobas|chiocciola|klammeraffe|apenstaartje|małpa|malpa|собака"
_SIGNS = {
    **dict.fromkeys(_DOTS.split("|"), "."),
    **dict.fromkeys(("underscore", "unterstrich", "guión bajo", "guion bajo", "tiret bas", "podkreślnik"), "_"),
    **dict.fromkeys(
        ("dash", "hyphen", "minus", "bindestrich", "guión", "guion", "tiret", "trattino", "hífen", "streepje"), "-"
    ),
    **dict.fromkeys(("plus", "más"), "+"),
}
_WORDS = "|".join(sorted(_SIGNS, key=len, reverse=True))
_SIGN = rf"(?:\s(?:{_WORDS})\s|\s?[\[({{<]\s?(?:{_WORDS}|\.)\s?[\])}}>]\s?)"
_AT = re.compile(rf"\s?[\[({{<]\s?(?:{_ATS}|@)\s?[\])}}>]\s?|\s(?:{_ATS})\s|(?<=\w)\s?@\s?(?=\w)")
_DOT = rf"(?:\s?[\[({{<]\s?(?:{_DOTS}|\.)\s?[\])}}>]\s?|\s(?:{_DOTS})\s|\.)"
_DOMAIN = re.compile(rf"[^\W_](?:[\w-]{{0,40}}[^\W_])?(?:{_DOT}[^\W_](?:[\w-]{{0,40}}[^\W_])?){{1,4}}")
_DOT_OF_DOMAIN = re.compile(_DOT)
_LOCAL = re.compile(rf"(?<![\w.+-])[^\W_][\w.+-]{{0,40}}(?:{_SIGN}[^\W_][\w.+-]{{0,30}}){{0,4}}$")
_READ_SIGN = re.compile(_SIGN)
_SPELLED_DOT = re.compile(rf"\s(?:{_DOTS})\s|[\[({{<]")
_FREE_MAIL_NAMES = """
gmail.com googlemail.com yahoo.com hotmail.com outlook.com live.com icloud.com me.com aol.com proton.me protonmail.com
gmx.de gmx.net web.de t-online.de orange.fr free.fr laposte.net wanadoo.fr libero.it virgilio.it terra.es uol.com.br
bol.com.br wp.pl o2.pl onet.pl interia.pl ziggo.nl kpnmail.nl mail.ru yandex.ru qq.com 163.com naver.com zoho.com
fastmail.com mail.com
"""
FREE_MAIL = frozenset(_FREE_MAIL_NAMES.split())
_NO_LOCAL_PARTS = """
me us him her them it is was are be am at look looking meet meeting available found find live lives located stay work
works working worked based contact reach email mail write the a an or and to of in on for from here there you we they
that this arrive arrived point points dot back out good bad great best hosted website site page join visit shop buy
only also team people everyone ihr mich uns sur est chez en y
"""
_NO_LOCAL = frozenset(_NO_LOCAL_PARTS.split())
_REACH = 90


def spelled_emails(scan: Scan) -> Iterator[Span]:
    """Find addresses with a spelled or bracketed sign at or dot; the domain ends in a public suffix.

    Words alone are not enough: a local part that is a preposition or a verb of meeting is none, and a written dot needs
    a mail provider or brackets. Canonical: the address with its signs, lower case.
    """
    text = scan.lowered
    done = 0
    for at in _AT.finditer(text):
        domain = _DOMAIN.match(text, at.end())
        if domain is None or at.start() < done:
            continue
        end = _domain_end(text, domain)
        local = _LOCAL.search(text, max(done, at.start() - _REACH), at.start()) if end else None
        if end is None or local is None:
            continue
        host = _DOT_OF_DOMAIN.sub(".", text[at.end() : end])
        if not _is_written(at[0], text[at.end() : end], local[0], host):
            continue
        if is_documentation(host) and not scan.policy.documentation_ranges:
            continue
        name = _READ_SIGN.sub(lambda sign: _SIGNS.get(sign[0].strip(" \n\t[](){}<>"), "."), local[0])
        done = end
        yield Span(local.start(), end, EMAIL, f"{name}@{host}")


def _domain_end(text: str, domain: re.Match[str]) -> int | None:
    """Return where the domain ends: after the last label that is a public suffix."""
    end = domain.end()
    dots = list(_DOT_OF_DOMAIN.finditer(text, domain.start(), end))
    while dots:
        last = dots.pop()
        if is_top_level(text[last.end() : end]):
            return end
        end = last.start()
    return None


def _is_written(at: str, domain: str, local: str, host: str) -> bool:
    bracketed = at.strip()[:1] in tuple("[({<")
    spelled_dot = _SPELLED_DOT.search(domain) is not None
    if "@" in at and not bracketed:
        return spelled_dot and not local.endswith(tuple("0123456789")) or (spelled_dot and host in FREE_MAIL)
    if local in _NO_LOCAL or host.split(".")[0] in _NO_LOCAL:
        return False
    return bracketed or spelled_dot or host in FREE_MAIL
