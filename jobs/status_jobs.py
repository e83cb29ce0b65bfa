"""The jobs of a deployment on one screen: state, lag, last batch, last error, what to do."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from rich.table import Table as RichTable

from jobs.lake_queries import INDEX, INGEST, SOURCES
from pipelines.adapters.kafka_broker import EmbeddedBroker
from pipelines.adapters.lake import Lake
from pipelines.adapters.stream_lag import StreamLag, delta_lag, kafka_lag
from pipelines.index.by_model import active_choice
from pipelines.index.lag import index_lag
from pipelines.index.standing import read_standing
from pipelines.supervision.restart import ADVICE
from pipelines.supervision.states import Deployment, JobState, Report, read_states

Deployments = Mapping[str, Deployment]
NOT_SUPERVISED = "no supervisor runs on this lake: turnmill up"


@dataclass(frozen=True)
class JobLine:
    """A line of the screen: a query of a stream, or a batch."""

    job: str
    name: str
    state: str
    behind: int | None = None
    unit: str | None = None
    waiting_seconds: float | None = None
    batch_id: int | None = None
    age_seconds: float | None = None
    seconds: float | None = None
    error: str | None = None
    advice: str | None = None


def lags(lake: Lake, bootstrap: str | None) -> dict[str, StreamLag]:
    """Return how far each query is behind its source; those that have never run are behind all of it."""
    found = {INGEST: kafka_lag(lake, INGEST, bootstrap)}
    found |= {query: delta_lag(lake, query, table.name) for query, table in SOURCES.items()}
    if (choice := active_choice(lake.index)) is not None:
        behind = index_lag(lake.table, read_standing(lake.index / choice.name))
        commits = sum(behind.versions.values())
        found[INDEX] = StreamLag(INDEX, "its tables", "commits", commits, seconds=behind.seconds)
    return found


def job_lines(deployments: Deployments, found: Mapping[str, StreamLag], now: float) -> list[JobLine]:
    """Return a line for each query and batch of the deployments, and for queries that run outside of any."""
    jobs = [job for deployment in deployments.values() for job in deployment.jobs]
    lines = [line for job in jobs for line in _lines_of(job, found, now)]
    known = {line.name for line in lines}
    for name, lag in found.items():
        if name not in known:
            lines.append(_line("-", name, "not supervised", lag, None, now))
    return lines


def _lines_of(job: JobState, found: Mapping[str, StreamLag], now: float) -> Iterator[JobLine]:
    for name in sorted(job.reports, key=list(found).index if set(job.reports) <= set(found) else None):
        yield _line(job.name, name, job.phase.value, found.get(name), job.reports[name], now)
    if not job.reports or job.error or job.ending:
        advice = ADVICE[job.ending] if job.ending else None
        state = f"{job.phase.value} ({job.ending.value})" if job.ending else job.phase.value
        yield JobLine(job.name, job.name, state, error=job.error, advice=advice, age_seconds=now - job.since)


def _line(job: str, name: str, state: str, lag: StreamLag | None, report: Report | None, now: float) -> JobLine:
    batch = report.state if report and state == "running" and report.batch_id is None else state
    at = (lag.committed_at if lag else None) or (report.at if report else None)
    return JobLine(
        job, name, batch,
        behind=lag.behind if lag else None,
        unit=lag.unit if lag else None,
        waiting_seconds=lag.seconds if lag else None,
        batch_id=lag.batch_id if lag else None,
        age_seconds=now - at if at else None,
        seconds=report.seconds if report else None,
        error=report.error if report else None,
        advice="see its log" if report and report.error else None,
    )  # fmt: skip


def look(lake: Lake, kafka: EmbeddedBroker, bootstrap: str | None) -> tuple[Deployments, list[JobLine]]:
    """Return the deployments of a lake as their supervisors tell them, none where none runs, and the lines."""
    deployments = read_states(lake.path)
    known = (deployment.bootstrap for deployment in deployments.values() if deployment.bootstrap)
    where = bootstrap or next(known, None) or kafka.bootstrap
    return deployments, job_lines(deployments, lags(lake, where), time.time())


def readiness(deployments: Deployments) -> dict[str, Any]:
    """Return whether the deployments are ready, and by job why not."""
    troubles = {job: why for one in deployments.values() for job, why in one.troubles().items()}
    if not deployments:
        troubles = {"supervisor": NOT_SUPERVISED}
    return {"ready": not troubles, "troubles": troubles}


def figures(deployments: Deployments, lines: list[JobLine]) -> dict[str, Any]:
    """Return what the screen shows as one object of JSON."""
    return {**readiness(deployments), "jobs": [asdict(line) for line in lines]}


def screen(title: str, deployments: Deployments, lines: list[JobLine]) -> RichTable:
    """Return the table that is shown."""
    told = readiness(deployments)
    table = RichTable("query or batch", "state", "behind", "last", "took", title=title, caption=_caption(told))
    for line in lines:
        behind = "-" if line.behind is None else f"{line.behind:,} {line.unit}"
        if line.waiting_seconds:
            behind += f", {line.waiting_seconds:,.0f} s"
        last = "-" if line.age_seconds is None else f"{line.age_seconds:,.0f} s ago"
        took = "-" if line.seconds is None else f"{line.seconds:,.1f} s"
        table.add_row(line.name, line.state, behind, last, took)
    return table


def _caption(told: Mapping[str, Any]) -> str:
    if told["ready"]:
        return "ready"
    return "not ready: " + "; ".join(f"{job}: {why}" for job, why in told["troubles"].items())


def complaints(lines: list[JobLine]) -> list[str]:
    """Return what is wrong with each query or batch, and what to do about it."""
    return [
        f"{line.name}: " + "; ".join(filter(None, (line.error, line.advice)))
        for line in lines
        if line.error or line.advice
    ]
