"""A judge model behind an endpoint that speaks OpenAI's chat completions (``POST /v1/chat/completions``).

What leaves the machine are questions about rows of a dataset version, personal data replaced at intake, and answers of
models tuned on such rows. Failure contract: a fault that may pass (429, 408, 5xx, no answer in time) is tried again
with growing waits; what stays is ``JudgeSilent`` for the question, never a verdict. After several silent questions in
a row nothing is asked any more.
"""

from __future__ import annotations

import ipaddress
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import orjson

from pipelines.adapters.outbound_http import (
    AddressRefused,
    RequestFailed,
    Resolve,
    Target,
    checked_target,
    is_public,
    post_json,
    resolve_host,
)
from pipelines.promotion.judge import JudgeSilent

ENDPOINT = "/chat/completions"
PASSING = frozenset({408, 409, 425, 429})
"""Statuses below 500 that the same request may not get again."""
MOST_SILENT = 3
"""Silent questions in a row after which the endpoint counts as gone."""
MOST_WAIT_SECONDS = 60.0
KEY = re.compile(r"[!-~]+")
PROBE = 'Reply with one JSON object and nothing else: {"winner": "tie"}.'


@dataclass(frozen=True)
class JudgeEndpoint:
    """Where the judge is and how it is asked. ``key`` goes into the Authorization header, and nowhere else."""

    target: Target
    model: str
    key: str | None = None
    timeout: float = 60.0
    tries: int = 5
    first_wait: float = 1.0

    def __post_init__(self) -> None:
        if self.key is not None and not KEY.fullmatch(self.key):
            raise ValueError("judge key: wanted one word of printable ASCII, found something else")

    @property
    def label(self) -> str:
        """Model and host, without the key."""
        return f"{self.model} at {self.target.host}"

    def __repr__(self) -> str:
        return f"JudgeEndpoint({self.label})"


def judge_target(url: str, *, allow_private: bool = False, resolve: Resolve = resolve_host) -> Target:
    """Return the checked address of the endpoint; ``url`` is the API's base (``…/v1``) or the whole address.

    A public host needs https. This machine (loopback) may be http; other private addresses are for ``allow_private``.
    Raises ``AddressRefused``.
    """
    target = checked_target(url, allow_private=True, resolve=resolve)
    address = ipaddress.ip_address(target.address.partition("%")[0])
    if is_public(target.address):
        if target.scheme == "http":
            raise AddressRefused(f"{target.host}: wanted https for a public address, found http")
    elif not address.is_loopback and not allow_private:
        raise AddressRefused(f"{target.host}: wanted a public address or this machine, found a private one; "
                             "allow it by flag if it is yours")  # fmt: skip
    path, mark, query = target.path.partition("?")
    path = path.rstrip("/")
    return replace(target, path=(path if path.endswith(ENDPOINT) else path + ENDPOINT) + mark + query)


class HttpJudge:
    """Asks the endpoint one question a call; safe to call from several threads."""

    def __init__(self, endpoint: JudgeEndpoint, sleep: Callable[[float], None] = time.sleep) -> None:
        self.endpoint = endpoint
        self._sleep = sleep
        self._lock = threading.Lock()
        self._silent = 0

    def __call__(self, question: str) -> str:
        """Return what the judge wrote; raises ``JudgeSilent`` without any of the question or the key in its text."""
        with self._lock:
            if self._silent >= MOST_SILENT:
                raise JudgeSilent(f"{self.endpoint.target.host}: {MOST_SILENT} questions in a row had no reply")
        try:
            content = written(self._answer(question))
        except RequestFailed as failure:
            with self._lock:
                self._silent += 1
            raise JudgeSilent(str(failure)) from None
        with self._lock:
            self._silent = 0
        return content

    def probe(self) -> None:
        """Ask once for anything, before a long run relies on the judge; raises ``RequestFailed`` for no answer."""
        written(self._answer(PROBE))

    def _answer(self, question: str) -> bytes:
        endpoint = self.endpoint
        asked = {"model": endpoint.model, "messages": [{"role": "user", "content": question}], "temperature": 0}
        headers = {} if endpoint.key is None else {"Authorization": f"Bearer {endpoint.key}"}
        wait = endpoint.first_wait
        for _ in range(endpoint.tries - 1):
            try:
                return post_json(endpoint.target, orjson.dumps(asked), headers=headers, timeout=endpoint.timeout)
            except RequestFailed as failure:
                if not _may_pass(failure):
                    raise
                self._sleep(min(max(wait, failure.retry_after or 0.0), MOST_WAIT_SECONDS))
            wait *= 2
        return post_json(endpoint.target, orjson.dumps(asked), headers=headers, timeout=endpoint.timeout)


def written(answer: bytes) -> str:
    """Return the words of a chat completion; empty for any other answer, which then is no verdict."""
    try:
        told: Any = orjson.loads(answer)
        content = told["choices"][0]["message"]["content"]
    except (orjson.JSONDecodeError, KeyError, IndexError, TypeError):
        return ""
    return content.strip() if isinstance(content, str) else ""


def _may_pass(failure: RequestFailed) -> bool:
    return failure.status is None or failure.status in PASSING or failure.status >= 500
