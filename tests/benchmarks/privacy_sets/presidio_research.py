"""The two synthetic sets of presidio-research (MIT): short English sentences, and a larger and older one."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import orjson
from privacy_sets.labelled import DataMissing, Gold, LabelledSet, Sample

FILES = {"presidio-research": "synth_dataset_v2.json", "presidio-research-large": "generated_large.json"}
LABELS = {
    "PERSON": "PERSON",
    "STREET_ADDRESS": "ADDRESS",
    "ADDRESS": "ADDRESS",
    "GPE": "PLACE",
    "LOCATION": "PLACE",
    "ORGANIZATION": "ORGANISATION",
    "CREDIT_CARD": "CREDIT_CARD",
    "DATE_TIME": "DATE",
    "TITLE": "TITLE",
    "PREFIX": "TITLE",
    "AGE": "AGE",
    "NRP": "NATIONALITY",
    "ZIP_CODE": "POSTAL_CODE",
    "DOMAIN_NAME": "WEB_ADDRESS",
    "EMAIL_ADDRESS": "EMAIL",
    "PHONE_NUMBER": "PHONE",
    "IBAN_CODE": "IBAN",
    "US_SSN": "SSN",
    "US_DRIVER_LICENSE": "DRIVING_LICENCE",
    "IP_ADDRESS": "IP_ADDRESS",
}


def read(data: Path, name: str) -> LabelledSet:
    """Read one of ``FILES``, plain or gzipped, below ``data``; offsets are code points. Raises ``DataMissing``."""
    samples = tuple(_sample(record) for record in orjson.loads(_content(data, FILES[name])))
    return LabelledSet(name, samples, LABELS)


def _content(data: Path, file: str) -> bytes:
    for path in (data / "presidio-research" / file, data / "presidio-research" / f"{file}.gz"):
        if path.is_file():
            raw = path.read_bytes()
            return gzip.decompress(raw) if path.suffix == ".gz" else raw
    raise DataMissing(f"wanted presidio-research/{file}, plain or gzipped, under the data folder, found none")


def _sample(record: dict[str, Any]) -> Sample:
    spans = sorted((one["start_position"], one["end_position"], one["entity_type"]) for one in record["spans"] or ())
    gold = tuple(Gold(start, end, LABELS.get(label, "OTHER")) for start, end, label in spans)
    return Sample(record["full_text"], gold)
