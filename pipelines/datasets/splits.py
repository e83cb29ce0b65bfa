"""The split bucket of a user or conversation, keyed, from a key that only the workers themselves read."""

from __future__ import annotations

from typing import Any

from pipelines.intake.identity import IdentityKey
from pipelines.privacy.keys import KeyFolder


class KeyedBuckets:
    """Maps (tenant, user_ref or conversation_id) to a bucket from 0 to 99, the same for good.

    Pickles as the folder of the keys: the key itself is read where it is used and never travels.
    """

    def __init__(self, keys: KeyFolder) -> None:
        self.keys = keys
        self._identity: IdentityKey | None = None

    def __call__(self, tenant: str, owner: str) -> int:
        """Return the bucket of ``owner`` in ``tenant``."""
        if self._identity is None:
            self._identity = IdentityKey(self.keys.identity)
        return self._identity.split_bucket(tenant, owner)

    def __reduce__(self) -> tuple[Any, ...]:
        return KeyedBuckets, (self.keys,)
