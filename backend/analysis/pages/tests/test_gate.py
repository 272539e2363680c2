"""The gate of a build: the verdict of each requirement, and what it is held against."""

import random
import re
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from backend.analysis.compare.advice import as_sentence, found_text
from backend.analysis.judge.requirements import read_requirements
from backend.analysis.loading.selection import NotVisible
from backend.analysis.pages.gate.describe import GateQuery, StillMeasured, judge_build
from backend.analysis.pages.gate.sides import find_baseline, find_candidate, read_side
from backend.analysis.query.compare_query import CompareQuery, QueryError
from backend.runs.models import Run
from backend.testing.rows import STARTED, CellSpec, make_run, make_workspace

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)


@pytest.fixture
def workspace():
    return make_workspace()


def spread(rate, share=0.004):
    return tuple(rate * factor for factor in (1 - share, 1, 1 + share))


def add_run(workspace, day, rate=1000.0, *, branch="main", specs=None, **fields):
    """A run on a day; its versions differ from day to day, as commits do."""
    cells = specs or [CellSpec(version=f"commit-{day}", rates=spread(rate), **fields)]
    run = make_run(workspace, *cells, started_at=STARTED + day * DAY)
    Run.objects.filter(pk=run.pk).update(labels={"branch": branch})
    workspace.changed()
    return run


def add_history(workspace, count=8, noise=0.01, rate=1000.0, seed=3):
    chance = random.Random(seed)
    return [add_run(workspace, day, rate * (1 + chance.gauss(0, noise))) for day in range(count)]


def gate(workspace, candidate, *texts, baseline="main", may_differ=(), expected=(), **narrow):
    asked = GateQuery(
        candidate=read_side("candidate", [candidate]),
        baseline=read_side("baseline", [baseline]),
        requirements=read_requirements(texts or ["throughput > -5%"]),
        narrow=CompareQuery.parse(narrow),
        may_differ=frozenset(may_differ),
        expected=tuple(expected),
    )
    return judge_build(asked, workspace_ids=[workspace.pk], viewer="viewer")


def of(run):
    return f"run={run.pk}"


def test_a_build_that_serves_a_third_less_is_regressed(workspace):
    add_history(workspace)
    candidate = add_run(workspace, 20, 667, branch="topic")
    answer = gate(workspace, of(candidate), "throughput > -5%", "p99 < +5%")
    assert answer.verdict == "regressed"
    assert [row.verdict for row in answer.rows] == ["regressed", "regressed"]
    throughput, p99 = answer.rows
    assert throughput.ratio.value == pytest.approx(0.667, rel=0.02)
    assert p99.ratio.value == pytest.approx(1.5, rel=0.02)
    assert answer.finding.startswith(
        "Regressed: throughput of sync commit-20 at 64 connections, 0.6"
    )
    assert answer.finding.endswith("(2 of 2 requirements).")


def test_a_build_without_a_change_is_unchanged(workspace):
    add_history(workspace, noise=0.005)
    candidate = of(add_run(workspace, 20, 1002, branch="topic"))
    answer = gate(workspace, candidate)
    assert answer.verdict == "unchanged"
    assert answer.finding == "Unchanged: 1 requirement is kept."
    twice = gate(workspace, candidate, "p99 < +50%", "p99 < +60%")
    assert twice.finding == "Unchanged: all 2 requirements are kept."
    assert answer.rows[0].baseline_runs == 8


def test_a_build_that_is_faster_beyond_noise_is_improved(workspace):
    add_history(workspace)
    assert gate(workspace, of(add_run(workspace, 20, 1500, branch="topic"))).verdict == "improved"


def test_a_requirement_below_the_noise_of_the_history_is_too_noisy_and_says_so(workspace):
    add_history(workspace, noise=0.05)
    candidate = add_run(workspace, 20, 995, branch="topic")
    answer = gate(workspace, of(candidate), "throughput > -1%")
    (row,) = answer.rows
    assert answer.verdict == "too_noisy"
    assert row.tells_from > 0.05
    # The same difference as in a comparison of these runs.
    assert row.tells_from == row.ratio.finds_from
    found = as_sentence(found_text(row.ratio.finds_from)).removesuffix(".")
    assert f"{found}, but the requirement is 1 %: the noise hides it." in row.text
    assert row.advice.unit == "runs"
    assert (
        answer.settle.endswith("give a verdict in 67 % of cases.")
        or "30 more runs of the candidate would not be" in answer.settle
    )


