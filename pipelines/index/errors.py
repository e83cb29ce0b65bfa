"""What can go wrong with an index, each kind with what to do next."""

from __future__ import annotations

import errno


class IndexUnreadableError(RuntimeError):
    """The files of the index are missing or damaged; a sync builds it anew from Delta."""

    safe_to_show = True


class IndexBusyError(RuntimeError):
    """Another process writes the index, or took the writing over."""

    safe_to_show = True


class IndexWriteError(RuntimeError):
    """The new state could not be stored; readers keep the last one."""

    safe_to_show = True


class DimensionMismatchError(ValueError):
    """Vectors of another length than those of the index."""

    safe_to_show = True

    def __init__(self, wanted: int, found: object) -> None:
        super().__init__(
            f"the index holds vectors of {wanted} numbers, found {found}; use the model that the index was made with"
        )


class FingerprintMismatchError(ValueError):
    """Vectors of another model than the index's; their distances would mean nothing."""

    safe_to_show = True

    def __init__(self, model: str, wanted: str, found: str) -> None:
        super().__init__(
            f"the index was made with {model}, fingerprint {wanted[:12]}; the model here has {found[:12]}. "
            "Search with that model, or build an index for this one beside it: turnmill index --available-now --model"
        )


class ForkedProcessError(RuntimeError):
    """Lance's threads and locks do not survive a fork (lance-format/lance#2405)."""

    safe_to_show = True


class HistoryGoneError(LookupError):
    """The tables no longer hold, or do not yet hold, the state that was asked for."""

    safe_to_show = True


def write_error(folder: object, error: Exception) -> IndexWriteError:
    """Say why the index in ``folder`` could not be written, without what was to be written."""
    full = {errno.ENOSPC: "the disk is full", errno.EDQUOT: "the disk quota is used up", errno.EFBIG: "a file limit"}
    told = next((words for code, words in full.items() if _is(error, code)), type(error).__name__)
    return IndexWriteError(
        f"the index in {folder} could not be written: {told}; readers keep the last state. "
        "Make room, then sync again: turnmill index --available-now"
    )


def _is(error: Exception, code: int) -> bool:
    # Lance passes the operating system's error on as text alone.
    return getattr(error, "errno", None) == code or f"(os error {code})" in str(error)
