"""A map of what turns mean: a sample of them by the two directions in which their vectors differ most."""

from __future__ import annotations

import numpy as np

from pipelines.index.analysis.projection import project
from pipelines.index.analysis.topics import find_topics
from pipelines.reporting.chart import COLOURS, Chart, name
from pipelines.reporting.figures import MOST_MAPPED, Figures, Row

N_TOPICS = 7
"""As many as there are colours that stay apart."""

SYMBOLS = ("circle", "square", "diamond", "cross", "triangle-up", "x", "star")


def topic_map_chart(figures: Figures) -> Chart:
    """Return the map, a colour and a sign a topic (spherical k-means on the whole vectors); no words of any text."""
    if len(figures.mapped) < 2:
        return Chart("topics", TITLE, "", MISSING, is_wide=True)
    vectors = np.array([row["vector"] for row in figures.mapped], np.float32)
    topics = find_topics(vectors, N_TOPICS)
    points, kept = project(vectors)
    order = np.argsort(-topics.counts(), kind="stable")
    traces, rows = [], []
    for nth, topic in enumerate(order[topics.counts()[order] > 0].tolist()):
        places = np.flatnonzero(topics.labels == topic)
        members = [figures.mapped[place] for place in places.tolist()]
        traces.append(
            {
                "type": "scatter", "mode": "markers", "name": f"topic {nth + 1} ({len(members):,})",
                "x": points[places, 0].round(4).tolist(), "y": points[places, 1].round(4).tolist(),
                "marker": {"color": COLOURS[nth], "symbol": SYMBOLS[nth], "size": 7, "opacity": 0.7},
                "customdata": [[name(row["role"]), name(row["lang"]), name(row["model"])] for row in members],
                "hovertemplate": (
                    "%{customdata[0]}<br>language: %{customdata[1]}<br>model: %{customdata[2]}"
                    "<extra>%{fullData.name}</extra>"
                ),
            }
        )  # fmt: skip
        rows.append((f"topic {nth + 1}", len(members), _most(members, "lang"), _most(members, "role")))
    hidden = {"showticklabels": False, "zeroline": False}
    layout = {
        "height": 520,
        "hovermode": "closest",
        "xaxis": {"title": {"text": "first direction"}, **hidden},
        "yaxis": {"title": {"text": "second direction"}, **hidden},
    }
    return Chart(
        "topics", TITLE, SAYS.format(kept=kept, n=len(figures.mapped), most=MOST_MAPPED), MISSING, traces, layout,
        ("topic", "turns", "most frequent language", "most frequent role"), rows, is_wide=True,
    )  # fmt: skip


def _most(members: list[Row], column: str) -> str:
    values = sorted(str(row[column] or "not said") for row in members)
    return max(dict.fromkeys(values), key=values.count)


TITLE = "Map of topics"
SAYS = (
    "A mark is a turn ({n:,} here, {most:,} at most); near ones mean similar things. The two directions keep "
    "{kept:.0%} of the variance, so what looks near may still differ. "
    "turnmill analyse topics names the topics by their words."
)
MISSING = "No vectors yet: turnmill embed --available-now."
