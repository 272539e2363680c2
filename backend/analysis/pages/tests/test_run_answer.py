"""The sentence above the results of a run: no more than its comparison says."""

import pytest

from backend.analysis.compare.comparison import compare
from backend.analysis.pages.run import describe_run
from backend.analysis.pages.run_answer import answer_run
from backend.analysis.pages.run_summary import summarise_run
from backend.analysis.query.compare_query import CompareQuery
from backend.runs.models import Trial
from backend.testing.rows import HELLO, MACHINE, CellSpec, make_run, make_workspace

pytestmark = pytest.mark.django_db
LOW, HIGH = (100.0, 101.0, 102.0), (200.0, 201.0, 202.0)


@pytest.fixture
def lab():
    return make_workspace("lab")


def measured(server, *levels, **more):
    """A cell for each load, with these rates."""
    return [
        CellSpec(server, version=None, connections=load, rates=rates, **more)
        for load, rates in zip((1, 8, 64), levels, strict=False)
    ]


@pytest.fixture
def answer_of(lab):
    def answer(*cells):
        run, own = make_run(lab, *cells, host=MACHINE), [lab.pk]
        trials = describe_run(run.pk, workspace_ids=own)["trials"]
        summary = summarise_run(run.pk, trials, workspace_ids=own)
        return run, answer_run(run.pk, summary, workspace_ids=own)

    return answer


def test_one_server_has_its_highest_figure(answer_of):
    _, answer = answer_of(*measured("caddy", LOW, HIGH, LOW))
    assert answer.sentence.startswith("caddy serves 201 requests/s [")
    assert answer.sentence.endswith("] at 8 connections, the highest of 3 loads")
    assert answer.margin == ""


def test_one_server_at_one_load_has_no_other_load_to_beat(answer_of):
    _, answer = answer_of(*measured("caddy", HIGH))
    assert answer.sentence.endswith("] at 1 connection")


def test_a_load_at_which_requests_failed_is_not_the_highest_but_is_told(answer_of):
    cells = [
        *measured("caddy", LOW, LOW),
        CellSpec("caddy", version=None, connections=64, rates=HIGH, error_rate=0.2),
    ]
    _, answer = answer_of(*cells)
    assert "caddy serves 101 requests/s" in answer.sentence
    assert answer.sentence.endswith("the highest of 2 loads")
    assert answer.margin == "Most failures: 20 % of the requests of caddy at 64 connections"


def test_where_requests_failed_at_every_load_that_is_the_answer(answer_of):
    _, answer = answer_of(*measured("caddy", LOW, error_rate=0.5))
    assert answer.sentence.startswith("Nothing can be ranked at 1 connection. 50 % of the requests")


@pytest.mark.parametrize("other", [(90.0, 91.0, 92.0), (60.0, 100.0, 150.0)])
def test_several_servers_have_the_answer_of_their_comparison(lab, answer_of, other):
    """Also where noise hides who is ahead."""
    run, answer = answer_of(*measured("caddy", HIGH), *measured("nginx", other))
    told = compare(CompareQuery.parse(f"run={run.pk}"), workspace_ids=[lab.pk]).answer
    assert (answer.sentence, answer.margin) == (told.sentence, told.margin or "")


def test_workloads_are_told_apart(answer_of):
    other = dict(HELLO, name="json", path="/json")
    _, answer = answer_of(*measured("caddy", LOW), *measured("caddy", HIGH, workload=other))
    first, second = answer.sentence.split("; ")
    assert first.startswith("hello: caddy serves 101 requests/s")
    assert second.startswith("json: caddy serves 201 requests/s")
    _, answer = answer_of(
        *measured("caddy", LOW),
        *measured("nginx", HIGH),
        *measured("caddy", HIGH, workload=other),
        *measured("nginx", LOW, workload=other),
    )
    assert answer.sentence == "In this run, by workload: hello: nginx leads; json: caddy leads"
    _, answer = answer_of(
        *measured("caddy", LOW),
        *measured("nginx", HIGH),
        *measured("caddy", LOW, workload=other),
        *measured("nginx", HIGH, workload=other),
    )
    assert answer.sentence == "In this run, by workload: nginx leads in each: hello, json"


def test_a_run_without_a_figure_has_no_answer(lab, answer_of):
    run, _ = answer_of(*measured("caddy", LOW))
    Trial.objects.filter(run=run).update(throughput_rps=None, error_rate=None, percentiles_us={})
    assert answer_run(run.pk, [], workspace_ids=[lab.pk]) is None
