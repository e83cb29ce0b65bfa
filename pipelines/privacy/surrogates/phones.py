"""Phone numbers out of the blocks that regulators keep for fiction."""

from __future__ import annotations

from collections.abc import Mapping

from pipelines.privacy.surrogates.draws import Draws

_AREAS = (
    201, 203, 207, 208, 216, 217, 219, 224, 225, 228, 229, 231, 234, 239, 240, 248, 251, 252, 253, 254, 256, 260, 262,
    267, 269, 270, 301, 304, 307, 308, 309, 313, 314, 315, 316, 317, 318, 319, 320, 321, 330, 334, 336, 337, 339, 352,
    360, 361, 385, 386, 401, 402, 405, 406, 407, 409, 410, 412, 413, 414, 417, 419, 423, 425, 430, 432, 434, 435, 440,
    443, 458, 469, 478, 479, 480, 484, 501, 502, 504, 505, 507, 508, 509, 513, 515, 516, 517, 518, 520, 530, 540, 541,
    559, 561, 563, 567, 570, 571, 573, 574, 575, 580, 585, 586, 601, 603, 605, 606, 607, 608, 609, 610, 612, 614, 615,
    616, 618, 619, 620, 623, 630, 631, 636, 641, 650, 651, 660, 661, 662, 678, 682, 701, 703, 704, 706, 707, 712, 714,
    715, 716, 717, 719, 720, 724, 727, 731, 732, 734, 740, 747, 754, 757, 760, 763, 765, 770, 772, 773, 774, 775, 781,
    785, 786, 801, 802, 803, 804, 805, 806, 810, 812, 813, 814, 815, 816, 817, 828, 830, 831, 832, 843, 845, 847, 850,
    856, 857, 858, 859, 860, 862, 863, 864, 865, 870, 901, 903, 904, 906, 907, 908, 909, 910, 912, 913, 914, 915, 916,
    918, 919, 920, 925, 928, 931, 936, 937, 940, 941, 947, 949, 951, 952, 954, 956, 970, 971, 972, 973, 978, 979, 980,
    985, 989,
)  # fmt: skip
_AMERICAN = tuple(f"{area}55501" for area in _AREAS)
_BLOCKS: Mapping[str, tuple[tuple[str, int], ...]] = {
    "1": tuple((block, 10) for block in _AMERICAN),
    "44": (
        ("1134960", 10), ("1144960", 10), ("1154960", 10), ("1164960", 10), ("1174960", 10), ("1184960", 10),
        ("1214960", 10), ("1314960", 10), ("1414960", 10), ("1514960", 10), ("1614960", 10), ("1914980", 10),
        ("1632960", 10), ("7700900", 10),
    ),
    "49": (("6990009", 10), ("4066969", 10), ("8999998", 10)),
    "33": (("63998", 9),),
    "46": (("3139006", 9), ("4062804", 9)),
    "61": (("270100", 9), ("370100", 9), ("770100", 9), ("870100", 9)),
    "353": (("2091", 9),),
}  # fmt: skip
"""Country code -> national blocks with the length of a number: NANPA 555-01XX, Ofcom, BNetzA, ARCEP, PTS, ACMA, ComReg.

Elsewhere no block is kept free.
"""


def phone(text: str, canonical: str, draws: Draws) -> str | None:
    """Return a number that reaches nobody, in the country and, where the digits fit, the grouping of ``text``.

    ``canonical`` is E.164, with ``;`` and an extension where there is one. None for a country without such numbers.
    """
    number, _, extension = canonical.partition(";")
    country = next((code for code in _BLOCKS if number.startswith(f"+{code}")), None)
    if country is None:
        return None
    block, size = draws.one_of(_BLOCKS[country], "PHONE", "block", number)
    national = block + draws.digits(size - len(block), "PHONE", number)
    own = "".join(c for c in text if c.isdigit())
    prefix = _prefix(own, number[1 + len(country) :], extension)
    if prefix is None:
        return None
    drawn = prefix + national + (draws.digits(len(extension), "PHONE", "extension", canonical) if extension else "")
    return _poured(text, drawn) if len(drawn) == len(own) else _joined(text, prefix, country, national, extension)


def _prefix(own: str, national: str, extension: str) -> str | None:
    """Return the digits before the national number as they are written: country code, 00, trunk 0 or none."""
    end = len(own) - len(extension)
    place = own.find(national)
    return own[:place] if place >= 0 and place + len(national) == end else None


def _poured(text: str, digits: str) -> str:
    rest = iter(digits)
    return "".join(next(rest) if c.isdigit() else c for c in text)


def _joined(text: str, prefix: str, country: str, national: str, extension: str) -> str:
    """Write a number of another length: the area and the rest parted by a space where ``text`` has separators."""
    gap = " " if any(c in " -./()" for c in text) else ""
    start = f"+{country}{gap}" if text.lstrip("( ").startswith("+") else prefix
    return f"{start}{national[:2]}{gap}{national[2:]}" + (f" ext. {extension}" if extension else "")
