"""``turnmill doctor``: look at what Turnmill needs on this machine, and say what to do about what is not there."""

from __future__ import annotations

import sys
from dataclasses import asdict

from rich.table import Table

from jobs.options import Exit, Settings, turnmill_command
from pipelines.adapters.machine_checks import Places, State, check_machine

_STYLES = {State.OK: "green", State.WARN: "yellow", State.FAIL: "bold red"}


@turnmill_command("doctor")
def command(settings: Settings) -> None:
    """Check Java, packages, jars, disk, memory, Kafka, keys and GPU. Exits with 1 when something must be mended."""
    places = Places(settings.lake, settings.keys, settings.kafka_folder, settings.bootstrap)
    checks = list(check_machine(places))
    failed = sum(check.state is State.FAIL for check in checks)
    if settings.json:
        settings.emit({"ok": failed == 0, "checks": [asdict(check) for check in checks]})
    else:
        table = Table(box=None, show_header=False, pad_edge=False)
        for check in checks:
            found = f"{check.found}\n→ {check.advice}" if check.advice else check.found
            table.add_row(f"[{_STYLES[check.state]}]{check.state}[/]", check.name, _literal(found))
        settings.console.print(table)
        settings.console.print(f"{failed} to mend." if failed else "Ready: try `turnmill demo`.")
    if failed:
        sys.exit(Exit.FAILED)


def _literal(text: str) -> str:
    """Keep what stands in square brackets, as in ``turnmill[jobs]``, from being read as a style."""
    return text.replace("[", "\\[")
