from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backend.analysis.compare.comparability import Comparability
from backend.analysis.compare.ratio_table import Entry, Sample, entry_of, make_ratio_table
from backend.analysis.figures import Baseline

NEAR = (1.0, 1.002, 0.998)


def sample(rate, unranked=None):
    return Sample(tuple(rate * share for share in NEAR), unranked)


def entry(row, workload, rate=1000.0, *, load=64, unranked=None):
    return Entry(row, row, workload, {load: sample(rate, unranked)})


def table(*entries, **how):
    return make_ratio_table(entries, **({"better": "higher", "relevant": 0.02} | how))


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
    assert text.startswith("Throughput over 2 workloads, relative to caddy: envoy 3.00× [")
    assert "; nginx 1.06× [" in text
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


def test_a_tie_is_neither_better_nor_worse():
    tie = cell(table(*FULL, entry("tie", "hello", 1001), entry("tie", "json", 500)), "tie", "hello")
    assert tie.verdict in ("unchanged", "inconclusive")


def test_each_workload_is_compared_at_a_load_that_most_share():
    entries = [
        Entry("a", "a", "x", {8: sample(10), 64: sample(100), 512: sample(1)}),
        Entry("b", "b", "x", {8: sample(10), 64: sample(200)}),
        Entry("a", "a", "y", {1: sample(5)}),
        Entry("b", "b", "y", {1: sample(5)}),
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
    assert answer.cells[1][1].verdict in ("improved", "regressed")
    assert answer.outcome.status == "comparable"


def test_a_series_is_an_entry_with_why_a_point_is_not_ranked():
    points = [
        SimpleNamespace(x=8, metrics={"p99": SimpleNamespace(each=(1.0, None, 3.0), value=2.5)}),
        SimpleNamespace(x=64, metrics={"p99": SimpleNamespace(each=(5.0,), value=5.0)}),
    ]
    first = SimpleNamespace(
        server=SimpleNamespace(name="nginx"), workload=SimpleNamespace(name="hello")
    )
    sweep = SimpleNamespace(group=SimpleNamespace(first=first), points=points)
    found = entry_of(
        sweep,
        row="nginx 1.27",
        metric="p99",
        unranked=lambda point: "overload" if point.x == 64 else None,
    )
    assert found == Entry(
        "nginx 1.27",
        "nginx",
        "hello",
        {8: Sample((1.0, 3.0), shown=2.5), 64: Sample((5.0,), "overload", 5.0)},
    )


names = st.sampled_from("abc")


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    st.dictionaries(st.tuples(names, names), st.floats(1, 1e6).map(sample), min_size=1, max_size=9),
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


def test_a_cell_of_latencies_holds_the_ratio_of_the_figures_shown():
    def entries(*shown):
        for row, values, figure in zip(
            "ab", ((1, 1.01, 0.99), (3, 3.03, 2.97)), shown, strict=True
        ):
            for workload in ("big", "hello"):
                yield Entry(row, row, workload, {8: Sample(values, shown=figure)})

    plain = make_ratio_table(list(entries(1.0, 3.0)), better="lower", relevant=0.02, baseline="a")
    assert plain.cells[1][0].verdict == "regressed"
    other = make_ratio_table(list(entries(30.0, 3.0)), better="lower", relevant=0.02, baseline="a")
    assert (other.cells[1][0].verdict, other.cells[1][0].low) == (
        "inconclusive",
        pytest.approx(0.1),
    )
