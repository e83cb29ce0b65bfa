"""The page: charts, their tables and plotly.js in one HTML file that asks nothing of any network.

A content security policy lets only the page's own two scripts run, by their hashes, and forbids every request.
"""

from __future__ import annotations

import base64
import datetime as dt
import functools
import hashlib
import html
from collections.abc import Sequence
from importlib import resources
from typing import Any

import orjson

from pipelines.reporting.chart import Chart

THEMES = ("auto", "light", "dark")
MOST_TABLE_ROWS = 200

FRAME = """<!doctype html>
<html lang="en" data-theme="{theme}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<header>
<div><h1>{title}</h1><p>As of {at:%Y-%m-%d %H:%M} UTC. Counts and names only; no text of any conversation.</p></div>
<button id="theme" type="button" aria-label="Switch between light and dark">Light / dark</button>
</header>
<dl class="numbers">{numbers}</dl>
<main>{charts}</main>
<noscript><p>Without JavaScript the charts stay empty; the tables under them hold the same figures.</p></noscript>
<script type="application/json" id="drawings">{drawings}</script>
<script>{library}</script>
<script>{script}</script>
</body>
</html>
"""


def render_page(
    title: str, at: dt.datetime, numbers: Sequence[tuple[str, str]], charts: Sequence[Chart], *, theme: str = "auto"
) -> str:
    """Return the HTML of the report; ``numbers`` are pairs of what is counted and its value, ``at`` is UTC.

    ``theme`` is auto (what the reader's system prefers), light or dark; the page has a button for it too.
    """
    library, script = plotting_library(), _resource("page.js")
    return FRAME.format(
        theme=theme,
        policy=_policy(library, script),
        title=html.escape(title),
        at=at,
        style=_resource("page.css"),
        numbers="".join(f"<div><dt>{html.escape(k)}</dt><dd>{html.escape(v)}</dd></div>" for k, v in numbers),
        charts="".join(_section(chart) for chart in charts),
        drawings=_json_in_html({c.key: {"data": c.traces, "layout": c.layout} for c in charts if c.traces}),
        library=library,
        script=script,
    )


@functools.cache
def plotting_library() -> str:
    """Return plotly.js (4.8 MB, MIT licence) as the package ``plotly`` brings it."""
    return resources.files("plotly").joinpath("package_data/plotly.min.js").read_text("utf-8")


@functools.cache
def _resource(file_name: str) -> str:
    return resources.files("pipelines.reporting").joinpath(file_name).read_text("utf-8")


def _policy(*scripts: str) -> str:
    digests = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    return f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:"


def _json_in_html(value: Any) -> str:
    # A script element ends at its first end tag, wherever that stands.
    return orjson.dumps(value).decode().replace("<", "\\u003c")


def _section(chart: Chart) -> str:
    title, says = html.escape(chart.title), html.escape(chart.says)
    kind = "wide" if chart.is_wide else "half"
    if not chart.traces:
        body = f'<p class="missing">{html.escape(chart.missing)}</p>'
        return f'<section class="{kind}" id="{chart.key}"><h2>{title}</h2>{body}</section>'
    body = f'<p>{says}</p><div class="drawing" data-drawing="{chart.key}"></div>{_table(chart)}'
    return f'<section class="{kind}" id="{chart.key}"><h2>{title}</h2>{body}</section>'


def _table(chart: Chart) -> str:
    head = "".join(f'<th scope="col">{html.escape(column)}</th>' for column in chart.columns)
    rows = "".join(f"<tr>{''.join(_cell(value) for value in row)}</tr>" for row in chart.rows[:MOST_TABLE_ROWS])
    n_rows = len(chart.rows)
    cut = f"<p>The first {MOST_TABLE_ROWS} of {n_rows:,} rows.</p>" if n_rows > MOST_TABLE_ROWS else ""
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    return f'<details><summary>As a table</summary><div class="rows">{table}</div>{cut}</details>'


def _cell(value: Any) -> str:
    if isinstance(value, int):
        return f'<td class="number">{value:,}</td>'
    if isinstance(value, float):
        return f'<td class="number">{value:,.4g}</td>'
    if isinstance(value, dt.datetime):
        return f"<td>{value:%Y-%m-%d %H:%M:%S}</td>"
    return f"<td>{html.escape('' if value is None else str(value))}</td>"
