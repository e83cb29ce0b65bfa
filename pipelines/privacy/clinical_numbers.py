"""Numbers of patients, cases, insured persons, practitioners and devices by their label."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipelines.privacy.bank_detectors import passes_luhn
from pipelines.privacy.labelled_values import Labelled, compact, labelled_values, of_size
from pipelines.privacy.prefilter import CLINICAL
from pipelines.privacy.scan import DEVICE_ID, LICENCE_NUMBER, MEDICAL_RECORD, Scan, Span

_RECORD = re.compile(
    r"\b(?:mrn|medical record|med rec|health record|patient (?:id|no|number|identifier|record)|chart (?:no|number|#)"
    r"|hospital number|accession(?: no| number)?"
    r"|health plan|(?:policy|member|subscriber|beneficiary|insurance) (?:id|no|number)|claim (?:no|number)"
    r"|patienten?-?(?:id|nummer|nr)|fall-?(?:nummer|nr)|aufnahme-?(?:nummer|nr)|akten-?(?:nummer|nr|zeichen)"
    r"|n\.?h\.?c|historia cl[ií]nica|nº? ?historia|episodio|n[uú]mero de asegurado|dossier m[eé]dical"
    r"|num[eé]ro de (?:dossier|patient)|\bipp\b"
    r"|cartella clinica|numero (?:di )?paziente|prontu[aá]rio|processo cl[ií]nico|n[uú]mero de utente|utente"
    r"|pati[eë]nt-?nummer|dossiernummer|polis-?nummer|numer (?:kartoteki|pacjenta)|historii choroby)(?![^\W_])"
    r"|病历号?|病歷號?|住院号|カルテ番号|患者番号|환자번호|رقم المريض|номер (?:карты|истории)|история болезни|मरीज संख्या"
)
_PRACTITIONER = re.compile(
    r"\b(?:npi|national provider|dea(?: number| no| #)|medical licen[cs]e|licen[cs]e (?:no|number)|certificate (?:no"
    r"|number)|lanr|arztnummer"
    r"|(?:n[º°o]\.? ?)?col(?:egiado|egiada)?\.?(?= ?[:nº°0-9])|num[eé]ro rpps|rpps|big-?nummer|crm[/ -][a-z]{2}"
    r"|prawo wykonywania zawodu|pwz)(?![^\W_])"
)
_DEVICE = re.compile(
    r"\b(?:(?:device|implant|pacemaker|pump|serial|product serial) ?(?:serial)? ?(?:id|no|number|#)|serial|s/n|udi"
    r"|seriennummer|ger[aä]te-?(?:nummer|nr|id)"
    r"|n[uú]mero de (?:serie|s[eé]rie)|num[eé]ro de s[eé]rie|numero di serie|numero seriale|serienummer"
    r"|numer seryjny)(?![^\W_])"
    r"|序列号|製造番号|シリアル番号|серийный номер|일련번호|الرقم التسلسلي"
)


def is_npi(value: str) -> bool:
    """Tell whether ten digits are a US provider number: Luhn with 80840 before them (45 CFR 162.406)."""
    digits = compact(value)
    return len(digits) == 10 and digits.isdigit() and digits[0] in "12" and passes_luhn("80840" + digits)


def _is_licence(value: str) -> bool:
    return is_npi(value) or of_size(5, 14, 4)(value)


_RULES = (
    Labelled(MEDICAL_RECORD, _RECORD, of_size(4, 20, 3)),
    Labelled(LICENCE_NUMBER, _PRACTITIONER, _is_licence),
    Labelled(DEVICE_ID, _DEVICE, of_size(6, 24, 3)),
)


def clinical_numbers(scan: Scan) -> Iterator[Span]:
    """Find record, plan, licence and device numbers (45 CFR 164.514(b)(2)(i) H to K, M) after their label.

    Canonical: capitals and digits alone.
    """
    yield from labelled_values(scan, CLINICAL, _RULES)
