"""MEDDOCAN's train part (CC BY 4.0): Spanish clinical cases with invented health identifiers, marked by hand."""

from __future__ import annotations

import tarfile
from pathlib import Path

from privacy_sets.labelled import DataMissing, Gold, LabelledSet, Sample

NAME = "meddocan"
FILE = "meddocan/meddocan-train-brat.tar.gz"
LABELS = {
    "NOMBRE_SUJETO_ASISTENCIA": "PERSON",
    "NOMBRE_PERSONAL_SANITARIO": "PERSON",
    "CALLE": "ADDRESS",
    "TERRITORIO": "PLACE",
    "PAIS": "PLACE",
    "FECHAS": "DATE",
    "EDAD_SUJETO_ASISTENCIA": "AGE",
    "SEXO_SUJETO_ASISTENCIA": "SEX",
    "ID_SUJETO_ASISTENCIA": "MEDICAL_RECORD",
    "ID_ASEGURAMIENTO": "MEDICAL_RECORD",
    "ID_CONTACTO_ASISTENCIAL": "MEDICAL_RECORD",
    "ID_TITULACION_PERSONAL_SANITARIO": "LICENCE_NUMBER",
    "CORREO_ELECTRONICO": "EMAIL",
    "NUMERO_TELEFONO": "PHONE",
    "NUMERO_FAX": "PHONE",
    "HOSPITAL": "ORGANISATION",
    "CENTRO_SALUD": "ORGANISATION",
    "INSTITUCION": "ORGANISATION",
    "FAMILIARES_SUJETO_ASISTENCIA": "RELATIVE",
    "PROFESION": "PROFESSION",
    "OTROS_SUJETO_ASISTENCIA": "OTHER",
}


def read(data: Path) -> LabelledSet:
    """Read all notes below ``data``, in the order of their names. Raises ``DataMissing``."""
    path = data / FILE
    if not path.is_file():
        raise DataMissing(f"wanted {FILE} under the data folder, found none")
    with tarfile.open(path) as archive:
        files = {member.name: archive.extractfile(member) for member in archive if member.isfile()}
        content = {name: file.read().decode() for name, file in files.items() if file}
    notes = sorted(name.removesuffix(".txt") for name in content if name.endswith(".txt"))
    samples = tuple(_sample(content[f"{note}.txt"], content[f"{note}.ann"]) for note in notes)
    return LabelledSet(NAME, samples, LABELS)


def _sample(text: str, marks: str) -> Sample:
    gold = []
    for line in marks.splitlines():
        if line.startswith("T"):
            label, start, end = line.split("\t")[1].split(" ")
            gold.append(Gold(int(start), int(end), LABELS.get(label, "OTHER")))
    return Sample(text, tuple(sorted(gold, key=lambda one: one.start)), language="es")
