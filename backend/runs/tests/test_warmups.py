"""Whether a load point had a warm-up is known in one way, however its run was recorded."""

import uuid
from dataclasses import replace

import pytest

from backend.runs.models import Cell
from backend.runs.recording.record import RunInput, record_early, record_run
from backend.testing import scenes
from backend.testing.uploads import make_tenant

pytestmark = pytest.mark.django_db


@pytest.fixture
def tenant():
    return make_tenant()


def trials_at(connections, *, first, warmup=False):
    records = [scenes._record(first + at, "nginx", connections, at) for at in range(3)]
    return [replace(record, warmup=warmup) for record in records]


def loads_without_warmup(run_id):
    cells = Cell.objects.filter(run=run_id)
    return {
        cell.connections
        for cell in cells
        if "no-warmup" in {finding["id"] for finding in cell.checks}
    }


def test_a_warm_up_that_came_by_itself_tells_that_others_had_none(tenant):
    run_input = RunInput(id=uuid.uuid4(), workspace=tenant.workspace)
    record_early(run_input, trials_at(8, first=0, warmup=True))
    record_early(run_input, trials_at(8, first=3))
    record_early(run_input, trials_at(64, first=6))
    assert loads_without_warmup(run_input.id) == {64}


@pytest.mark.parametrize("plan", ["", "[load]"])
def test_a_whole_run_tells_it_by_its_plan_or_one_warm_up(tenant, plan):
    run_input = RunInput(id=uuid.uuid4(), workspace=tenant.workspace, plan=plan)
    record_run(run_input, trials_at(64, first=0))
    assert loads_without_warmup(run_input.id) == ({64} if plan else set())
    run_input = RunInput(id=uuid.uuid4(), workspace=tenant.workspace, plan=plan)
    records = [*trials_at(8, first=0, warmup=True), *trials_at(8, first=3)]
    record_run(run_input, [*records, *trials_at(64, first=6)])
    assert loads_without_warmup(run_input.id) == {64}
