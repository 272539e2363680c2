"""The figures of an answer against the same figures computed from the rows by other means."""

import itertools
import math
import random
from collections import Counter

import pytest

from backend.analysis.compare.comparison import compare
from backend.analysis.compare.tests.definitions import Comparisons, side_of
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
    return build_lab(request.param, f"lab-{request.param}")


def build_lab(seed, name):
    chance, workspace = random.Random(seed), make_workspace(name)
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
        trial.attempts, trial.failed = made, refused
        trial.save(update_fields=["errors", "error_rate", "attempts", "failed"])


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


def centre_of(values, trials):
    """The mean over runs of each run's mean log, as the figure."""
    pairs = zip(trials, values, strict=True)
    return math.exp(side_of([(trial.run_id, value) for trial, value in pairs]).centre)


# Each query makes other series: one of them pools the runs of different versions and hosts.
POOLED = ("", "series=server")


@pytest.mark.parametrize("text", POOLED)
def test_every_point(lab, text):
    for one in ask(lab, text)["series"]:
        for point in one["points"]:
            trials = rows_of(lab, one, point)
            side = side_of([(trial.run_id, trial.throughput_rps) for trial in trials])
            measure = point["metrics"]["throughput"]
            assert measure["value"] == pytest.approx(math.exp(side.centre))
            if side.interval is None:
                assert measure["low"] is measure["high"] is measure["interval"] is None
            else:
                expected = pytest.approx([math.exp(bound) for bound in side.interval], rel=1e-5)
                assert [measure["low"], measure["high"]] == expected
                assert measure["interval"] == name_of_interval(side)
            refused = sum(trial.errors.get("connect", 0) for trial in trials)
            made = refused + sum(trial.requests_completed for trial in trials)
            assert point["metrics"]["error_rate"]["value"] == pytest.approx(refused / made)
            _percentiles(point, trials)


def name_of_interval(side):
    if side.of_runs:
        return f"95 % interval over {len(side.runs)} runs"
    return "95 % interval within " + ("this run" if len(side.runs) == 1 else "these 2 runs")


def _percentiles(point, trials):
    """p99: the smallest value that 99 of 100 are not above, of each trial and of all requests."""
    samples = [list(_samples(Histogram.decode(bytes(trial.histogram)))) for trial in trials]
    for name, share in (("p50", 0.5), ("p99", 0.99)):
        measure = point["metrics"][name]
        each = [nearest_rank(values, share) for values in samples]
        assert sorted(measure["each"]) == pytest.approx(sorted(each), rel=0.002)
        assert measure["value"] == pytest.approx(centre_of(each, trials), rel=0.002)
        pooled = nearest_rank([value for values in samples for value in values], share)
        assert measure["pooled"] == pytest.approx(pooled, rel=0.002)
        assert measure["origin"] == "computed"


def nearest_rank(values, share):
    return sorted(values)[math.ceil(share * len(values)) - 1]


def _samples(histogram):
    for value, count in _counted(histogram):
        yield from [value] * count


def _counted(histogram):
    """Values with counts, out of what the histogram says its percentiles are."""
    before, found = 0, []
    for rank in range(1, histogram.count + 1):
        value = histogram.percentile(100 * rank / histogram.count)
        found.append((value, rank - before))
        before = rank
    return found


def sides_of(lab, figures):
    """The ranked series of a page with their trials at the place of the ranking."""
    place = figures["ranking"]["x"]
    for row in figures["ranking"]["rows"]:
        (series,) = [one for one in figures["series"] if one["id"] == row["series"]]
        (point,) = [point for point in series["points"] if point["x"] == place]
        if row["tier"] is not None:
            trials = rows_of(lab, series, point)
            yield row, side_of([(trial.run_id, trial.throughput_rps) for trial in trials])


@pytest.mark.parametrize("text", POOLED)
def test_every_ratio_and_place(lab, text):
    figures = ask(lab, text)
    rows, sides = zip(*sides_of(lab, figures), strict=True)
    comparisons = Comparisons(sides)
    ids = [row["series"] for row in rows]
    base = ids.index(figures["ranking"]["baseline"])
    halves = comparisons.against(base)
    for at, row in enumerate(rows):
        ratio, difference = row["ratio"], comparisons.difference(base, at)
        if not (ratio["scope"] or "").endswith("that measured both"):
            # The ratio is that of the two figures shown, to the last digit.
            assert ratio["value"] == pytest.approx(row["value"] / rows[base]["value"], rel=1e-12)
        if at == base:
            assert (ratio["value"], ratio["why"]) == (1.0, "the baseline")
        elif at not in halves:
            assert (ratio["low"], ratio["verdict"]) == (None, "inconclusive")
        else:
            low, high = math.log(ratio["low"]), math.log(ratio["high"])
            assert (low + high) / 2 == pytest.approx(difference.value)
            assert math.log(ratio["value"]) == pytest.approx(difference.value)
            # Quantiles are tabled: they may be a little too wide, never too narrow.
            assert 0.9995 < (high - low) / 2 / halves[at] < 1.01
    texts = [
        f"{first}–{last}" if first != last else f"{first}" for first, last in comparisons.places()
    ]
    assert [row["tier"] for row in rows] == texts


def test_the_labs_hold_every_kind_of_comparison(db):
    """Pairs in the same run, in different runs, and in three shared runs or more are among them."""
    kinds = set()
    for seed in SEEDS:
        for text in POOLED:
            lab = build_lab(seed, f"kinds-{seed}-{len(text)}")
            sides = [side for _, side in sides_of(lab, ask(lab, text))]
            for one, two in itertools.combinations(sides, 2):
                kinds.add((one.of_runs, two.of_runs, set(one.runs) == set(two.runs)))
    assert kinds >= {(False, False, True), (False, False, False), (True, True, True)}


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
