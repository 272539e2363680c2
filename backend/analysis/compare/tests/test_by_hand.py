"""The figures of an answer against the same figures computed from the rows by other means."""

import itertools
import math
import random
from collections import Counter
from statistics import mean, median, stdev

import numpy as np
import pytest

from backend.analysis.compare.comparison import compare
from backend.analysis.figures import plain_figures
from backend.analysis.loading.facets import FACETS, facets
from backend.analysis.query.compare_query import CompareQuery
from backend.runs.models import Cell, Trial
from backend.stats import Histogram
from backend.testing.rows import CellSpec, make_run, make_workspace

SEEDS = range(4)


@pytest.fixture(params=SEEDS)
def lab(db, request):
    """A workspace of random runs; the seed is the parameter."""
    chance, workspace = random.Random(request.param), make_workspace(f"lab-{request.param}")
    for number in range(4):
        run = make_run(workspace, *_cells(chance), host=_host(chance, number))
        kind = ("night", "day")[number] if number < 2 else chance.choice(["night", "day"])
        run.labels = {"kind": kind, "n": str(number % 2)}
        run.save(update_fields=["labels"])
    for trial in Trial.objects.filter(run__workspace=workspace):
        _fail(trial, chance)
    workspace.changed()
    return workspace


def _host(chance, number):
    return {"name": f"bench-{number % 2}", "cpu_model": chance.choice(["Xeon", "EPYC"]), "cores": 2}


def _cells(chance):
    for server, load in itertools.product(("nginx", "caddy", "h2o"), (1, 8, 64)):
        if chance.random() < 0.8:
            base = {"nginx": 900, "caddy": 700, "h2o": 720}[server] * math.log2(load + 1)
            yield CellSpec(
                server,
                connections=load,
                version=chance.choice(["1.9", "1.10", None]),
                rates=[base * chance.uniform(0.9, 1.1) for _ in range(chance.choice([1, 3, 4, 5]))],
                tool=chance.choice(["wrk", "oha"]),
                p50_us=chance.choice([400.0, 900.0]),
            )


def _fail(trial, chance):
    if chance.random() < 0.3:
        refused = chance.randrange(1, 900)
        trial.errors = {"connect": refused}
        made = trial.requests_completed + refused
        trial.error_rate = refused / made
        trial.save(update_fields=["errors", "error_rate"])


def ask(workspace, text=""):
    return plain_figures(
        compare(CompareQuery.parse(f"{text}&override=1"), workspace_ids=[workspace.pk])
    )


def rows_of(workspace, one, point):
    """The counted trials that a point of a series is of, found again by what it says of itself."""
    rows = Trial.objects.filter(
        run__workspace=workspace, warmup=False, cell__connections=point["x"]
    ).order_by("pk")
    rates = set(point["metrics"]["throughput"]["each"])
    found = [row for row in rows if row.throughput_rps in rates]
    assert {row.cell.series.server.name for row in found} == {one["server"]}
    assert len(found) == point["trials"]
    return found


def t_quantile(freedom):
    """97.5 % of Student's t, by the trapezoid rule and bisection."""
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2))
    scale /= math.sqrt(freedom * math.pi)

    def below(top):
        x = np.linspace(0, top, 20_001)
        return float(np.trapezoid(scale * (1 + x * x / freedom) ** (-(freedom + 1) / 2), x))

    low, high = 0.0, 100.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle) < 0.475 else (low, middle)
    return low


def interval(values):
    logs = [math.log(value) for value in values]
    half = t_quantile(len(logs) - 1) * stdev(logs) / math.sqrt(len(logs))
    low, high = math.exp(mean(logs) - half), math.exp(mean(logs) + half)
    return min(low, median(values)), max(high, median(values))


def test_every_point(lab):
    for one in ask(lab)["series"]:
        for point in one["points"]:
            trials = rows_of(lab, one, point)
            rates = [trial.throughput_rps for trial in trials]
            found = point["metrics"]["throughput"]
            assert found["value"] == pytest.approx(median(rates))
            if len(rates) < 3:
                assert found["low"] is found["high"] is None
            else:
                expected = pytest.approx(interval(rates), rel=1e-5)
                assert (found["low"], found["high"]) == expected
            refused = sum(trial.errors.get("connect", 0) for trial in trials)
            made = refused + sum(trial.requests_completed for trial in trials)
            assert point["metrics"]["error_rate"]["value"] == pytest.approx(refused / made)
            _percentiles(point, trials)


