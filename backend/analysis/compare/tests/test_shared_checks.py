"""What a comparison says of series that share a limit, or were measured in different ways."""

from datetime import timedelta

import pytest

from backend.analysis.compare.comparison import compare
from backend.analysis.figures import plain_figures
from backend.analysis.query.compare_query import CompareQuery
from backend.runs.models import Trial
from backend.testing.rows import STARTED, CellSpec, make_run, make_workspace

pytestmark = pytest.mark.django_db


@pytest.fixture
def lab():
    return make_workspace("lab")


def fired(workspace):
    figures = plain_figures(compare(CompareQuery.parse(""), workspace_ids=[workspace.pk]))
    return {check["id"]: check for check in figures["checks"]}


def trials_of(server):
    return Trial.objects.filter(cell__series__server__name=server, warmup=False)


def test_servers_measured_in_one_run_share_nothing(lab):
    make_run(lab, CellSpec("a"), CellSpec("b", rates=(700.0, 710.0, 690.0)))
    assert fired(lab).keys() == set()


def test_a_ceiling_is_told_beside_a_slower_server(lab):
    names = {"a": 1_000.0, "b": 1_003.0, "c": 998.0, "slow": 400.0}
    make_run(lab, *(CellSpec(name, rates=[rate] * 3) for name, rate in names.items()))
    ceiling = fired(lab)["common-ceiling"]
    assert ceiling["count"] == 3
    assert "Use a faster client host" in ceiling["explanation"]


def test_a_flat_sweep_is_told(lab):
    make_run(lab, *(CellSpec(connections=load, rates=(64.0, 64.2, 63.9)) for load in (1, 8, 64)))
    assert fired(lab)["flat-over-load"]["count"] == 3


def test_servers_measured_months_apart_are_told(lab):
    make_run(lab, CellSpec("a"))
    make_run(lab, CellSpec("b"), started_at=STARTED + timedelta(days=180))
    assert fired(lab)["far-apart"]["count"] == 2


def test_longer_trials_of_one_server_are_told(lab):
    make_run(lab, CellSpec("a"), CellSpec("b"))
    trials_of("b").update(requests_completed=600_000, requests_ok=600_000, elapsed_s=600.0)
    assert fired(lab)["unequal-length"]["count"] == 2


def test_other_numbers_of_threads_are_told(lab):
    make_run(lab, CellSpec("a"), CellSpec("b"))
    trials_of("a").update(load={"threads": 8})
    trials_of("b").update(load={"threads": 1})
    assert fired(lab)["unequal-threads"]["count"] == 2


def test_an_order_that_never_changes_is_told(lab):
    rates = (1_000.0, 1_010.0, 990.0, 1_005.0, 995.0)
    run = make_run(lab, CellSpec("a", rates=rates), CellSpec("b", rates=rates))
    Trial.objects.filter(run=run, warmup=True).delete()
    # Out of the way of the ordinals that the trials get.
    for trial in Trial.objects.filter(run=run):
        Trial.objects.filter(pk=trial.pk).update(ordinal=trial.ordinal + 100)
    for place, server in enumerate("ab"):
        for turn, trial in enumerate(trials_of(server).order_by("ordinal")):
            Trial.objects.filter(pk=trial.pk).update(repeat=turn, ordinal=2 * turn + place)
    assert fired(lab)["fixed-order"]["severity"] == "info"
