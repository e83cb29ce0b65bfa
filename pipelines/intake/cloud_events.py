"""CloudEvents around a log entry: the event's data is the log, its attributes are about the transport.

Source: CloudEvents 1.0, JSON event format and Kafka protocol binding. In binary mode the value is the data already and
the attributes are ``ce_`` headers, so that nothing is left to do; the binding has no batches.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any

from pipelines.intake.decode import BYTE_ORDER_MARK, Undecodable, encode_element, load_json
from schemas.records import DeadReason

REQUIRED = ("specversion", "type", "source")
CONTENT_TYPE = "content-type"
_MEDIA_TYPE = b"application/cloudevents"
_PROBE = b'"specversion"'

PROBED_BYTES = 256
"""Where the probe looks, at either end, unless the content type tells: SDKs write the attributes before the data or
after it, and a search of the whole record would cost more than parsing its JSON does."""


def may_be_event(value: bytes, headers: Mapping[str, bytes]) -> bool:
    """Tell cheaply that most values are no event in structured JSON mode."""
    if value.find(_PROBE, 0, PROBED_BYTES) >= 0 or value.find(_PROBE, -PROBED_BYTES) >= 0:
        return True
    content_type = headers.get(CONTENT_TYPE) if headers else None
    return content_type is not None and content_type[: len(_MEDIA_TYPE)].lower() == _MEDIA_TYPE


def event_data(value: bytes, headers: Mapping[str, bytes]) -> bytes | None:
    """Return the data of an event in structured JSON mode; None when ``value`` is no such event.

    A string as ``data`` is taken as the text that it holds, ``data_base64`` as its bytes. Raises Undecodable
    (``bad_shape``) for data that is not base64.
    """
    if not may_be_event(value, headers):
        return None
    event = _event_of(value)
    if event is None:
        return None
    if "data_base64" in event:
        return _from_base64(event["data_base64"])
    data = event["data"]
    if isinstance(data, str):
        return data.encode("utf-8", "surrogatepass")
    return encode_element(data)


def _event_of(value: bytes) -> dict[str, Any] | None:
    try:
        event, _ = load_json(value.removeprefix(BYTE_ORDER_MARK))
    except Undecodable:
        return None
    if not isinstance(event, dict) or not all(isinstance(event.get(name), str) for name in REQUIRED):
        return None
    return event if "data" in event or "data_base64" in event else None


def _from_base64(text: Any) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (TypeError, ValueError, binascii.Error):
        raise Undecodable(DeadReason.BAD_SHAPE, "data_base64 of the CloudEvent must be base64") from None
