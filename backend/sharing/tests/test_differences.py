"""What changed since a comparison was frozen."""

from statistics import geometric_mean

import pytest

from backend.analysis.compare.comparison import compare
from backend.analysis.figures import plain_figures
from backend.analysis.kept_figures import read_figures
from backend.analysis.query.compare_query import CompareQuery
from backend.runs.amending.renaming import rename
from backend.runs.models import FormerName, Server, Trial
from backend.sharing.differences import differences_between, differences_since
from backend.sharing.freezing import Description, freeze
from backend.testing.figures import make_figures
from backend.testing.rows import CellSpec, make_run, make_workspace


@pytest.fixture
def lab(db):
    return make_workspace("lab")


def frozen(lab, text=""):
    return freeze(
        CompareQuery.parse(text), workspace=lab, author=None, description=Description(title="T")
    )


def test_nothing_changed(lab):
    make_run(lab, CellSpec("sync"), CellSpec("gthread"))
    made = frozen(lab)
    # What came later is not what was frozen.
    make_run(lab, CellSpec("sync", rates=(1.0, 2.0, 3.0)))
    found = differences_since(made, viewer="viewer")
    assert found.is_empty
    assert found.after == found.before


def test_a_figure_that_is_another_now(lab):
    run = make_run(lab, CellSpec("sync"))
    make_run(lab, CellSpec("gthread"))
    made = frozen(lab)
    for trial in Trial.objects.filter(run=run, warmup=False):
        trial.throughput_rps = trial.throughput_rps * 2
        trial.save()
    found = differences_since(made, viewer="viewer")
    assert not found.is_empty
    [one] = [one for one in found.figures if one.metric == "throughput"]
    level = geometric_mean((1000.0, 1010.0, 990.0))
    assert (one.before, one.after) == pytest.approx((level, 2 * level))
    assert one.place.x == 64
    assert one.ratio.value == pytest.approx(2.0)
    assert one.ratio.verdict == "improved"
    assert found.after != found.before


def set_rates(run, *rates):
    for trial, rate in zip(Trial.objects.filter(run=run, warmup=False), rates, strict=True):
        trial.throughput_rps = rate
        trial.save()


def test_the_ratio_is_that_of_the_figures_shown(lab):
    run = make_run(lab, CellSpec("sync"))
    make_run(lab, CellSpec("sync", rates=(1500.0,)))
    made = frozen(lab)
    set_rates(run, 2000.0, 2020.0, 1980.0)
    [change] = [
        each
        for each in differences_since(made, viewer="viewer").figures
        if each.metric == "throughput"
    ]
    # Each run counts as much as the other, whatever its number of trials.
    assert (
        change.ratio.value == pytest.approx(change.after / change.before) == pytest.approx(2**0.5)
    )
    assert change.ratio.low < change.ratio.value < change.ratio.high
    assert change.ratio.scope == "in the 2 runs that measured both"


def test_three_runs_are_the_units_of_a_change(lab):
    rates = (1000.0, 1002.0, 998.0)
    runs = [
        make_run(lab, CellSpec("sync", rates=[level * rate for rate in rates]))
        for level in (1.0, 1.1, 0.9)
    ]
    made = frozen(lab)
    for run, level in zip(runs, (1.05, 1.0, 1.04), strict=True):
        set_rates(run, *(level * rate for rate in rates))
    [change] = [
        each
        for each in differences_since(made, viewer="viewer").figures
        if each.metric == "throughput"
    ]
    assert change.ratio.scope == "over 3 runs"
    # As nine trials, they would tell a change that the runs do not.
    assert change.ratio.verdict == "inconclusive"


def test_figures_that_do_not_tell_the_run_of_a_trial_have_no_interval(lab):
    run = make_run(lab, CellSpec("sync"))
    make_run(lab, CellSpec("sync", rates=(1500.0,)))
    before = without_runs_of_trials(lab)
    set_rates(run, 2000.0, 2020.0, 1980.0)
    lab.changed()
    changed = differences_between(
        before, without_runs_of_trials(lab), missing_runs=(), relevant=0.02
    )
    [change] = [each for each in changed.figures if each.metric == "throughput"]
    assert change.ratio.value == pytest.approx(change.after / change.before)
    assert (change.ratio.low, change.ratio.verdict) == (None, "inconclusive")


def without_runs_of_trials(lab):
    """The figures as an older version froze them."""
    figures = plain_figures(compare(CompareQuery.parse(""), workspace_ids=[lab.pk]))
    for series in figures["series"]:
        for point in series["points"]:
            del point["runs"]
    return read_figures(figures)


