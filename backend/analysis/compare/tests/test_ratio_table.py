from math import exp, log, sqrt
from statistics import stdev
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backend.analysis.compare.comparability import Comparability
from backend.analysis.compare.entrant import Entrant
from backend.analysis.compare.ratio_table import Entry, Figure, entry_of, make_ratio_table
from backend.analysis.compare.ratios import Yardstick
from backend.analysis.figures import Baseline
from backend.analysis.grouping.measures import Measure
from backend.stats.replicates import Observation, Sample
from backend.stats.student import t_quantile

NEAR = (1.0, 1.002, 0.998)
YARDSTICK = Yardstick("higher", 0.02)


def sample(rate, run="night"):
    return Sample(tuple(Observation(log(rate * share), run) for share in NEAR))


def figure(rate, unranked=None, run="night"):
    return Figure(sample(rate, run), unranked)


def entry(row, workload, rate=1000.0, *, load=64, unranked=None, run="night"):
    return Entry(row, row, workload, {load: figure(rate, unranked, run)})


def table(*entries, **how):
    return make_ratio_table(entries, YARDSTICK, **how)


def cell(found, row, column):
    return found.cells[found.rows.index(row)][found.columns.index(column)]


FULL = [
    entry("caddy", "hello", 1000),
    entry("caddy", "json", 500),
    entry("nginx", "hello", 1500),
    entry("nginx", "json", 375),
]


def test_each_cell_is_the_ratio_within_its_own_workload():
    found = table(*FULL)
    assert (found.baseline, found.rows, found.columns) == (
        "caddy",
        ("caddy", "nginx"),
        ("hello", "json"),
    )
    assert cell(found, "nginx", "hello").value == pytest.approx(1.5)
    assert cell(found, "nginx", "hello").verdict == "improved"
    assert cell(found, "nginx", "json").value == pytest.approx(0.75)
    assert cell(found, "nginx", "json").verdict == "regressed"
    assert cell(found, "caddy", "json").why == "the baseline"


def test_the_geometric_mean_of_each_row_and_over_what():
    found = table(*FULL)
    baseline, nginx = found.means
    assert baseline.value == 1
    assert nginx.value == pytest.approx((1.5 * 0.75) ** 0.5)
    assert nginx.low < nginx.value < nginx.high
    assert found.means_text().startswith("Geometric mean over 2 workloads")


def test_the_finding_tells_how_far_the_farthest_are():
    rows = [*FULL, entry("envoy", "hello", 3000), entry("envoy", "json", 1500)]
    text = table(*rows).headline("Throughput")
    assert text.startswith(
        "Throughput over 2 workloads, in this run, relative to caddy: envoy 3.00× ["
    )
    assert "; nginx 1.061× [" in text
    # Without a mean of every row there is nothing to say over all of them.
    assert table(*FULL, entry("h2o", "hello")).headline("Throughput") is None


def test_the_mean_leaves_out_workloads_that_a_row_lacks():
    found = table(*FULL, entry("caddy", "big"))
    assert found.common == ("hello", "json")
    assert found.means_text().endswith("1 of 3 left out because a row has no ratio for them")
    assert cell(found, "nginx", "big") is None


def test_one_shared_workload_has_no_mean():
    found = table(entry("a", "x"), entry("a", "y"), entry("b", "x"))
    assert found.means == (None, None)
    assert found.means_text().startswith("No geometric mean")


def test_one_workload_or_one_row_is_no_table():
    assert table(*FULL[::2]) is None
    assert table(*FULL[:2]) is None
    assert table() is None


def test_a_tie_is_unchanged_where_its_interval_lies_within_the_threshold():
    tie = cell(table(*FULL, entry("tie", "hello", 1001), entry("tie", "json", 500)), "tie", "hello")
    assert (tie.verdict, tie.why) == ("unchanged", "within the threshold")
    assert 1 / 1.02 < tie.low < 1 < tie.high < 1.02


@pytest.mark.parametrize("count", [2, 5])
def test_the_columns_of_a_table_share_its_error_rate(count):
    columns = [f"w{number}" for number in range(count)]
    entries = [entry(row, column) for row in ("a", "b") for column in columns]
    each = 0.95 ** (1 / count)
    error = stdev(map(log, NEAR)) * sqrt(2 / 3)
    half = t_quantile((1 + each) / 2, 4) * error
    for ratio in table(*entries).cells[1]:
        assert (ratio.low, ratio.high) == pytest.approx((exp(-half), exp(half)))


