"""Who sent a record, whose it is and what it may be used for, as its Kafka headers say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pipelines.intake.formats import FORMAT_OF_NAME, LogFormat
from schemas.records import (
    CONSENT_HEADER,
    CONVERSATION_HEADER,
    FORMAT_HEADER,
    STREAM_HEADER,
    TENANT_HEADER,
    USER_HEADER,
    DeadReason,
)
from schemas.shared_columns import CONSENTS

DEFAULT_TENANT = "default"
DEFAULT_STREAM = "default"
STRICTEST_CONSENT = "none"


@dataclass(frozen=True, slots=True)
class Ownership:
    """What the headers of a record say; None leaves it to the log's own field."""

    tenant: str = DEFAULT_TENANT
    stream: str = DEFAULT_STREAM
    user_id: str | None = None
    conversation_id: str | None = None
    consent: str | None = None
    log_format: LogFormat | None = None


NOBODY_NAMED = Ownership()


class BadHeader(Exception):  # noqa: N818 - the name of the outcome
    """A header of ours cannot be used. ``tenant`` is the record's where that header could be read."""

    def __init__(self, reason: DeadReason, detail: str, tenant: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail
        self.tenant = tenant


def read_ownership(headers: Mapping[str, bytes]) -> Ownership:
    """Read our headers; a header without value counts as not given, others are ignored.

    Raises BadHeader: ``bad_header`` for one that is empty, not UTF-8 or holds NUL, or names an unknown format;
    ``unknown_consent``.
    """
    if not headers:
        return NOBODY_NAMED
    tenant = _text(headers, TENANT_HEADER, DEFAULT_TENANT) or DEFAULT_TENANT
    consent = _text(headers, CONSENT_HEADER, tenant)
    if consent is not None:
        check_consent(consent, CONSENT_HEADER, tenant)
    name = _text(headers, FORMAT_HEADER, tenant)
    log_format = None
    if name is not None:
        log_format = FORMAT_OF_NAME.get(name)
        if log_format is None:
            wanted = ", ".join(FORMAT_OF_NAME)
            raise BadHeader(DeadReason.BAD_HEADER, f"{FORMAT_HEADER} must be one of {wanted}", tenant)
    return Ownership(
        tenant,
        _text(headers, STREAM_HEADER, tenant) or DEFAULT_STREAM,
        _text(headers, USER_HEADER, tenant),
        _text(headers, CONVERSATION_HEADER, tenant),
        consent,
        log_format,
    )


def check_consent(consent: str, where: str, tenant: str) -> None:
    """Pass one of the three consents. Raises BadHeader (``unknown_consent``), which names ``where``, not the value."""
    if consent not in CONSENTS:
        raise BadHeader(DeadReason.UNKNOWN_CONSENT, f"{where} must be one of {', '.join(CONSENTS)}", tenant)


def _text(headers: Mapping[str, bytes], name: str, tenant: str) -> str | None:
    raw = headers.get(name)
    if raw is None:
        return None
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        raise BadHeader(DeadReason.BAD_HEADER, f"{name} is not UTF-8", tenant) from None
    if not text.strip() or "\0" in text:
        raise BadHeader(DeadReason.BAD_HEADER, f"{name} is empty or holds NUL", tenant)
    return text
