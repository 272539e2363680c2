"""What runs and rounds have in common: the unit of an interval, and what more runs would add."""

from math import exp, log, log1p, sqrt
from statistics import fmean, stdev

import pytest

from backend.analysis.compare.tests.ranked_series import around, ask, by_name, only_measure, server
from backend.noise.models import HostNoise
from backend.runs.models import Host, Trial
from backend.testing.rows import CellSpec, make_run, make_workspace

pytestmark = pytest.mark.django_db

# 97.5 % of Student's t with 2 degrees of freedom.
T2 = 4.302653
# How far two servers of different runs may seem apart: t of 8 degrees.
ASSUMED = 2.306004 * 0.03 * sqrt(6 / 8) * sqrt(2)


@pytest.fixture
def lab():
    return make_workspace("lab")


@pytest.mark.parametrize(
    ("runs", "starts", "text"),
    [
        (
            1,
            (1, 1, 1),
            "Measured in one run: the intervals cover more trials of this run. Two more runs would "
            "cover other days, builds and server starts too.",
        ),
        (
            2,
            None,
            "Measured in 2 runs: the intervals cover more trials of these runs. One more run would "
            "cover other days and builds too.",
        ),
        (3, (1, 1, 1), None),
    ],
)
def test_the_page_says_what_more_runs_would_add(lab, runs, starts, text):
    """A start for each trial covers other starts."""
    for number in range(runs):
        make_run(lab, server("a", 1000 + number, starts=starts))
    assert ask(lab)["replication"] == text


def test_runs_that_no_interval_covers_are_counted_apart(lab):
    """Else one page has 2 runs here, and 3 in its conditions and its list of runs."""
    for number in range(2):
        make_run(lab, server("a", 1000 + number))
    make_run(lab, CellSpec("a", connections=8, rates=(1000.0,)))
    answer = ask(lab)
    assert answer["conditions"].count("3 runs") == 1
    assert answer["replication"].startswith(
        "Measured in 2 runs of 3, the others with fewer than 3 trials a point: the intervals cover"
    )


def test_the_page_says_no_run_of_all_points_where_they_are_of_different_runs(lab):
    make_run(lab, server("a", 1000))
    make_run(lab, server("b", 1060))
    assert ask(lab)["replication"].startswith(
        "All points were measured in fewer than 3 runs: there, the intervals cover more trials of "
        "the same runs."
    )
    for _ in range(2):
        make_run(lab, server("a", 1000))
    assert ask(lab)["replication"].startswith("1 of 2 points was measured in fewer than 3 runs")


def test_from_three_runs_on_the_run_is_the_unit(lab):
    levels = (1000.0, 1050.0, 960.0)
    for level, spread in zip(levels, (1, 5, 2), strict=True):
        make_run(lab, server("a", level, spread))
    measure = only_measure(lab)
    means = [fmean(map(log, around(*each))) for each in zip(levels, (1, 5, 2), strict=True)]
    half = T2 * stdev(means) / sqrt(3)
    assert measure["interval"] == "95 % interval over 3 runs"
    assert measure["value"] == pytest.approx(exp(fmean(means)))
    assert measure["high"] == pytest.approx(exp(fmean(means) + half))


def test_servers_of_different_runs_differ_by_what_runs_differ_by(lab):
    make_run(lab, server("a", 1000))
    make_run(lab, server("b", 1060))
    figures = ask(lab)
    ratio = by_name(figures)["b"]["ratio"]
    assert ratio["verdict"] == "inconclusive"
    assert "runs differ by 3 % (assumed)" in figures["finding"]
    # What is assumed of the two runs, and hardly any noise beside it.
    assert ratio["high"] / ratio["value"] == pytest.approx(exp(ASSUMED), rel=0.01)


def test_the_history_of_the_host_sharpens_the_assumption_and_bounds_what_is_told(lab):
    make_run(lab, server("a", 1000))
    make_run(lab, server("b", 1060))
    HostNoise.objects.create(
        host=Host.objects.get(), floor_share=0.1, comparisons=4, run_sd=0.001, run_freedom=9
    )
    lab.changed()
    figures = ask(lab)
    ratio = by_name(figures)["b"]["ratio"]
    assert "runs differ by 2.06 % (learned on this host)" in figures["finding"]
    assert log(ratio["high"] / ratio["value"]) == pytest.approx(log1p(0.1), rel=0.01)
    assert "cannot show differences under 10 %" in figures["replication"]


def paired_rounds(workspace, *, has_rounds):
    """Two servers 3 % apart with a noise of 1 %, and a disturbance of 5 % that both share."""
    shared = (0.95, 1.06, 1.0, 0.93, 1.05)
    own = ((1.01, 0.995, 1.0, 0.99, 1.005), (1.0, 1.01, 0.99, 1.0, 1.0))
    cells = [
        CellSpec(name, rates=[level * a * b for a, b in zip(shared, noise, strict=True)], warmups=0)
        for name, level, noise in zip("ab", (1000.0, 1040.0), own, strict=True)
    ]
    run = make_run(workspace, *cells)
    for trial in Trial.objects.filter(run=run):
        # The two take turns.
        trial.repeat = trial.ordinal // 2 if has_rounds else trial.ordinal
        trial.save(update_fields=["repeat"])
    workspace.changed()


@pytest.mark.parametrize("has_rounds", [True, False])
def test_what_a_round_shares_is_taken_out(lab, has_rounds):
    paired_rounds(lab, has_rounds=has_rounds)
    ratio = by_name(ask(lab))["b"]["ratio"]
    assert (ratio["low"] > 1) == has_rounds


def test_trials_that_hardly_differ_in_different_runs_are_compared(lab):
    # A fixed rate is reached to five digits: the noise is next to nothing beside that of runs.
    make_run(lab, CellSpec("a", rates=(1000.0, 1000.001, 999.999), p50_us=None))
    make_run(lab, CellSpec("b", rates=(1000.0, 1000.001, 999.998), p50_us=None))
    ratio = by_name(ask(lab))["b"]["ratio"]
    assert ratio["high"] == pytest.approx(exp(ASSUMED), rel=0.002)