def test_noise_comes_from_the_history_of_the_metric_and_not_from_a_flat_percentage(workspace):
    for seed, noise in enumerate((0.002, 0.05)):
        lab = make_workspace(f"lab-{noise}".replace(".", "-"))
        add_history(lab, noise=noise, seed=seed, count=12)
        candidate = add_run(lab, 20, 940, branch="topic")
        answer = gate(lab, of(candidate), "throughput > -3%")
        assert answer.noise[0].source == "history"
        assert answer.verdict == ("regressed" if noise == 0.002 else "too_noisy")


def test_a_first_build_has_no_baseline_and_is_told_to_measure_one(workspace):
    answer = gate(workspace, of(add_run(workspace, 0, branch="topic")))
    assert answer.verdict == "not_comparable"
    assert answer.finding == (
        "Not comparable: no run with label=branch:main measured these servers before the "
        "candidate. Measure the baseline first."
    )
    assert answer.rows == []


def test_runs_after_the_candidate_do_not_count(workspace):
    add_history(workspace, count=6)
    candidate = add_run(workspace, 10, 1000, branch="main")
    before = gate(workspace, of(candidate))
    add_run(workspace, 11, 500)
    assert gate(workspace, of(candidate)).rows[0].ratio == before.rows[0].ratio


def test_a_run_dated_in_the_future_stands_where_it_was_recorded(workspace):
    runs = add_history(workspace)
    misdated = runs[4]
    dated = {"started_at": datetime(2036, 1, 1, tzinfo=UTC), "recorded_at": STARTED + 4 * DAY}
    Run.objects.filter(pk=misdated.pk).update(**dated)
    misdated.refresh_from_db()
    main, ids = read_side("baseline", ["main"]), [workspace.pk]
    assert find_candidate(main, ids) == runs[::-1]
    assert find_baseline(main, [misdated], ["sync"]) == runs[3::-1]
    assert find_baseline(main, [runs[3]], ["sync"]) == runs[2::-1]
    assert find_baseline(main, [runs[6]], ["sync"]) == runs[5::-1]


def test_only_runs_since_the_last_change_of_the_branch_count(workspace):
    for day in range(8):
        add_run(workspace, day, 1000 * (1 + 0.003 * (-1) ** day))
    for day in range(8, 16):
        add_run(workspace, day, 700 * (1 + 0.003 * (-1) ** day))
    answer = gate(workspace, of(add_run(workspace, 20, 700, branch="topic")))
    assert answer.verdict == "unchanged"
    assert answer.rows[0].baseline_runs == 8
    assert answer.notes[0] == (
        "Up to 8 runs of the baseline are older than its last change and do not count."
    )


def test_another_load_tool_is_not_comparable_with_the_reason(workspace):
    add_history(workspace)
    specs = [CellSpec(version="new", tool="ab", rates=spread(1000))]
    answer = gate(workspace, of(add_run(workspace, 20, branch="topic", specs=specs)))
    assert answer.verdict == "not_comparable"
    assert "oad tool differs: wrk, ab; may_differ=tool allows it." in answer.rows[0].text
    assert answer.outcome.status == "not_comparable"


def test_a_version_is_held_against_a_version_of_the_same_run(workspace):
    specs = [CellSpec(version=v, rates=spread(r)) for v, r in (("1.1", 1000), ("1.2", 900))]
    add_run(workspace, 0, specs=specs)
    answer = gate(workspace, "version=1.2", "throughput > -5%", baseline="version=1.1")
    assert (answer.verdict, answer.rows[0].series) == ("regressed", "sync 1.2")


def test_two_runs_without_a_history_allow_for_runs_that_differ(workspace):
    base, candidate = add_run(workspace, 0), add_run(workspace, 1, 970, branch="topic")
    answer = gate(workspace, of(candidate), "throughput > -2%", baseline=of(base))
    assert answer.verdict == "too_noisy"
    assert answer.noise[0].source == "assumed"
    assert answer.url.startswith("/w/demo/compare/pair?")


def add_single(workspace, day, rate, **fields):
    """A run of one trial."""
    specs = [CellSpec(version=f"commit-{day}", rates=(rate,))]
    return add_run(workspace, day, specs=specs, **fields)


