"""Passwords and keys next to the word that names them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal

from pipelines.privacy.placeholders import ALGORITHM, is_code_read, is_placeholder
from pipelines.privacy.prefilter import LABEL_STEMS, NATIVE_PASSWORDS
from pipelines.privacy.scan import SECRET, USERNAME, Scan, Span, words_of
from pipelines.privacy.url_credentials import SERVICE_ACCOUNTS

Strength = Literal["password", "key", "login"]

_NAMES_OF_PASSWORDS = """
password passwd passwort passphrase passcode passwords pwd pswd psw kennwort contraseña contrasena senha wachtwoord
hasło haslo пароль 密码 密碼 pgpassword
"""
_PASSWORDS = frozenset(_NAMES_OF_PASSWORDS.split())
_QUALIFYING_WORDS = """
api secret access private auth account encryption signing storage subscription service master shared license licence
client session app deploy consumer webhook jwt hmac aws azure openai
"""
_KEY_QUALIFIERS = frozenset(_QUALIFYING_WORDS.split())
_FUSED_KEYS = ("apikey", "accesskey", "secretkey", "authkey", "privatekey", "accountkey", "sharedkey")
_TOKENS_OF_TEXT = "max min num next page total stop end eos bos pad sep mask unk start special count"
_TOKEN_OPPOSITES = frozenset(_TOKENS_OF_TEXT.split())
_OWNERS_OF_PASS = frozenset(
    {"db", "user", "smtp", "root", "admin", "mysql", "ftp", "login", "account", "redis", "pg", "my", "de"}
)
_LOGINS = frozenset({"basicauth", "userpass", "authorization", "auth", "credentials", "credential", "creds", "cred"})


@lru_cache(maxsize=4096)
def secret_name(name: str) -> Strength | None:
    """Tell what a name announces by its whole words: a password, a key (its value needs proof), a login, or nothing.

    The last word decides: ``db_password`` and ``AWS_SECRET_ACCESS_KEY`` do, ``key_algorithm``, ``public_key``,
    ``keyword`` and ``max_tokens`` do not.
    """
    if NATIVE_PASSWORDS.fullmatch(name.lower()):
        return "password"
    words = words_of(name)
    while words and (words[-1].isdigit() or words[-1] in ("value", "var")):
        words = words[:-1]
    if not words:
        return None
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    if last in _PASSWORDS or last.endswith(("password", "passwd", "passphrase", "passwort")):
        return "password"
    if last == "pass" or (last == "passe" and before == "de"):
        return "password" if before in _OWNERS_OF_PASS else "key"
    if "".join(words[-2:]) in _LOGINS or last in _LOGINS:
        return "login"
    if last == "secret" or last.endswith(_FUSED_KEYS) or (last == "key" and before in _KEY_QUALIFIERS):
        return "key"
    if last in ("token", "bearer") or last.endswith("token"):
        return None if before in _TOKEN_OPPOSITES else "key"
    return None


_NAME_BEFORE = re.compile(r"(?:[\w.-]{1,60})$")
_NAME_AFTER = re.compile(r"[\w.-]{0,60}")
_QUALIFIER_BEFORE = re.compile(r"\b(api|secret|access|private|auth|account|encryption|signing|client|license|mot de) $")
_SEPARATOR = re.compile(
    r"""(?P<close>["'`*\]\\]{0,4})\s{0,4}
    (?:[:：]\s{0,2}&?(?:str|string|secretstr|final)\s{0,2}=|:=|=>|==?|[:：]
    |(?P<is>\b(?:is|was|ist|es|est|lautet|[eèé]|(?<=has[lł]o\ )to)\b:?
    |(?:是|为|為|は|는|은|هي|هو)\s?:?|[—-](?=\s))
    |(?P<xml>>)|(?P<none>(?=\s)))
    (?P<gap>\s{0,4})(?P<quote>\\?["'`“‘„«])?""",
    re.IGNORECASE | re.VERBOSE,
)
_BARE = re.compile(r"[^\s;\"'`<>,&]{1,512}(?:[,&](?![\s\w]{0,1}$|\s|\w{1,30}[=:])[^\s;\"'`<>,&]{1,512}){0,20}")
_SCHEME_WORD = re.compile(r"(?:bearer|basic|token|apikey)\s{1,3}", re.IGNORECASE)
_BEARER = re.compile(r"[A-Za-z0-9._~+/-]{8,4096}={0,2}")
_CLOSING = {"“": "”", "‘": "’", "„": "“", "«": "»"}
_WORDLIKE = re.compile(r"[^\W\d_]+(?:[-'’/][^\W\d_]+)*")
_PATH = re.compile(r"(?:\.{0,2}|~|[A-Za-z]:)[/\\][\w./\\ -]*")
_UNMARKED = re.compile(
    r"(?:\s(?:الخاصة ب\S{1,3}|от|к|для|на|को|का|के|लिए)(?:\s[^\W\d]\S{1,12})?)?"
    r"(?:\s?(?:[:：=—-]|हो?ता|है|هي|هو|は|是|는))?\s{0,2}"
    r"(?P<value>[!-~]{4,64})"
)
MAX_VALUE = 512
_WORDS_OF_RULES = re.compile(r".{0,3}[\u0600-\u06ff\u0900-\u097f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
"""What forms say of a password in scripts that passwords are not typed in: ``at least 8 signs``."""
MIN_UNMARKED = 6


def labelled_secrets(scan: Scan) -> Iterator[Span]:
    """Find secrets after a name that announces them: assignments, JSON and YAML pairs, connection strings, prose.

    A value needs proof that grows as the name weakens; masks, templates, samples and code reads stay.
    """
    done = 0
    for stem in LABEL_STEMS.finditer(scan.lowered):
        if stem.start() < done:
            continue
        is_native = NATIVE_PASSWORDS.fullmatch(stem[0]) is not None
        start, done = stem.span() if is_native else _name_at(scan.text, stem.start(), stem.end())
        name = scan.text[start:done]
        if name.lower() in ("key", "passe", "token", "secret"):
            qualifier = _QUALIFIER_BEFORE.search(scan.lowered, max(0, start - 12), start)
            name = f"{qualifier[1]} {name}" if qualifier else name
        strength = secret_name(name)
        if strength is None:
            continue
        for span in _value_after(scan, name, start, done, strength):
            done = max(done, span.end)
            yield span
        if is_native and done == stem.end():
            yield from _unmarked(scan, done)


def _unmarked(scan: Scan, start: int) -> Iterator[Span]:
    """Find what follows a word for passwords at once, or words of whose, if it cannot be the next word of the text."""
    found = _UNMARKED.match(scan.text, start)
    value = found["value"].rstrip(".,!?)") if found else ""
    if (
        found is None
        or len(value) < MIN_UNMARKED
        or ALGORITHM.fullmatch(value)
        or scan.is_own_token(start, found.end())
    ):
        return
    if any(map(str.isdigit, value)) and any(map(str.isalpha, value)) and is_secret(value, "password", is_sure=False):
        yield Span(found.start("value"), found.start("value") + len(value), SECRET, value)


def _name_at(text: str, start: int, end: int) -> tuple[int, int]:
    before = _NAME_BEFORE.search(text, max(0, start - 60), start)
    after = _NAME_AFTER.match(text, end)
    stop = after.end() if after else end
    while stop > end and text[stop - 1] in ".-":
        stop -= 1
    return before.start() if before else start, stop


def _value_after(scan: Scan, name: str, start: int, end: int, strength: Strength) -> Iterator[Span]:
    text = scan.text
    found = _SEPARATOR.match(text, end)
    if found is None:
        return
    bearer = name.lower() == "bearer"
    is_flag = text.startswith("--", start)
    if found["xml"] is not None and text[max(0, start - 1) : start] != "<":
        return
    at = found.end()
    if found["none"] is not None and not (bearer or is_flag or found["quote"]):
        return
    if found["quote"]:
        value = _quoted(text, at, found["quote"])
        is_sure = found["none"] is None
    else:
        value, is_sure = _unquoted(text, at, found, strength)
    if not value or scan.is_own_token(at, at + len(value)):
        return
    if found["quote"] is None and _is_expression(name, value):
        return
    if strength == "login" or bearer:
        yield from _login(text, at, value)
    elif is_secret(value, strength, is_sure=is_sure):
        yield Span(at, at + len(value), SECRET, value)


def _quoted(text: str, start: int, quote: str) -> str:
    """Return what stands before the closing quote; a backslash keeps the quote after it open."""
    closing = _CLOSING.get(quote, quote)
    limit = min(len(text), start + MAX_VALUE)
    at = start
    while at < limit:
        if text.startswith(closing, at):
            return text[start:at]
        if text[at] == "\n":
            break
        at += 2 if text[at] == "\\" and len(closing) == 1 else 1
    return ""


def _unquoted(text: str, start: int, found: re.Match[str], strength: Strength) -> tuple[str, bool]:
    """Return a value that ends at white space or a delimiter, and whether its place alone makes it sure."""
    if found["xml"] is not None:
        end = text.find("</", start, start + MAX_VALUE)
        return (text[start:end] if end >= 0 else ""), True
    bare = _BARE.match(text, start)
    if bare is None or _WORDS_OF_RULES.match(bare[0]):
        return "", False
    if strength == "login" and (scheme := _SCHEME_WORD.match(text, start)):
        token = _BEARER.match(text, scheme.end())
        return (text[start : token.end()] if token else ""), False
    value = bare[0].rstrip(".!?)]}*\\:")
    tight = found["is"] is None and not found["gap"] and "=" in found[0]
    rest = text[bare.end() : bare.end() + 1]
    return value, tight or (found["is"] is None and len(value) >= 6 and rest in ("", "\n", "\r"))


def _login(text: str, start: int, value: str) -> Iterator[Span]:
    """Yield the secret of ``Bearer …``, ``Basic …`` or ``user:password``."""
    scheme = _SCHEME_WORD.match(value)
    if scheme:
        start, value = start + scheme.end(), value[scheme.end() :]
        token = _BEARER.match(value)
        value = token[0] if token else ""
        if is_secret(value, "key", is_sure=False) or (len(value) >= 12 and not value.islower() and value.isalpha()):
            yield Span(start, start + len(value), SECRET, value)
        return
    user, colon, password = value.partition(":")
    if colon and password and is_secret(password, "password", is_sure=True) and "/" not in user:
        if user and "@" not in user and user.lower() not in SERVICE_ACCOUNTS and not is_placeholder(user):
            yield Span(start, start + len(user), USERNAME, user.lower())
        yield Span(start + len(user) + 1, start + len(value), SECRET, password)
    elif not colon and len(value) >= 16 and is_secret(value, "key", is_sure=False):
        yield Span(start, start + len(value), SECRET, value)


def is_secret(value: str, strength: Strength, *, is_sure: bool) -> bool:
    """Tell whether a value proves to be a secret after a name of the given strength.

    ``is_sure``: quotes, ``=`` without spaces, or the end of the line leave no doubt that it is the value.
    """
    if len(value) < 3 or is_placeholder(value) or _PATH.fullmatch(value):
        return False
    wordlike = _WORDLIKE.fullmatch(value) is not None
    mixed = any(c.isdigit() for c in value) or any(not c.isalnum() for c in value)
    if strength == "password":
        if " " in value:
            return is_sure and not _SENTENCE.search(value)
        return (mixed and not wordlike) or (is_sure and len(value) >= 4) or _is_mixed_case(value)
    if " " in value or ALGORITHM.fullmatch(value):
        return False
    has_both = any(c.isdigit() for c in value) and any(c.isalpha() for c in value)
    return len(value) >= 8 and (has_both or (is_sure and len(value) >= 16 and (mixed or _is_mixed_case(value))))


_SENTENCE = re.compile(r"passwor|characters|your |must |the |enter |\bis\b|at least|for ", re.IGNORECASE)


def _is_mixed_case(value: str) -> bool:
    return value[1:] != value[1:].lower() and value != value.upper()


def _is_expression(name: str, value: str) -> bool:
    if is_code_read(value) or value.lower() == name.lower():
        return True
    return value.replace("_", "a").isalpha() and any(word.startswith("pass") for word in words_of(value))
