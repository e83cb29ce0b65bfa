"""What stands in the place of a secret without being one."""

from __future__ import annotations

import re

_MASK = re.compile(r"[*xX\u2022.#_\u2026?-]+|(.)\1*", re.DOTALL)
_TEMPLATE = re.compile(r"<.*>|\$\{.*|\$\(.*|\$[A-Za-z_]\w*|\{+.*|%\w*%|%[sdr]|\[.*\]|@\w+@|:\w+", re.DOTALL)
_SAMPLE = re.compile(
    r"example|placeholder|redacted|change_?me|your[_-]|[_-]here\b|x{4,}|\*{3,}|\.{3}|dummy|insert[_-]", re.IGNORECASE
)
_PLACEHOLDER_WORDS = """
password passwd pass passphrase passcode pwd passwort secret token key apikey api_key test testing none null nil true
false undefined unknown empty required optional string str bytes int bool boolean number text varchar object any
hidden masked redacted todo tbd n/a na env input prompt user username default type value field enabled disabled yes no
incorrect wrong invalid correct expired forgotten missing protected reset set
"""
_WORDS = frozenset(_PLACEHOLDER_WORDS.split())
_CODE_READ = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+|[\w.:>-]*[\w>]\(.*|\$?[A-Za-z_][\w.]*\[.*", re.DOTALL)
ALGORITHM = re.compile(
    r"(?:aes|rsa|sha|md5|hmac|ec_|ed25519|ecdsa|argon2|bcrypt|scrypt|pbkdf2)[-_]?[0-9a-z_-]{0,12}|[hrep]s(?:256|384|512)",
    re.IGNORECASE,
)


def is_placeholder(value: str) -> bool:
    """Tell whether a value is a mask, a template, a sample or a word that documents write for a secret."""
    return bool(
        value.lower() in _WORDS or _MASK.fullmatch(value) or _TEMPLATE.fullmatch(value) or _SAMPLE.search(value)
    )


def is_code_read(value: str) -> bool:
    """Tell whether an unquoted value is an expression: a call, a subscript or an attribute."""
    return _CODE_READ.fullmatch(value) is not None
