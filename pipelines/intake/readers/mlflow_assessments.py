"""MLflow's assessments: feedback of persons, judges and code about a trace, and the answers that were expected.

Source: mlflow, entities/assessment.py; the REST form says ``assessment_name`` and ``create_time``.
"""

from __future__ import annotations

from typing import Any

from pipelines.intake.items import Rating
from pipelines.intake.readers.feedback_names import thumb_of
from pipelines.intake.shape import optional_number, optional_object, optional_text, optional_time
from pipelines.intake.texts import join_texts
from pipelines.intake.tool_arguments import compact_json

EXPECTED_ANSWER = "expected_response"
PERSON = "HUMAN"


def read_assessment(assessment: dict[str, Any]) -> Rating | None:
    """Read one assessment, without its target; None where a judge failed. Raises BadShape for another type.

    A person's yes or no under a name of user feedback is a thumb, an expected answer an edit, a number a score.
    """
    name = optional_text(assessment, "name") or optional_text(assessment, "assessment_name") or ""
    created_at = optional_time(assessment, "create_time_ms") or optional_time(assessment, "create_time")
    rationale = optional_text(assessment, "rationale") or ""
    expected = optional_object(assessment, "expectation")
    given = expected if expected is not None else optional_object(assessment, "feedback")
    value = (given or {}).get("value")
    if value is None:
        return None
    rating = Rating("evaluation", measure=name or None, created_at=created_at)
    if isinstance(value, bool):
        person = (optional_object(assessment, "source") or {}).get("source_type") == PERSON
        thumb = thumb_of(name, value) if person and expected is None else None
        rating.value = float(value) if thumb is None else thumb
        rating.kind, rating.measure = ("evaluation", rating.measure) if thumb is None else ("thumb", None)
    elif isinstance(value, (int, float)):
        rating.kind, rating.value = "score", optional_number({"value": value}, "value")
    else:
        text = value if isinstance(value, str) else compact_json(value, "value")
        if expected is not None and name == EXPECTED_ANSWER:
            rating.kind, rationale = "edit", ""
        rating.text = join_texts((text, rationale)) or None
        return rating
    rating.text = rationale or None
    return rating
