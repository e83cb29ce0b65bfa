"""Ask one system which new texts repeat an accepted one: ``python -m duplicate_peers.worker NAME REQUEST ANSWER``.

The request file holds ``{"accepted", "new", "threshold"}``; the answer file ``{"matched", "seconds", "megabytes",
"versions", "note"}`` or ``{"missing"}``. ``matched`` has an entry a new text: the place of the accepted text that it
repeats, -1 where it stays, -2 where the system drops it without telling why.

A module a system beside this one, with ``PACKAGES``, ``NOTE`` and ``matched(accepted, new, threshold, clock)``, which
calls ``clock(name)`` after each part of its work.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import resource
import sys
import time
from pathlib import Path
from typing import Any


def answer(name: str, request: dict[str, Any]) -> dict[str, Any]:
    """Run a system; tell why it cannot be loaded where that is so."""
    try:
        module = importlib.import_module(f"duplicate_peers.{name}")
        versions = {package: importlib.metadata.version(package) for package in module.PACKAGES}
        module.load()
    except (ImportError, OSError, ValueError) as error:
        return {"missing": f"{type(error).__name__}: {error}".splitlines()[0][:200]}
    seconds: dict[str, float] = {}
    last = [time.perf_counter()]

    def clock(part: str) -> None:
        now = time.perf_counter()
        seconds[part] = round(now - last[0], 3)
        last[0] = now

    matched = module.matched(request["accepted"], request["new"], request["threshold"], clock)
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return {"matched": matched, "seconds": seconds, "megabytes": megabytes, "versions": versions, "note": module.NOTE}


def main() -> None:
    """Read the request, write the answer."""
    name, request, out = sys.argv[1:4]
    Path(out).write_text(json.dumps(answer(name, json.loads(Path(request).read_bytes()))))


if __name__ == "__main__":
    main()
