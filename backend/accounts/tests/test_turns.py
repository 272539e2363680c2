"""Persons take turns in work over the rows of many people, and a fault of one stops no other."""

from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.utils import timezone

from backend.accounts.models import Membership, WorkTurn
from backend.accounts.workspace import turns
from backend.accounts.workspace.turns import (
    Work,
    begin_turn,
    end_turn,
    next_workspaces,
    take_turns,
)
from backend.testing.uploads import make_tenant

pytestmark = pytest.mark.django_db
BUDGET_S = 60.0


@pytest.fixture
def workspaces():
    return [make_tenant(name).workspace for name in ("many", "few")]


def test_who_has_much_work_and_who_has_little_take_turns(workspaces):
    many, few = (workspace.pk for workspace in workspaces)
    done = []

    def pieces_of(workspace_id):
        for _ in range({many: 50, few: 2}[workspace_id]):
            done.append(workspace_id)
            yield

    take_turns(Work.TRASH, [many, few], pieces_of, BUDGET_S)
    assert len(done) == 52
    assert few in done[:2]
    assert [at for at, each in enumerate(done) if each == few][-1] <= 4


def test_workspaces_of_one_person_share_the_turns(workspaces):
    first, other = (workspace.pk for workspace in workspaces)
    second = make_tenant("second").workspace
    owner = Membership.objects.get(workspace=first).user
    Membership.objects.filter(workspace=second).update(user=owner)
    done = []

    def pieces_of(workspace_id):
        for _ in range(4):
            done.append(workspace_id)
            yield

    take_turns(Work.TRASH, [first, second.pk, other], pieces_of, BUDGET_S)
    assert done[:8].count(other) == 4


def test_a_fault_ends_the_work_of_that_workspace_alone(workspaces, caplog):
    bad, good = (workspace.pk for workspace in workspaces)
    done = []

    def pieces_of(workspace_id):
        if workspace_id == bad:
            raise RuntimeError("unforeseen")
        done.append(workspace_id)
        yield

    take_turns(Work.TRASH, [bad, good], pieces_of, BUDGET_S)
    assert done == [good]
    assert "work_failed" in caplog.text


def test_the_next_call_begins_with_who_was_left(workspaces, monkeypatch):
    ids = [workspace.pk for workspace in workspaces]
    clock = [0.0]
    monkeypatch.setattr(turns, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    done, closed = [], []

    def pieces_of(workspace_id):
        try:
            while True:
                done.append(workspace_id)
                clock[0] += 2 * BUDGET_S
                yield
        finally:
            closed.append(workspace_id)

    for _ in range(2):
        take_turns(Work.TRASH, ids, pieces_of, BUDGET_S)
    assert (done, closed) == (ids, ids)


def test_who_ends_the_worker_has_had_the_turn(workspaces):
    ids = [workspace.pk for workspace in workspaces]

    class Killed(BaseException):
        pass

    def pieces_of(workspace_id):
        raise Killed(workspace_id)
        yield

    killed = []
    for _ in range(2):
        with pytest.raises(Killed) as kill:
            take_turns(Work.TRASH, ids, pieces_of, BUDGET_S)
        killed.append(kill.value.args[0])
    assert killed == ids


def test_a_workspace_without_an_owner_has_turns_too(workspaces):
    orphan, other = (workspace.pk for workspace in workspaces)
    Membership.objects.filter(workspace=orphan).delete()
    end_turn(Work.RUN, orphan, 10.0)
    assert WorkTurn.objects.get().at > timezone.now() + timedelta(seconds=90)
    assert next_workspaces(Work.RUN, [orphan, other]) == [other]
    workspaces[0].delete()
    WorkTurn.objects.all().delete()
    begin_turn(Work.RUN, orphan)
    assert not WorkTurn.objects.exists()
