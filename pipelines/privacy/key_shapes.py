"""API keys and tokens that their shape alone gives away."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipelines.privacy.placeholders import is_placeholder
from pipelines.privacy.scan import SECRET, Scan, Span

_SHAPES = re.compile(
    r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}"
    r"|gh[pousr]_[A-Za-z0-9]{30,255}|github_pat_[A-Za-z0-9_]{22,255}|gl[a-z]{2,6}-[A-Za-z0-9_-]{20,255}"
    r"|xox[abeoprs]-[A-Za-z0-9-]{10,255}|xapp-[0-9]-[A-Za-z0-9-]{10,255}"
    r"|sk-[A-Za-z0-9_-]{20,255}|AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20,255}|GOCSPX-[A-Za-z0-9_-]{20,64}"
    r"|[sr]k_(?:live|test)_[A-Za-z0-9]{10,255}|whsec_[A-Za-z0-9+/=]{20,128}"
    r"|SK[0-9a-f]{32}|SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}|key-[0-9a-f]{32}"
    r"|npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_-]{32,255}|hf_[A-Za-z0-9]{30,64}|dop_v1_[0-9a-f]{64}"
    r"|shp(?:at|ss|ca|pa)_[0-9a-f]{32}"
    r"|gsk_[A-Za-z0-9]{40,64}|pplx-[A-Za-z0-9]{40,64}|r8_[A-Za-z0-9]{30,48}|xai-[A-Za-z0-9]{40,96}|dckr_pat_[A-Za-z0-9_-]{20,64}"
    r"|[0-9]{8,10}:[A-Za-z0-9_-]{35}"
    r"|eyJ[A-Za-z0-9_-]{8,4096}\.[A-Za-z0-9_-]{8,8192}(?:\.[A-Za-z0-9_-]{0,4096})?"
)
"""Prefixes and lengths as the makers publish them: AWS, GitHub, GitLab, Slack, OpenAI and Anthropic (``sk-``), Google,
Stripe, Twilio, SendGrid, Mailgun, npm, PyPI, Hugging Face, DigitalOcean, Shopify, Groq, Perplexity, Replicate, xAI,
Docker, Telegram bots; JSON Web Tokens (RFC 7519), which begin with base64 of ``{"``."""

_WORDY = re.compile(r"sk-|gl[a-z]{2,6}-|key-|xox")
"""Prefixes that ordinary hyphenated words have too."""
_PEM_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_PEM_BODY = re.compile(r"(?:[A-Za-z0-9+/=\s:,-]|\\[nrt]){0,20000}")


def api_keys(scan: Scan) -> Iterator[Span]:
    """Find API keys of well-known makers, JSON Web Tokens and PEM private keys. Canonical: the key itself.

    Documentation samples stay, and words such as ``sk-loading-indicator``.
    """
    text = scan.text
    for found in _SHAPES.finditer(text):
        start, end = found.span()
        before, after = text[max(0, start - 1) : start], text[end : end + 1]
        if (before.isascii() and before.isalnum()) or before == "_" or (after.isascii() and after.isalnum()):
            continue
        key = found[0]
        if is_placeholder(key) or scan.is_own_token(start, end) or (_WORDY.match(key) and not _is_random(key)):
            continue
        yield Span(start, end, SECRET, key)
    if "PRIVATE KEY" in text:
        yield from _private_keys(text)


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