def test_servers_of_different_runs_differ_by_what_runs_differ_by():
    entries = [
        entry(row, workload, rate, run=f"run of {row}")
        for row, rate in (("a", 1000), ("b", 1040))
        for workload in ("hello", "json")
    ]
    ratio = table(*entries).cells[1][0]
    assert ratio.verdict == "inconclusive"
    assert ratio.advice == (
        "the series come from different runs, and runs differ by 3 % (assumed): "
        "measure both in one run, or each in 3 runs"
    )
    within = table(*(entry(e.row, e.workload, 1000 if e.row == "a" else 1040) for e in entries))
    assert within.cells[1][0].verdict == "improved"


def test_each_workload_is_compared_at_a_load_that_most_share():
    entries = [
        Entry("a", "a", "x", {8: figure(10), 64: figure(100), 512: figure(1)}),
        Entry("b", "b", "x", {8: figure(10), 64: figure(200)}),
        Entry("a", "a", "y", {1: figure(5)}),
        Entry("b", "b", "y", {1: figure(5)}),
    ]
    found = table(*entries)
    assert found.loads == (64, 1)
    assert cell(found, "b", "x").value == pytest.approx(2)
    asked = table(*entries, at=8)
    assert asked.loads == (8, 1)
    assert cell(asked, "b", "x").value == pytest.approx(1)


def test_a_server_that_fails_requests_is_not_compared_and_says_why():
    found = table(*FULL, entry("bad", "hello", 9000, unranked="9 % failed"), entry("bad", "json"))
    assert cell(found, "bad", "hello").value is None
    assert cell(found, "bad", "hello").why == "9 % failed"
    assert found.common == ()


def test_a_baseline_that_is_missing_or_not_ranked_says_so():
    found = table(*FULL, entry("a", "hello", unranked="9 % failed"), baseline="a")
    assert "cannot be used: 9 % failed" in cell(found, "nginx", "hello").why
    assert cell(found, "nginx", "json").why == "The baseline was not measured here."


def test_several_series_in_one_cell_are_not_picked_from():
    found = table(*FULL, entry("nginx", "hello", 3000))
    assert cell(found, "nginx", "hello").why == "2 series match here; add a filter"


def test_the_answer_has_the_shape_of_the_figures():
    comparability = Comparability("comparable", (), ())
    answer = table(*FULL, entry("caddy", "big")).to_record(comparability)
    assert answer.baseline == Baseline(server="caddy", label="caddy")
    assert answer.columns == ("big", "hello", "json")
    assert answer.cells[1][0] is None
    assert answer.cells[1][1].verdict == "improved"
    assert answer.outcome.status == "comparable"


def point_of(x, trials, *, is_overload):
    """A point with a p99: of trials, or rounded to zero in some."""
    p99 = Measure(0.0, None, None, (), None, None, sample=trials)
    metrics = {"p99": p99, "error_rate": Measure(None, None, None, (), None, None)}
    return SimpleNamespace(x=x, metrics=metrics, failing=False, overload=is_overload, cells=())


def test_a_series_is_an_entry_with_why_a_point_is_not_ranked():
    samples = {8: sample(2.5), 64: sample(5.0), 512: None}
    entrants = [
        Entrant("aa", "nginx 1.27", point_of(x, own, is_overload=x == 64))
        for x, own in samples.items()
    ]
    first = SimpleNamespace(
        server=SimpleNamespace(name="nginx"), workload=SimpleNamespace(name="hello")
    )
    found = entry_of(first, entrants, row="nginx 1.27", metric="p99")
    overload = "The offered rate was not reached, so the latency is not ranked."
    assert found == Entry(
        "nginx 1.27",
        "nginx",
        "hello",
        {8: figure(2.5), 64: Figure(None, overload), 512: Figure(None)},
    )
    assert found.figures[64].why_not == overload
    assert found.figures[512].why_not == "A figure is unknown or zero."


names = st.sampled_from("abc")


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    st.dictionaries(st.tuples(names, names), st.floats(1, 1e6).map(figure), min_size=1, max_size=9),
    names,
)
def test_turning_the_baseline_keeps_the_order_of_the_means(cells, baseline):
    entries = [Entry(row, row, column, {1: each}) for (row, column), each in cells.items()]
    one, two = table(*entries), table(*entries, baseline=baseline)
    assert (one is None) == (two is None)
    # The loads and what was measured do not depend on the baseline.
    if one is not None:
        assert [[cell is None for cell in row] for row in one.cells] == [
            [cell is None for cell in row] for row in two.cells
        ]
    if one is not None and one.common and one.common == two.common:
        own = two.means[two.rows.index(one.baseline)].value
        for mean, other in zip(one.means, two.means, strict=True):
            assert mean.value == pytest.approx(other.value / own)
