"""Invented values that reach nobody and pass the checks of real ones, in shapes of their own.

Sources of the ranges: telephone numbers kept for drama by NANPA, Ofcom, BNetzA and ARCEP, elsewhere the example numbers
of libphonenumber's metadata; networks 28/8 and 2d00::/8 without customers; bank codes that no bank has; births before
1911 inside national ids. Card prefixes are those of the networks' own test ranges.
"""

from __future__ import annotations

import base64
import hashlib
import string
from random import Random

from stdnum import iban, luhn

LETTERS_AND_DIGITS = string.ascii_letters + string.digits
_CARDS = (("400002", 16), ("520082", 16), ("222300", 16), ("601100", 16), ("371449", 15), ("305693", 14))
_GROUPS = {14: (4, 6, 4), 15: (4, 6, 5), 16: (4, 4, 4, 4)}
_BANKS = {"DE": "99999998", "ES": "9999999", "FR": "9999999999", "IT": "X9999999999", "BE": "999", "PT": "99999999"}
_ACCOUNT_DIGITS = {"DE": 10, "ES": 13, "FR": 13, "IT": 12, "BE": 9, "PT": 13}
_KEYS = (
    ("sk-ant-api03-", LETTERS_AND_DIGITS, 40),
    ("xoxb-", string.digits, 24),
    ("hf_", string.ascii_letters, 34),
    ("npm_", LETTERS_AND_DIGITS, 36),
    ("gho_", LETTERS_AND_DIGITS, 36),
    ("ASIA", string.ascii_uppercase + "234567", 16),
    ("rk_live_", LETTERS_AND_DIGITS, 24),
    ("dop_v1_", "0123456789abcdef", 64),
)
_SYLLABLES = ["ba", "ke", "lo", "mi", "nu", "ra", "se", "ti", "vo", "zu", "da", "fe", "gi", "ho", "ju"]


def card(random: Random) -> str:
    """Return a payment card number with a right Luhn digit, in one of its written forms."""
    prefix, size = random.choice(_CARDS)
    body = prefix + digits(random, size - 1 - len(prefix))
    number = body + str(luhn.calc_check_digit(body))
    return grouped(number, _GROUPS[size], random.choice((" ", "-", "", " ")))


def bank_iban(random: Random) -> str:
    """Return an IBAN with right check digits of a bank that is none, plain, spaced or in lower case."""
    country = random.choice(sorted(_BANKS))
    account = _BANKS[country] + digits(random, _ACCOUNT_DIGITS[country])
    number = f"{country}{iban.calc_check_digits(f'{country}00{account}')}{account}"
    return random.choice((number, grouped(number, (4,) * 9, " "), number.lower(), grouped(number, (4,) * 9, " ")))


def api_key(random: Random) -> str:
    """Return a key in the shape of a well-known service, or a JSON web token."""
    if random.random() < 0.15:
        parts = (b'{"alg":"HS256","typ":"JWT"}', f'{{"sub":"{digits(random, 8)}"}}'.encode(), random.randbytes(32))
        return ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts)
    prefix, alphabet, size = random.choice(_KEYS)
    return prefix + "".join(random.choices(alphabet, k=size))


def password(random: Random) -> str:
    """Return a password as people and generators write them: letters, digits and a mark."""
    word = pseudo_word(random, 3)
    if random.random() < 0.5:
        return f"{word.title()}{random.choice('!#%*?')}{random.randrange(10, 9999)}"
    return "".join(random.choices(LETTERS_AND_DIGITS, k=12))


def ip_address(random: Random) -> str:
    """Return an IPv4 or IPv6 address without customers."""
    if random.random() < 0.3:
        return "2d00:" + ":".join(f"{random.randrange(4096, 65536):x}" for _ in range(7))
    return ".".join(("28", *(str(random.randrange(1, 255)) for _ in range(3))))


def mac_address(random: Random) -> str:
    """Return a locally administered MAC address."""
    return ":".join(["0a", *(f"{random.randrange(256):02x}" for _ in range(5))])


def passport(random: Random) -> str:
    """Return two letters and seven digits."""
    return "".join(random.choices("CFGHJKLMNPRTVWXYZ", k=2)) + digits(random, 7)


def number_plate(random: Random) -> str:
    """Return letters and digits as plates have them."""
    return f"{''.join(random.choices('BDKMPRSW', k=2))}-{''.join(random.choices('ACEGHX', k=2))} {digits(random, 3)}"


def bitcoin_address(random: Random) -> str:
    """Return a base58check address of no known key."""
    payload = b"\x00" + random.randbytes(20)
    checked = payload + hashlib.sha256(hashlib.sha256(payload).digest()).digest()[:4]
    alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
    number, text = int.from_bytes(checked, "big"), ""
    while number:
        number, rest = divmod(number, 58)
        text = alphabet[rest] + text
    return "1" + text


def pseudo_word(random: Random, syllables: int) -> str:
    """Return a word of no language."""
    return "".join(random.choices(_SYLLABLES, k=syllables))


def digits(random: Random, count: int) -> str:
    """Return digits, the first not 0."""
    return random.choice("123456789") + "".join(random.choices(string.digits, k=count - 1))


def filled(random: Random, form: str) -> str:
    """Return a form with each ``#`` as a digit."""
    return "".join(random.choice(string.digits) if letter == "#" else letter for letter in form)


def grouped(text: str, sizes: tuple[int, ...], separator: str) -> str:
    """Return a text cut into groups."""
    parts, done = [], 0
    for size in sizes:
        parts.append(text[done : done + size])
        done += size
    return separator.join(part for part in parts if part)
