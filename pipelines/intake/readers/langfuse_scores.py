"""Langfuse's scores: verdicts of persons, judges and programs, inside a trace or by themselves.

Source: langfuse, fern/apis/server/definition/commons.yml. ``source`` tells who scored: API and ANNOTATION can be a
person, EVAL is a judge.
"""

from __future__ import annotations

from typing import Any

from pipelines.intake.items import Rating
from pipelines.intake.readers.feedback_names import thumb_of
from pipelines.intake.readers.langfuse_keys import field, id_of, text_of, time_of
from pipelines.intake.shape import optional_number, wrong_type
from pipelines.intake.texts import join_texts

DATA_TYPES = ("NUMERIC", "BOOLEAN", "CATEGORICAL", "CORRECTION", "TEXT")
PERSONAL_SOURCES = (None, "API", "ANNOTATION")


def read_score(score: dict[str, Any]) -> Rating:
    """Read one score, without its target. A yes or no by a person is a thumb, a corrected answer an edit.

    NUMERIC is a score, anything else an evaluation with its label as text; ``measure`` is the score's name. Raises
    BadShape for a field of another type.
    """
    name = text_of(score, "name") or ""
    rating = Rating("evaluation", measure=name or None, created_at=time_of(score, "timestamp"))
    label, comment = text_of(score, "stringValue"), text_of(score, "comment")
    value = score.get("value")
    if isinstance(value, str):
        label = label or value
    elif isinstance(value, bool):
        rating.value = float(value)
    else:
        rating.value = optional_number(score, "value")
    data_type = text_of(score, "dataType") or ("NUMERIC" if rating.value is not None else "CATEGORICAL")
    if data_type not in DATA_TYPES:
        raise wrong_type("dataType", f"one of {', '.join(DATA_TYPES)}", data_type)
    if data_type == "BOOLEAN":
        _read_yes_or_no(rating, name, label, field(score, "source"))
        label = None
    elif data_type == "NUMERIC":
        rating.kind = "score" if rating.value is not None else "evaluation"
    elif data_type == "CORRECTION" and label:
        rating.kind, rating.value, comment = "edit", None, None
    rating.text = join_texts((label or "", comment or "")) or None
    return rating


def response_id_of(score: dict[str, Any]) -> str | None:
    """Return the id of the observation that is judged, which its reply carries; None where the trace is."""
    return id_of(score, "observationId")


def _read_yes_or_no(rating: Rating, name: str, label: str | None, source: Any) -> None:
    if rating.value is None and label is not None:
        rating.value = 1.0 if label.lower() == "true" else 0.0
    if rating.value is not None and source in PERSONAL_SOURCES:
        thumb = thumb_of(name, rating.value > 0)
        if thumb is not None:
            rating.kind, rating.value, rating.measure = "thumb", thumb, None
