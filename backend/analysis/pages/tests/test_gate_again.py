"""A build that is judged again after each of its runs: all of its intervals hold together."""

import pytest

from backend.analysis.judge.requirements import read_requirements
from backend.analysis.pages.gate.describe import GateQuery, judge_build
from backend.analysis.pages.gate.sides import read_side
from backend.analysis.pages.tests.test_gate import add_history, add_run, spread
from backend.analysis.query.compare_query import CompareQuery
from backend.testing.rows import CellSpec, make_workspace

pytestmark = pytest.mark.django_db


@pytest.fixture
def workspace():
    return make_workspace()


def gate(workspace, runs, *texts, most_runs=1):
    asked = GateQuery(
        candidate=read_side("candidate", [f"run={run.pk}" for run in runs]),
        baseline=read_side("baseline", ["main"]),
        requirements=read_requirements(texts or ["throughput > -5%"]),
        narrow=CompareQuery(),
        most_runs=most_runs,
    )
    return judge_build(asked, workspace_ids=[workspace.pk], viewer="viewer")


def half_width(answer):
    ratio = answer.rows[0].ratio
    return ratio.high / ratio.low


def add_build(workspace, *rates):
    """Runs of one version."""
    return [
        add_run(
            workspace,
            20 + at,
            branch="topic",
            specs=[CellSpec(version="new", rates=spread(rate))],
        )
        for at, rate in enumerate(rates)
    ]


def test_who_will_ask_again_gets_a_wider_interval_first_and_nearly_the_same_last(workspace):
    add_history(workspace)
    runs = add_build(workspace, 985, 1004, 993)
    first, last = runs[:1], runs
    assert half_width(gate(workspace, first, most_runs=3)) > half_width(gate(workspace, first))
    alone, again = (half_width(gate(workspace, last, most_runs=most)) for most in (1, 3))
    assert alone < again < alone**1.2
    answer = gate(workspace, last, most_runs=3)
    assert (answer.most_runs, answer.rows[0].candidate_runs, answer.notes) == (3, 3, [])


def test_each_further_run_makes_the_interval_narrower(workspace):
    add_history(workspace, count=20, noise=0.02)
    runs = add_build(workspace, 985, 1020, 975, 1010)
    widths = [half_width(gate(workspace, runs[:count], most_runs=4)) for count in range(1, 5)]
    assert widths == sorted(widths, reverse=True)


def test_a_build_with_more_runs_than_were_stated_is_told_so(workspace):
    add_history(workspace)
    answer = gate(workspace, add_build(workspace, 985, 1004, 993), most_runs=2)
    assert answer.notes == [
        "The candidate has 3 runs, more than most_runs = 2: the intervals of its answers no "
        "longer hold together at 95 %."
    ]


def test_limits_share_the_error_rate_too(workspace):
    """Between the interval of one limit and the wider one of four."""
    add_history(workspace)
    runs = add_build(workspace, 1000)
    limit, others = "throughput > 987", ("throughput > 1", "p50 < 1s", "p99 < 1s")
    assert gate(workspace, runs, limit).verdict == "unchanged"
    rows = gate(workspace, runs, limit, *others, most_runs=9).rows
    assert {row.requirement: row.verdict for row in rows}[limit] == "too_noisy"