def test_single_trials_are_too_few_and_it_says_which_to_measure(workspace):
    base, candidate = add_single(workspace, 0, 1000), add_single(workspace, 1, 970, branch="topic")
    answer = gate(workspace, of(candidate), "throughput > -50%", baseline=of(base))
    (row,) = answer.rows
    assert (answer.verdict, row.verdict) == ("too_noisy", "too_noisy")
    assert answer.verdict_text == row.verdict_text == "Too few trials to call"
    assert answer.finding.startswith("Too few trials to call: throughput of sync commit-1 at 64")
    assert row.text.endswith(
        "The candidate has 1 trial and the baseline 1; an interval needs 3 of each. "
        "Measure at least 2 more trials of the candidate and 2 more trials of the baseline."
    )
    assert answer.settle.endswith("of the baseline. Needed for sync commit-1 at 64 connections.")
    assert "nois" not in answer.finding + row.text + answer.settle
    # As the advice says.
    bases = [base, *(add_single(workspace, 0, 1000 + more) for more in (2, 4))]
    candidates = [candidate, *(add_single(workspace, 1, 970 + more) for more in (2, 4))]
    asked = GateQuery(
        candidate=read_side("candidate", [of(run) for run in candidates]),
        baseline=read_side("baseline", [of(run) for run in bases]),
        requirements=read_requirements(["throughput > -50%"]),
        narrow=CompareQuery(),
    )
    assert judge_build(asked, workspace_ids=[workspace.pk], viewer="viewer").verdict == "unchanged"


def test_a_branch_of_few_trials_needs_a_new_run_of_the_candidate_as_well(workspace):
    add_single(workspace, 0, 1000)
    answer = gate(workspace, of(add_run(workspace, 1, 970, branch="topic")))
    assert answer.verdict_text == "Too few trials to call"
    assert "The baseline has 1 trial; an interval needs 3." in answer.rows[0].text
    assert answer.settle.startswith(
        "Measure at least 2 more trials of the baseline, then 3 trials of the candidate in a "
    )


def test_a_single_trial_beside_a_history_lacks_trials_of_the_candidate_alone(workspace):
    add_history(workspace)
    answer = gate(workspace, of(add_single(workspace, 20, 970, branch="topic")), "p99 < 1s")
    assert answer.rows[0].text.endswith(
        "The candidate has 1 trial; an interval needs 3. "
        "Measure at least 2 more trials of the candidate."
    )


def test_noise_and_few_trials_are_told_apart_by_row(workspace):
    def specs(version, few):
        full = CellSpec(version=version, rates=spread(1000, 0.2))
        return [full, CellSpec(version=version, connections=8, rates=few)]

    base = add_run(workspace, 0, specs=specs("a", (1000.0,)))
    candidate = add_run(workspace, 1, specs=specs("b", (1000.0,)))
    answer = gate(workspace, of(candidate), baseline=of(base))
    words = {row.at: row.verdict_text for row in answer.rows}
    assert words == {
        "at 64 connections": "Too noisy to call",
        "at 8 connections": "Too few trials to call",
    }
    assert answer.verdict_text == "Too noisy to call"
    assert (
        "Needed for sync b at 8 connections. 30 more runs of the candidate would not be"
        in answer.settle
    )


def test_more_runs_of_the_candidate_count_together(workspace):
    add_history(workspace, count=10)
    runs = [add_run(workspace, 20 + at, 900 + at, branch="topic") for at in range(3)]
    asked = GateQuery(
        candidate=read_side("candidate", [of(run) for run in runs]),
        baseline=read_side("baseline", ["main"]),
        requirements=read_requirements(["throughput > -5%"]),
        narrow=CompareQuery(),
    )
    answer = judge_build(asked, workspace_ids=[workspace.pk], viewer="viewer")
    assert answer.verdict == "regressed"
    assert len(answer.candidate.runs) == 3


def test_a_limit_within_the_interval_says_so_and_what_to_measure(workspace):
    add_run(workspace, 1)
    build = add_run(workspace, 2, branch="topic")
    verdict = gate(workspace, of(build), "throughput > 1000")
    (row,) = verdict.rows
    assert row.verdict == "too_noisy"
    assert re.fullmatch(r"1,000 requests/s \[99\d, 1,0[01]\d\]", row.change)
    remedy = "The interval includes the limit: measure more trials of the candidate."
    assert row.change in row.text
    assert row.text.endswith(remedy)
    assert verdict.settle == remedy


