"""A process of its own that stops the embedded broker of a folder once the process that needs it is gone."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from pipelines.adapters.kafka_broker import EmbeddedBroker

POLL_SECONDS = 0.5


def watch(parent: int, folder: Path) -> None:
    """Wait until the parent process ``parent`` has ended, then stop the broker of ``folder``.

    A child whose parent has died gets another parent at once, however the parent died.
    """
    while os.getppid() == parent:
        time.sleep(POLL_SECONDS)
    EmbeddedBroker(folder).stop()


if __name__ == "__main__":
    watch(int(sys.argv[1]), Path(sys.argv[2]))
