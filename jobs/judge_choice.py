"""The judge model that a trial asks, from the flags of a command."""

from __future__ import annotations

import os
from pathlib import Path

from jobs.options import Exit, UserError
from jobs.secret_files import read_secret
from pipelines.adapters.http_judge import JudgeEndpoint, judge_target

JUDGE_FLAGS = ("url", "model", "key_file", "key_env", "timeout", "private")
"""Flags, without ``--judge-``, that say where the judge is."""


def judge_endpoint(
    url: str | None,
    model: str | None,
    key_file: Path | None = None,
    key_env: str | None = None,
    timeout: float = 60.0,
    private: bool = False,
) -> JudgeEndpoint | None:
    """Return the endpoint to ask; None without ``url``.

    The key comes from a file that its owner alone may read, or from an environment variable; it is no flag, since
    others see those. Raises ``UserError`` for flags that do not fit and for a key that is not there, ``AddressRefused``
    for an address that nothing is sent to.
    """
    if url is None:
        if model or key_file or key_env:
            raise UserError("wanted --judge-url beside the other flags of a judge, found none", Exit.WRONG_USE)
        return None
    if model is None:
        raise UserError("wanted --judge-model beside --judge-url, found none", Exit.WRONG_USE)
    if key_file is not None and key_env is not None:
        raise UserError("wanted one of --judge-key-file and --judge-key-env, found both", Exit.WRONG_USE)
    target = judge_target(url, allow_private=private)
    try:
        return JudgeEndpoint(target, model, _key(key_file, key_env), timeout)
    except ValueError as error:
        raise UserError(str(error), Exit.WRONG_USE) from None


def _key(key_file: Path | None, key_env: str | None) -> str | None:
    if key_file is not None:
        try:
            return read_secret(key_file).decode()
        except UnicodeDecodeError:
            raise UserError(f"{key_file}: wanted a key in ASCII, found other bytes") from None
    if key_env is None:
        return None
    key = os.environ.get(key_env, "").strip()
    if not key:
        raise UserError("--judge-key-env: wanted a variable that holds the key, found it unset or empty")
    return key
