"""A build is held against the same machines, load tool and series, unless its caller says else."""

import pytest

from backend.analysis.compare import gathering
from backend.analysis.judge.history import gather_baseline
from backend.analysis.loading.rows import fetch_trials
from backend.analysis.pages.gate import describe
from backend.analysis.pages.tests.test_gate import DAY, add_history, add_run, gate, of, spread
from backend.runs.models import Run
from backend.testing.rows import HELLO, STARTED, CellSpec, make_run, make_workspace

pytestmark = pytest.mark.django_db


@pytest.fixture
def workspace():
    return make_workspace()


def on_host(workspace, name, day, rate, branch="main", **facts):
    host = {"name": name, "cpu_model": "Xeon", "cores": 2, **facts}
    spec = CellSpec(version=f"commit-{day}", rates=spread(rate))
    run = make_run(workspace, spec, started_at=STARTED + day * DAY, host=host)
    Run.objects.filter(pk=run.pk).update(labels={"branch": branch})
    workspace.changed()
    return run


@pytest.mark.parametrize(
    ("rate", "facts"),
    [(1008, {}), (720, {}), (1400, {}), (720, {"cpu_model": "EPYC", "cores": 16})],
)
def test_another_machine_is_no_baseline_unless_the_caller_says_so(workspace, rate, facts):
    """On a machine that is 1.4 times as fast, a build that is 28 % slower looks unchanged."""
    for day in range(6):
        on_host(workspace, "slow", day, 1000 * (1 + 0.003 * (-1) ** day))
    candidate = on_host(workspace, "fast", 20, rate, branch="topic", **facts)
    answer = gate(workspace, of(candidate))
    assert answer.verdict == "not_comparable"
    assert "ost differs: slow, fast; may_differ=host allows it." in answer.rows[0].text
    assert answer.outcome.status == "not_comparable"
    allowed = gate(workspace, of(candidate), may_differ=["host"])
    assert allowed.verdict in ("unchanged", "regressed", "improved")
    assert allowed.rows[0].baseline_runs == 6


@pytest.mark.parametrize("version", ["1", "2"])
def test_another_load_tool_is_no_baseline_unless_the_caller_says_so(workspace, version):
    """Where the load tool is all that differs, a reader may compare two load tools."""
    for day in range(6):
        add_run(workspace, day, specs=[CellSpec(version="1", rates=spread(1000 + day))])
    specs = [CellSpec(version=version, tool="ab", rates=spread(1500))]
    candidate = add_run(workspace, 20, branch="topic", specs=specs)
    answer = gate(workspace, of(candidate))
    assert answer.verdict == "not_comparable"
    assert "oad tool differs: wrk, ab; may_differ=tool allows it." in answer.rows[0].text
    assert gate(workspace, of(candidate), may_differ=["tool"]).verdict == "improved"


