"""Secrets that a person keeps in a file."""

from __future__ import annotations

from pathlib import Path

from jobs.options import UserError

LEAST_BYTES = 16


def read_secret(path: Path) -> bytes:
    """Return the secret of a file that nobody else may read; raises ``UserError`` without showing any of it."""
    if not path.is_file():
        raise UserError(f"{path}: wanted a file with a secret, found none")
    mode = path.stat().st_mode & 0o777
    if mode & 0o077:
        raise UserError(f"{path}: wanted a file that only its owner may read, found mode {mode:04o}")
    secret = path.read_bytes().strip()
    if len(secret) < LEAST_BYTES:
        raise UserError(f"{path}: wanted a secret of {LEAST_BYTES} bytes or more, found {len(secret)}")
    return secret
