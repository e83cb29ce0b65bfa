"""What tests share: one Spark session, one broker, a lake in a temporary folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pipelines.adapters.lake import Lake


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="also run the kill, cluster, fuzz and page tests")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    # Tests without a JVM first: they tell most of what is wrong within seconds.
    order = {"unit": 0, "spark": 1, "e2e": 2, "faults": 3}
    items.sort(key=lambda item: order.get(Path(item.path).parent.name, 4))
    if config.getoption("--long"):
        return
    skip = pytest.mark.skip(reason="a long test: run with --long")
    for item in items:
        if "long" in item.keywords:
            item.add_marker(skip)


@pytest.fixture(scope="session")
def spark() -> Iterator[object]:
    """The Spark session of all tests."""
    from pipelines.adapters.spark_session import spark_session

    session = spark_session("turnmill tests")
    yield session
    session.stop()


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """An empty lake."""
    return Lake(tmp_path / "lake")