def test_limits_are_held_without_a_ratio(workspace):
    add_history(workspace)
    candidate = add_run(workspace, 20, branch="topic")
    texts = ["p99 < 1ms", "p50 < 20ms", "error_rate < 1%"]
    verdicts = {row.requirement: row.verdict for row in gate(workspace, of(candidate), *texts).rows}
    assert verdicts == {
        "p99 < 1ms": "regressed",
        "p50 < 20ms": "unchanged",
        "error_rate < 1%": "unchanged",
    }


def test_a_candidate_that_fails_requests_is_regressed_however_fast_it_is(workspace):
    add_history(workspace)
    candidate = add_run(workspace, 20, 2000, branch="topic", error_rate=0.2)
    answer = gate(workspace, of(candidate))
    assert answer.verdict == "regressed"
    assert "20 % of the requests failed" in answer.rows[0].text


def test_a_metric_outside_the_core_is_loaded(workspace):
    add_history(workspace)
    candidate = add_run(workspace, 20, 600, branch="topic")
    answer = gate(workspace, of(candidate), "p90 < +10%", "throughput > -5%")
    assert {row.metric: row.verdict for row in answer.rows} == {
        "p90": "regressed",
        "throughput": "regressed",
    }


def test_a_configuration_is_held_against_its_own(workspace):
    def specs(version, slow):
        return [
            CellSpec(version=version, configuration={"workers": count}, rates=spread(rate))
            for count, rate in ((1, 1000 * slow), (4, 3000))
        ]

    for day in range(5):
        add_run(workspace, day, specs=specs(f"c{day}", 1 + 0.002 * (-1) ** day))
    answer = gate(workspace, of(add_run(workspace, 9, branch="topic", specs=specs("new", 0.7))))
    assert sorted((row.series, row.verdict) for row in answer.rows) == [
        ("sync new (workers=1)", "regressed"),
        ("sync new (workers=4)", "unchanged"),
    ]


def test_one_server_and_workload_can_be_asked_for(workspace):
    add_history(workspace)
    candidate = add_run(workspace, 20, 667, branch="topic")
    answer = gate(workspace, of(candidate), server="sync", workload="hello")
    assert answer.verdict == "regressed"


def test_a_run_that_is_not_complete_is_not_judged(workspace):
    candidate = add_run(workspace, 0)
    Run.objects.filter(pk=candidate.pk).update(is_open=True)
    with pytest.raises(StillMeasured):
        gate(workspace, of(candidate))


def test_a_candidate_that_is_not_there_is_not_found(workspace):
    with pytest.raises(NotVisible, match="There is no run with run="):
        gate(workspace, f"run={uuid4()}")
    foreign = add_run(make_workspace("foreign"), 0)
    with pytest.raises(NotVisible):
        gate(workspace, of(foreign))


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("p99", "a metric, < or >, and an amount"),
        ("speed < +5%", "one of the metrics throughput, "),
        ("p99 > +5%", "p99 < …, because lower is better"),
        ("throughput > +5%", "a change such as throughput > -5%"),
        ("p99 < -5%", "a change such as p99 < +5%, or a limit in us or ms or s"),
        ("p99 < 5%", "a change such as p99 < +5%"),
        ("p99 < +0%", "a change such as p99 < +5%"),
        ("error_rate < +1%", "a limit such as error_rate < 1%"),
        ("max < +5%", "one of the metrics throughput, "),
    ],
)
def test_a_requirement_that_is_not_understood_says_what_is_expected(text, part):
    with pytest.raises(QueryError) as refusal:
        read_requirements([text])
    assert part in str(refusal.value)


@pytest.mark.parametrize("text", ["", "run=x", "label=branch", "version=", "commit=1", "x" * 400])
def test_a_side_that_is_not_understood_is_refused(text):
    with pytest.raises(QueryError):
        read_side("baseline", [text])


def test_the_intervals_of_an_answer_hold_together(workspace):
    """More requirements make each interval wider."""
    add_history(workspace)
    candidate = of(add_run(workspace, 20, branch="topic"))
    alone = gate(workspace, candidate, "throughput > -5%").rows[0].ratio
    beside = next(
        row.ratio
        for row in gate(workspace, candidate, "throughput > -5%", "p50 < +5%", "p99 < +5%").rows
        if row.metric == "throughput"
    )
    assert beside.high - beside.low > alone.high - alone.low
