"""Ages over 89."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipelines.privacy.scan import AGE, Scan, Span

_NUMBER = r"(?P<n>9[0-9]|1[0-2][0-9])"
_AGE = re.compile(
    rf"(?<![\w.,/-]){_NUMBER}(?:[ -]?(?:years?|yrs?|y)[ -]?(?:old|of age|o)\b| ?(?:y/o|yo|yof|yom)\b|[ -]year-old"
    r"| ?(?:jahre? alt|-?jährige?[rsnm]?\b|años|ans\b|anni\b|anos\b|jaar\b|-?jarige?\b|lat\b|lata\b|-?letni\w{0,3}"
    r"|лет\b|года?\b|岁|歳|살|세|سنة|عام|साल|वर्ष))"
)
_LABELLED = re.compile(
    rf"\b(?:ages?d?|alter|edad|[âa]ge|idade|et[àa]|leeftijd|wiek|возраст)(?: (?:of|is|was|ist|es|est"
    rf"|è))?[\s:=\"-]{{1,4}}{_NUMBER}(?![\w%/]|[.,-][0-9])"
    r"|(?:年龄|年齢|나이|العمر|उम्र)[\s:：]{0,3}(?P<m>9[0-9]|1[0-2][0-9])(?![0-9])"
)


def high_ages(scan: Scan) -> Iterator[Span]:
    """Find ages of 90 to 129 years (45 CFR 164.514(b)(2)(i)(C)); the span is the number. Canonical: the number."""
    for pattern in (_AGE, _LABELLED):
        for found in pattern.finditer(scan.lowered):
            group = "n" if found["n"] else "m"
            yield Span(found.start(group), found.end(group), AGE, found[group])
    if (
        scan.label in ("age", "Age", "edad", "alter", "patient_age")
        and scan.text.isdigit()
        and 90 <= int(scan.text[:4]) < 130
    ):
        yield Span(0, len(scan.text), AGE, scan.text)
