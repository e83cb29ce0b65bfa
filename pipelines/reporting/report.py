"""The charts of the report in their order, and the numbers above them."""

from __future__ import annotations

from collections.abc import Callable

from pipelines.reporting.chart import Chart
from pipelines.reporting.figures import Figures, total
from pipelines.reporting.flow import flow_chart
from pipelines.reporting.over_time import arrivals_chart, batches_chart, pii_chart, pii_days_chart
from pipelines.reporting.shares import feedback_chart, languages_chart, origins_chart, thumbs_chart
from pipelines.reporting.topic_map import topic_map_chart
from pipelines.reporting.training import losses_chart, processes_chart, rules_chart, versions_chart

CHARTS: tuple[Callable[[Figures], Chart], ...] = (
    flow_chart,
    arrivals_chart,
    batches_chart,
    pii_chart,
    pii_days_chart,
    origins_chart,
    languages_chart,
    topic_map_chart,
    versions_chart,
    rules_chart,
    losses_chart,
    processes_chart,
    feedback_chart,
    thumbs_chart,
)


def report_charts(figures: Figures) -> list[Chart]:
    """Return every chart; those without data say what to run."""
    return [chart(figures) for chart in CHARTS]


def report_numbers(figures: Figures) -> list[tuple[str, str]]:
    """Return the counts above the charts, as words and a number ready to be shown."""
    n_turns = total(figures.settled, "n_turns")
    n_kept = total(row for row in figures.verdicts if row["keep"])
    n_tagged = total(row for row in figures.verdicts if row["is_tagged"])
    dead = total(row for row in figures.items if row["outcome"] == "dead")
    standing = [row for row in figures.versions if not row["is_withdrawn"]]
    newest = standing[-1] if standing else {"n_train": 0, "n_validation": 0}
    return [
        ("items read", f"{total(figures.items):,}"),
        ("dead letters", f"{dead:,}"),
        ("turns", f"{n_turns:,}"),
        ("kept by the filter", f"{n_kept / n_tagged:.1%}" if n_tagged else "-"),
        ("replaced personal data", f"{total(figures.pii, 'n_spans'):,}"),
        ("examples, newest version", f"{newest['n_train'] + newest['n_validation']:,}"),
        ("training runs", f"{len(figures.runs):,}"),
    ]