def test_rounded_figures_change_by_no_less_than_their_steps(lab):
    run = make_run(lab, CellSpec("sync", tool="ab", computed=False))
    Trial.objects.filter(run=run).update(
        percentiles_us={"50": 3000.0, "99": 9000.0}, latency_resolution_us=1000.0
    )
    lab.changed()
    made = frozen(lab)
    Trial.objects.filter(run=run).update(percentiles_us={"50": 4000.0, "99": 9000.0})
    lab.changed()
    [change] = [
        each for each in differences_since(made, viewer="viewer").figures if each.metric == "p50"
    ]
    # 3 and 4 ms may both have been 3.5 ms.
    assert change.ratio.low <= 1
    assert change.ratio.verdict == "inconclusive"


def test_a_run_that_is_gone_takes_its_points(lab):
    kept, lost = make_run(lab, CellSpec("sync")), make_run(lab, CellSpec("gthread"))
    made = frozen(lab)
    lost_id = str(lost.pk)
    lost.delete()
    found = differences_since(made, viewer="viewer")
    assert found.missing_runs == (lost_id,)
    assert [one.label for one in found.gone] == ["gthread 23.0"]
    kept.delete()
    found = differences_since(made, viewer="viewer")
    assert found.after is None
    assert len(found.gone) == 2
    assert not found.is_empty


def test_a_new_name_is_no_new_series(lab):
    make_run(lab, CellSpec("sync"))
    made = frozen(lab)
    Server.objects.filter(workspace=lab).update(name="unicorn")
    lab.changed()
    found = differences_since(made, viewer="viewer")
    assert found.renamed == (("sync 23.0", "unicorn 23.0"),)
    assert not found.gone
    assert not found.new


def figures(*points, metrics=("throughput",)):
    return {
        "finding": "f",
        "metrics": [
            {"id": id_, "label": id_, "unit": "req/s", "better": "higher"} for id_ in metrics
        ],
        "series": [{**SERIES, "points": [_point(x, value) for x, value in points]}],
    }


SERIES = {
    "id": "a",
    "label": "a",
    "server": "a",
    "version": None,
    "workload": None,
    "tool": None,
    "host": None,
    "slot": 0,
}


def _point(x, value):
    measure = {"value": value, "low": None, "high": None, "each": [value] * 3}
    metrics = {"throughput": None if value is None else measure}
    return {
        "x": x,
        "cell": f"cell-{x}",
        "trials": 3,
        "overload": None,
        "checks": [],
        "metrics": metrics,
    }


def said(before, after):
    return differences_between(
        make_figures(**before), make_figures(**after), missing_runs=(), relevant=0.02
    )


def test_rounding_is_no_change():
    assert said(figures((1, 100.0)), figures((1, 100.0 * (1 + 1e-12)))).is_empty


def test_unknown_then_or_now_is_a_change_without_a_ratio():
    for before, after in ((None, 5.0), (5.0, None)):
        [one] = said(figures((1, before)), figures((1, after))).figures
        assert (one.before, one.after, one.ratio) == (before, after, None)
    assert said(figures((1, None)), figures((1, None))).is_empty


def test_a_series_is_known_by_its_cells_where_its_id_is_another():
    before, after = figures((1, 5.0), (8, 6.0)), figures((1, 5.0), (8, 7.0))
    for one in (before, after):
        for point in one["series"][0]["points"]:
            point["cells"] = [f"cell-{point['x']}"]
    after["series"][0].update(id="b", label="b")
    found = said(before, after)
    assert found.renamed == (("a", "b"),)
    assert [(one.before, one.after) for one in found.figures] == [(6.0, 7.0)]
    assert not found.gone
    assert not found.new


def test_points_that_came_and_went():
    found = said(figures((1, 5.0), ("a", 6.0)), figures((1, 5.0), (8, 7.0)))
    assert [one.x for one in found.gone] == ["a"]
    assert [one.x for one in found.new] == [8]


def test_a_metric_that_only_one_side_has_is_not_compared():
    before = figures((1, 5.0), metrics=("throughput", "p42"))
    assert said(before, figures((1, 5.0))).is_empty


def test_a_renamed_place_is_renamed_and_neither_gone_nor_new(lab):
    make_run(lab, CellSpec("sync"), CellSpec("gthread"))
    made = frozen(lab, "x=server")
    rename(lab, FormerName.Kind.SERVER, "sync", "sync worker", None)
    found = differences_since(made, viewer="viewer")
    assert (found.gone, found.new, found.figures) == ((), (), ())
    assert ("sync", "sync worker") in found.renamed
