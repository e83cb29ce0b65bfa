"""Which detector finds names and addresses under a policy."""

from __future__ import annotations

from pipelines.privacy.policy import Policy
from pipelines.privacy.scan import ADDRESS, ORGANISATION, PERSON, PLACE
from pipelines.privacy.second_look import TwoSources
from pipelines.privacy.span_source import SpanSource


def span_source(policy: Policy) -> SpanSource | None:
    """Return the tagger that ships with the package, with the policy's second look where it has one.

    None where the policy asks for nothing that they find. Raises TokenClassifierError for a model that cannot be used.
    """
    wanted = {PERSON, ADDRESS} if policy.second_look is None else {PERSON, ADDRESS, ORGANISATION, PLACE}
    if policy.types.isdisjoint(wanted):
        return None
    from pipelines.privacy.tagger.tag import shipped_tagger

    if policy.second_look is None:
        return shipped_tagger()
    from pipelines.privacy.token_classifier import TokenClassifier

    look = policy.second_look
    return TwoSources(shipped_tagger(), TokenClassifier(look.model, look.labels).load(), look.texts)
