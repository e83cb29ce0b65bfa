"""API keys and tokens that their shape alone gives away."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from pipelines.privacy.placeholders import is_placeholder
from pipelines.privacy.scan import SECRET, Scan, Span

_MAKERS: Mapping[str, str] = {
    "AWS": r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}|ABSK[A-Za-z0-9+/]{109,269}={0,2}",
    "GitHub": r"gh[pousr]_[A-Za-z0-9]{30,255}|github_pat_[A-Za-z0-9_]{22,255}",
    "GitLab": r"gl[a-z]{2,6}-[A-Za-z0-9_-]{20,255}|GR1348941[A-Za-z0-9_-]{20}",
    "Slack": r"xox[abeoprs]-[A-Za-z0-9-]{10,255}|xoxe\.xox[bp]-[A-Za-z0-9-]{20,255}|xapp-[0-9]-[A-Za-z0-9-]{10,255}",
    "OpenAI, Anthropic and others": r"sk-[A-Za-z0-9_-]{20,255}",
    "Google": r"AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20,255}|GOCSPX-[A-Za-z0-9_-]{20,64}"
    "|1//0[A-Za-z0-9_-]{30,128}",
    "Azure": r"[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}",
    "Stripe": r"[sr]k_(?:live|test)_[A-Za-z0-9]{10,255}|whsec_[A-Za-z0-9+/=]{20,128}",
    "Twilio": r"SK[0-9a-f]{32}",
    "SendGrid": r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}",
    "Mailgun": r"key-[0-9a-f]{32}|[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}(?![0-9a-f-])",
    "Mailchimp": r"[0-9a-f]{32}-us[0-9]{1,2}",
    "npm": r"npm_[A-Za-z0-9]{36}",
    "PyPI": r"pypi-[A-Za-z0-9_-]{32,255}",
    "RubyGems": r"rubygems_[0-9a-f]{48}",
    "crates.io": r"cio[A-Za-z0-9]{32}",
    "NuGet": r"oy2[a-z0-9]{43}",
    "Hugging Face": r"hf_[A-Za-z0-9]{30,64}|api_org_[A-Za-z]{34}",
    "Groq": r"gsk_[A-Za-z0-9]{40,64}",
    "Perplexity": r"pplx-[A-Za-z0-9]{40,64}",
    "Replicate": r"r8_[A-Za-z0-9]{30,48}",
    "xAI": r"xai-[A-Za-z0-9]{40,96}",
    "LangSmith": r"lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}",
    "Pinecone": r"pcsk_[A-Za-z0-9_]{40,100}",
    "ElevenLabs": r"sk_[0-9a-f]{48}",
    "Docker": r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,64}",
    "DigitalOcean": r"do[opr]_v1_[0-9a-f]{64}",
    "Heroku": r"HRKU-[A-Za-z0-9_-]{30,70}",
    "Cloudflare": r"v1\.0-[0-9a-f]{24}-[0-9a-f]{146}",
    "Databricks": r"dapi[0-9a-f]{32}(?:-[0-9])?",
    "Linear": r"lin_(?:api|oauth)_[A-Za-z0-9]{32,64}",
    "Notion": r"ntn_[A-Za-z0-9]{40,50}|secret_[A-Za-z0-9]{43}",
    "Sentry": r"sntry[su]_[A-Za-z0-9+/=_-]{40,400}",
    "Shopify": r"shp(?:at|ss|ca|pa|tka)_[0-9a-fA-F]{32}",
    "Square": r"sq0[a-z]{3}-[A-Za-z0-9_-]{22,43}|EAAA[A-Za-z0-9_-]{60}",
    "Facebook": r"EAA[A-Za-z0-9]{80,255}",
    "Telegram": r"[0-9]{8,10}:[A-Za-z0-9_-]{35}",
    "Discord": r"[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38}",
    "Mapbox": r"sk\.eyJ[A-Za-z0-9_-]{20,255}\.[A-Za-z0-9_-]{20,64}",
    "Vault": r"hv[sbr]\.[A-Za-z0-9_-]{24,200}",
    "Terraform": r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{60,80}",
    "Pulumi": r"pul-[0-9a-f]{40}",
    "Doppler": r"dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9_.-]{40,64}",
    "Grafana": r"gl(?:sa|c)_[A-Za-z0-9_+/=]{32,400}",
    "New Relic": r"NRAK-[A-Z0-9]{27}|NRII-[A-Za-z0-9_-]{32}",
    "Postman": r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}",
    "Atlassian": r"AT[AC]TT3xFfG[A-Za-z0-9_=+/-]{50,400}",
    "Airtable": r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}",
    "Figma": r"fig[dour]_[A-Za-z0-9_-]{40,64}",
    "HubSpot": r"pat-(?:na|eu|ap)[0-9]-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    "PlanetScale": r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.-]{32,64}",
    "Supabase": r"sbp_[0-9a-f]{40}|sb_secret_[A-Za-z0-9_-]{20,64}",
    "Netlify": r"nfp_[A-Za-z0-9]{36,64}",
    "Fly": r"fo1_[A-Za-z0-9_-]{43}|fm[12][ar]?_[A-Za-z0-9+/=]{80,500}",
    "Tailscale": r"tskey-[a-z]{2,10}-[A-Za-z0-9]{8,32}-[A-Za-z0-9]{16,48}",
    "Dropbox": r"sl\.[A-Za-z0-9_-]{100,1400}",
    "Alibaba": r"LTAI[A-Za-z0-9]{17,21}",
    "Tencent": r"AKID[A-Za-z0-9]{32}",
    "Razorpay": r"rzp_(?:live|test)_[A-Za-z0-9]{14}",
    "Plaid": r"access-(?:sandbox|development|production)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    "JFrog": r"AKCp[A-Za-z0-9]{69}",
    "1Password": r"ops_eyJ[A-Za-z0-9_=-]{200,1000}|A3-[A-Z0-9]{6}(?:-[A-Z0-9]{5,6}){5}",
    "age": r"AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}",
    "JSON Web Token (RFC 7519)": r"eyJ[A-Za-z0-9_-]{8,4096}\.[A-Za-z0-9_-]{8,8192}(?:\.[A-Za-z0-9_-]{0,4096})?",
}
"""Prefixes and lengths by maker, as far as they are publicly known. A JSON Web Token begins with base64 of ``{"``."""
_SHAPES = re.compile("|".join(_MAKERS.values()))
_HOOKS = re.compile(
    r"hooks\.slack\.com/(?:services|workflows)/(?P<slack>T[A-Z0-9]{6,12}/[A-Z0-9]{6,12}/[A-Za-z0-9/]{16,64})"
    r"|discord(?:app)?\.com/api/webhooks/(?P<discord>[0-9]{15,21}/[A-Za-z0-9_-]{50,80})"
    r"|[?&]sig=(?P<signature>[A-Za-z0-9%+/=_-]{40,100})|X-Amz-Signature=(?P<amazon>[0-9a-f]{64})"
)
"""Addresses that give access by themselves: webhooks of Slack and Discord, signed links of Azure and AWS."""
_RUN = re.compile(r"[A-Za-z0-9_~-]{13,}")
_LEAD = re.compile(r"(?:[A-Za-z0-9]{1,14}[.:/]{1,2}){1,2}$")
_AFTER_MARK = re.compile(r"[-~]")
_MAX_STARTS = 64

_WORDY = re.compile(r"sk-|gl[a-z]{2,6}-|key-|xox")
"""Prefixes that ordinary hyphenated words have too."""
_PEM_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_PEM_BODY = re.compile(r"(?:[A-Za-z0-9+/=\s:,-]|\\[nrt]){0,20000}")


def api_keys(scan: Scan) -> Iterator[Span]:
    """Find API keys of well-known makers, JSON Web Tokens and PEM private keys. Canonical: the key itself.

    Documentation samples stay, and words such as ``sk-loading-indicator``.
    """
    text = scan.text
    done = 0
    for start in _starts(text):
        found = _SHAPES.match(text, start) if start >= done else None
        if found is None or _is_cut_out(text, *found.span()):
            continue
        key = found[0]
        if is_placeholder(key) or scan.is_own_token(*found.span()) or (_WORDY.match(key) and not _is_random(key)):
            continue
        done = found.end()
        yield Span(start, done, SECRET, key)
    if any(mark in text for mark in ("hooks", "sig=", "Signature=")):
        for hook in _HOOKS.finditer(text):
            start, end = hook.span(str(hook.lastgroup))
            yield Span(start, end, SECRET, text[start:end])
    if "PRIVATE KEY" in text:
        yield from _private_keys(text)


def _starts(text: str) -> Iterator[int]:
    """Yield the places where a key may begin: a long run, what leads to it over a dot, and each hyphen in it."""
    for run in _RUN.finditer(text):
        start, end = run.span()
        if text[start - 1 : start] in (".", ":", "/"):
            lead = _LEAD.search(text, max(0, start - 32), start)
            if lead:
                yield from (lead.start(), lead.start() + len(re.split(r"[.:/]{1,2}", lead[0])[0]) + 1)
        yield start
        if "-" in run[0] or "~" in run[0]:
            marks = _AFTER_MARK.finditer(text, start, end)
            yield from (mark.end() for mark, _ in zip(marks, range(_MAX_STARTS), strict=False))


def _is_cut_out(text: str, start: int, end: int) -> bool:
    before, after = text[max(0, start - 1) : start], text[end : end + 1]
    return (before.isascii() and before.isalnum()) or before == "_" or (after.isascii() and after.isalnum())


def _is_random(key: str) -> bool:
    body = key[3:]
    return any(c.isdigit() for c in body) or (body != body.lower() and body != body.upper())


def _private_keys(text: str) -> Iterator[Span]:
    """Find PEM blocks with their lines; a block that is cut off ends with its last base64 line (RFC 7468)."""
    done = 0
    for begin in _PEM_BEGIN.finditer(text):
        if begin.start() < done:
            continue
        body = _PEM_BODY.match(text, begin.end())
        limit = body.end() if body else begin.end()
        closing = text.find("-----END ", begin.end(), limit + 9)
        if closing >= 0:
            closed = text.find("-----", closing + 9, closing + 80)
            limit = closed + 5 if closed >= 0 else limit
        content = text[begin.end() : limit]
        if not any(c.isalnum() for c in content):
            continue
        end = begin.end() + len(content.rstrip())
        done = end
        yield Span(begin.start(), end, SECRET, "".join(text[begin.start() : end].split()))