def _percentiles(point, trials):
    """p99 of all requests: the smallest value that 99 of 100 are not above."""
    every = sorted(
        value
        for trial in trials
        for value, count in _counted(Histogram.decode(bytes(trial.histogram)))
        for _ in range(count)
    )
    for name, share in (("p50", 0.5), ("p99", 0.99)):
        exact = every[math.ceil(share * len(every)) - 1]
        assert point["metrics"][name]["value"] == pytest.approx(exact, rel=0.002)
        assert point["metrics"][name]["origin"] == "computed"


def _counted(histogram):
    """Values with counts, out of what the histogram says its percentiles are."""
    before, found = 0, []
    for rank in range(1, histogram.count + 1):
        value = histogram.percentile(100 * rank / histogram.count)
        found.append((value, rank - before))
        before = rank
    return found


def test_every_ratio(lab):
    figures = ask(lab)
    ranking = figures["ranking"]
    values = {
        one["id"]: next(
            (p["metrics"]["throughput"]["each"] for p in one["points"] if p["x"] == ranking["x"]),
            [],
        )
        for one in figures["series"]
    }
    base = values[ranking["baseline"]]
    for row in ranking["rows"]:
        mine = values[row["series"]]
        found = row["ratio"]
        if row["series"] == ranking["baseline"] or found["value"] is None:
            continue
        logs = [[math.log(value) for value in side] for side in (base, mine)]
        difference = mean(logs[1]) - mean(logs[0])
        assert found["value"] == pytest.approx(math.exp(difference))
        if min(len(base), len(mine)) < 3:
            assert (found["low"], found["verdict"]) == (None, "inconclusive")
            continue
        parts = [stdev(side) ** 2 / len(side) for side in logs]
        freedom = sum(parts) ** 2 / sum(
            part**2 / (len(side) - 1) for part, side in zip(parts, logs, strict=True)
        )
        half = t_quantile(freedom) * math.sqrt(sum(parts))
        bounds = math.exp(difference - half), math.exp(difference + half)
        assert (found["low"], found["high"]) == pytest.approx(bounds, rel=1e-5)


QUERIES = (
    "",
    "server=nginx",
    "server=nginx&server=h2o&tool=wrk",
    "connections=8&connections=64&version=unknown",
    "label=kind:night&host=bench-0",
    "label=kind:night&label=n:1&connections=8",
    "label=kind:night&label=kind:day&tool=oha&version=1.10",
)
READ = {
    "server": lambda cell: {cell.series.server.name},
    "version": lambda cell: {cell.series.server.version or "unknown"},
    "host": lambda cell: {cell.series.server_host.name},
    "client": lambda cell: {cell.series.client_host.name},
    "workload": lambda cell: {cell.series.workload.name},
    "tool": lambda cell: {cell.series.tool},
    "connections": lambda cell: {str(cell.connections)},
    "label": lambda cell: {f"{key}:{text}" for key, text in cell.run.labels.items()},
}


@pytest.mark.parametrize("text", QUERIES)
def test_every_count_of_a_facet(lab, text):
    query = CompareQuery.parse(text)
    answer = facets(query, workspace_ids=[lab.pk])
    cells = list(Cell.objects.filter(run__workspace=lab))
    for field in answer["fields"]:
        if field["id"] not in READ:
            assert field["id"] in FACETS
            continue
        counts = Counter()
        for cell in cells:
            for value in READ[field["id"]](cell):
                counts[value] += cell.trial_count * _fits(cell, query, without=field["id"])
        shown = {one["value"]: one["count"] for one in field["values"]}
        assert {value: n for value, n in shown.items() if n} == {
            value: n for value, n in counts.items() if n
        }, field["id"]
    left = [cell for cell in cells if _fits(cell, query)]
    assert answer["total"]["trials"] == sum(cell.trial_count for cell in left)
    assert answer["total"]["cells"] == len(left)


def _fits(cell, query, without=None):
    for name, read in READ.items():
        wanted, values = set(query.wanted(name)), read(cell)
        if not wanted or name == without:
            continue
        if name == "label":
            keys = {text.partition(":")[0] for text in wanted}
            each = [{text for text in wanted if text.startswith(f"{key}:")} for key in keys]
            if not all(some & values for some in each):
                return False
        elif not wanted & values:
            return False
    return True
