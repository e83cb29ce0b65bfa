"""Which detector finds names and addresses under a policy."""

from __future__ import annotations

from pipelines.privacy.policy import Policy
from pipelines.privacy.scan import ADDRESS, PERSON
from pipelines.privacy.span_source import SpanSource


def span_source(policy: Policy) -> SpanSource | None:
    """Return the tagger that ships with the package, loaded once a process; None where the policy asks for neither."""
    if policy.types.isdisjoint((PERSON, ADDRESS)):
        return None
    from pipelines.privacy.tagger.tag import shipped_tagger

    return shipped_tagger()