def test_of_several_machines_only_the_same_one_counts(workspace):
    for day in range(0, 12, 2):
        on_host(workspace, "slow", day, 1000 * (1 + 0.003 * (-1) ** (day // 2)))
        on_host(workspace, "fast", day + 1, 1400 * (1 + 0.003 * (-1) ** (day // 2)))
    answer = gate(workspace, of(on_host(workspace, "fast", 20, 1000, branch="topic")))
    assert (answer.verdict, answer.rows[0].baseline_runs) == ("regressed", 6)


def test_a_workload_that_vanished_fails_the_build(workspace):
    both = [
        CellSpec(workload={**HELLO, "name": name}, rates=spread(1000)) for name in ("json", "plain")
    ]
    for day in range(5):
        add_run(workspace, day, specs=both)
    candidate = add_run(workspace, 20, branch="topic", specs=both[1:])
    answer = gate(workspace, of(candidate))
    assert answer.verdict == "not_comparable"
    assert "lacks json of sync, which" in answer.finding
    assert gate(workspace, of(candidate), workload="plain").verdict == "unchanged"


def test_a_server_that_vanished_fails_the_build(workspace):
    specs = [CellSpec(name, rates=spread(1000)) for name in ("a", "b")]
    for day in range(5):
        add_run(workspace, day, specs=specs)
    answer = gate(workspace, of(add_run(workspace, 20, branch="topic", specs=specs[:1])))
    assert answer.verdict == "not_comparable"
    assert "of b, which the newest run of the baseline has" in answer.finding


@pytest.mark.parametrize("loads", [(8,), (8, 256)])
def test_a_load_that_vanished_fails_the_build(workspace, loads):
    """The figures at the other loads are all kept."""

    def at(*connections):
        return [CellSpec(connections=load, rates=spread(1000)) for load in connections]

    for day in range(5):
        add_run(workspace, day, specs=at(8, 64))
    candidate = of(add_run(workspace, 20, branch="topic", specs=at(*loads)))
    answer = gate(workspace, candidate)
    assert answer.verdict == "not_comparable"
    assert "of sync at 64 connections, which" in answer.finding
    assert answer.finding.endswith("narrow the question by connections=.")
    assert gate(workspace, candidate, connections="8").verdict == "unchanged"


def test_one_of_two_series_at_a_load_that_vanished_fails_the_build(workspace):
    specs = [CellSpec(tool=tool, tool_version=None, rates=spread(1000)) for tool in ("wrk", "hey")]
    for day in range(5):
        add_run(workspace, day, specs=specs)
    candidate = of(add_run(workspace, 20, branch="topic", specs=specs[:1]))
    answer = gate(workspace, candidate)
    assert answer.verdict == "not_comparable"
    assert "the candidate lacks 1 of 2 series of" in answer.finding
    assert "of sync at 64 connections, which" in answer.finding
    assert gate(workspace, candidate, tool="wrk").verdict == "unchanged"


def test_a_series_that_the_baseline_never_had_does_not_fail_it(workspace):
    add_history(workspace)
    specs = [CellSpec(version="new", rates=spread(1000)), CellSpec("other", rates=spread(1000))]
    answer = gate(workspace, of(add_run(workspace, 20, branch="topic", specs=specs)))
    assert answer.verdict == "unchanged"


def test_a_nightly_of_one_commit_is_held_against_the_nights_before(workspace):
    """Nothing was committed: the version is the same each night."""
    for day in range(6):
        add_run(workspace, day, specs=[CellSpec(version="1", rates=spread(1000 + day))])
    tonight = add_run(workspace, 7, specs=[CellSpec(version="1", rates=spread(1002))])
    answer = gate(workspace, of(tonight))
    assert (answer.verdict, answer.rows[0].baseline_runs) == ("unchanged", 6)


def test_a_gate_of_many_metrics_loads_each_side_as_often_as_one_of_one(workspace, monkeypatch):
    add_history(workspace)
    candidate = of(add_run(workspace, 20, 1000, branch="topic"))
    loaded = []

    def load(cells, metrics=()):
        loaded.append(len(cells))
        return fetch_trials(cells, metrics)

    monkeypatch.setattr(gathering, "fetch_trials", load)
    one = gate(workspace, candidate, "p90 < +5%")
    loads = list(loaded)
    loaded.clear()
    texts = ["goodput > -5%", "mean < +5%", "p75 < +5%", "p90 < +5%", "throughput > -5%"]
    many = gate(workspace, candidate, *texts)
    assert loaded == loads
    assert len(loads) == 3
    assert {row.metric for row in many.rows} == {"goodput", "mean", "p75", "p90", "throughput"}
    (alone,), (same,) = one.rows, [row for row in many.rows if row.metric == "p90"]
    assert (alone.baseline.value, alone.candidate) == (same.baseline.value, same.candidate)


def test_series_of_one_server_and_workload_share_their_baseline(workspace, monkeypatch):
    for day in (0, 1, 20):
        specs = [CellSpec(tool=tool, rates=spread(1000)) for tool in ("wrk", "oha")]
        run = add_run(workspace, day, branch="main" if day < 20 else "topic", specs=specs)
    gathered = []

    def load(*args):
        gathered.append(args)
        return gather_baseline(*args)

    monkeypatch.setattr(describe, "gather_baseline", load)
    answer = gate(workspace, of(run))
    assert {row.series for row in answer.rows} == {"sync 23.0 (wrk)", "sync 23.0 (oha)"}
    assert len(gathered) == 1


def test_a_gate_loads_no_further_baselines_than_a_comparison_has_trials(workspace, monkeypatch):
    monkeypatch.setattr(describe, "MOST_TRIALS", 6)
    for day in (0, 1, 20):
        specs = [CellSpec(name, rates=spread(1000)) for name in ("a", "b", "c")]
        run = add_run(workspace, day, branch="main" if day < 20 else "topic", specs=specs)
    answer = gate(workspace, of(run))
    assert {row.series for row in answer.rows} == {"a 23.0"}
    assert answer.notes == [
        "Only the first 1 series were judged (limit: 6 trials); choose some with server=."
    ]
