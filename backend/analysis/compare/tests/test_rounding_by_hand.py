"""Latencies that the load tool rounded to whole milliseconds: figures against their definition."""

import math

import pytest

from backend.analysis.compare.comparison import compare
from backend.analysis.compare.tests.definitions import Comparisons, side_of
from backend.analysis.figures import plain_figures
from backend.analysis.query.compare_query import CompareQuery
from backend.runs.models import Trial
from backend.testing.rows import CellSpec, make_run, make_workspace

STEP_US = 1000
SERVERS = ("caddy", "h2o", "haproxy", "nginx")


@pytest.fixture(params=[(1, 3), (1, 5), (2, 3), (3, 2)], ids=str)
def lab(db, request):
    """So many runs of so many trials, which print 10 to 14 ms. Those of the first server agree."""
    runs, trials = request.param
    workspace = make_workspace()
    for number in range(runs):
        cells = [
            CellSpec(name, tool="ab", rates=[1000.0] * trials, computed=False) for name in SERVERS
        ]
        run = make_run(workspace, *cells)
        for place, name in enumerate(SERVERS):
            for count, trial in enumerate(
                Trial.objects.filter(run=run, cell__series__server__name=name).order_by("ordinal")
            ):
                is_slower = place > 0 and (count * place + number) % 3 == 1
                trial.percentiles_us = {"50": STEP_US * (10 + place + is_slower)}
                trial.latency_resolution_us = STEP_US
                trial.save(update_fields=["percentiles_us", "latency_resolution_us"])
    workspace.changed()
    return workspace


@pytest.fixture
def page(lab):
    """The answer, and the side of each server."""
    query = CompareQuery.parse("metric=p50&override=1")
    trials = Trial.objects.filter(warmup=False).select_related("cell__series__server")
    sides = {
        name: side_of(
            [
                (each.run_id, each.percentiles_us["50"])
                for each in trials
                if each.cell.series.server.name == name
            ],
            step=STEP_US,
        )
        for name in SERVERS
    }
    return plain_figures(compare(query, workspace_ids=[lab.pk])), sides


def test_every_interval(page):
    figures, sides = page
    for series in figures["series"]:
        side, measure = sides[series["server"]], series["points"][0]["metrics"]["p50"]
        expected = [math.exp(bound) for bound in side.interval]
        assert [measure["low"], measure["high"]] == pytest.approx(expected, rel=1e-5)
        is_widened = side.rounding > 0.05 * (side.interval[1] - side.centre)
        assert measure["interval"].endswith(", widened for rounding") == is_widened


def test_every_ratio_and_place(page):
    figures, sides = page
    rows = figures["ranking"]["rows"]
    names = {series["id"]: series["server"] for series in figures["series"]}
    order = [names[row["series"]] for row in rows]
    base = [row["series"] for row in rows].index(figures["ranking"]["baseline"])
    comparisons = Comparisons([sides[name] for name in order])
    for at, half in comparisons.against(base).items():
        low, high = (math.log(rows[at]["ratio"][end]) for end in ("low", "high"))
        assert 0.9995 < (high - low) / 2 / half < 1.01
    # Less is better: the places of the page are those of the definition, from the other end.
    places = [(len(rows) + 1 - last, len(rows) + 1 - first) for first, last in comparisons.places()]
    shown = [f"{first}–{last}" if first != last else f"{first}" for first, last in places]
    assert [row["tier"] for row in rows] == shown
