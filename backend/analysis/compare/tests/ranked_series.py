"""Series with figures around a rate, and what a comparison says of them."""

from backend.analysis.compare.comparison import compare
from backend.analysis.figures import plain_figures
from backend.analysis.query.compare_query import CompareQuery
from backend.testing.rows import CellSpec

NEAR = (1.0, 1.002, 0.998)
FAST = (1620.0, 1600.0, 1640.0)


def ask(workspace, text=""):
    return plain_figures(compare(CompareQuery.parse(text), workspace_ids=[workspace.pk]))


def around(rate, spread=1.0):
    return tuple(rate * (1 + (share - 1) * spread) for share in NEAR)


def server(name, rate, spread=1.0, **more):
    return CellSpec(name, rates=around(rate, spread), **more)


def by_name(figures):
    return {row["label"].split()[0]: row for row in figures["ranking"]["rows"]}


def only_point(figures):
    (series,) = figures["series"]
    (point,) = series["points"]
    return point


def only_measure(workspace, metric="throughput"):
    (series,) = ask(workspace, f"metric={metric}")["series"]
    (point,) = series["points"]
    return point["metrics"][metric]
