"""From a dataset version to a model: the decision, the base, the run."""

from pathlib import Path


def worker_path() -> str:
    """Return the file of the worker, for launchers that start a script and not a module."""
    return str(Path(__file__).with_name("worker.py"))
