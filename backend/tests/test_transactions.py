"""A whole transaction begins again where others overtook it, but never inside another."""

import psycopg
import pytest
from django.db import IntegrityError, OperationalError, transaction

from backend.runs.amending import merging
from backend.runs.models import Server
from backend.testing.rows import CellSpec, make_run, make_workspace
from backend.transactions import MOST_ATTEMPTS, whole

KINDS = {"40P01": OperationalError, "40001": OperationalError, "23503": IntegrityError}


class Overtaken:
    """Refused so many times, then done."""

    def __init__(self, sqlstate, times):
        self.sqlstate, self.left, self.calls = sqlstate, times, 0

    def __call__(self):
        self.calls += 1
        if self.left:
            self.left -= 1
            kind = KINDS.get(self.sqlstate, IntegrityError)
            raise kind("words") from psycopg.errors.lookup(self.sqlstate)("words")
        return "done"


def run(work):
    return whole(work)()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("sqlstate", KINDS)
def test_it_begins_again_and_gives_up(sqlstate):
    work = Overtaken(sqlstate, MOST_ATTEMPTS - 1)
    assert run(work) == "done"
    assert work.calls == MOST_ATTEMPTS
    hopeless = Overtaken(sqlstate, MOST_ATTEMPTS)
    with pytest.raises(KINDS[sqlstate]):
        run(hopeless)
    assert hopeless.calls == MOST_ATTEMPTS


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("sqlstate", ["23505", "23514"])
def test_what_would_be_refused_again_is_not_repeated(sqlstate):
    work = Overtaken(sqlstate, 1)
    with pytest.raises(IntegrityError):
        run(work)
    assert work.calls == 1


@pytest.mark.django_db(transaction=True)
def test_a_merge_and_its_undoing_begin_again(monkeypatch):
    """Erasing an account takes runs before the names and merges of its author."""
    lab = make_workspace("lab")
    make_run(lab, CellSpec(server="caddy"), CellSpec(server="nginx"))

    remove = merging.remove_unused_series

    def overtake():
        overtaken = Overtaken("40P01", 1)
        monkeypatch.setattr(merging, "remove_unused_series", lambda id_: (overtaken(), remove(id_)))

    overtake()
    merged = merging.merge(lab, merging.Kind.SERVER, "caddy", "nginx", None)
    assert set(Server.objects.values_list("name", flat=True)) == {"nginx"}
    overtake()
    assert merging.undo_merge(merged, by=None)
    assert set(Server.objects.values_list("name", flat=True)) == {"caddy", "nginx"}


@pytest.mark.django_db(transaction=True)
def test_inside_a_transaction_nothing_is_repeated():
    work = Overtaken("40P01", 1)
    with pytest.raises(OperationalError), transaction.atomic():
        run(work)
    assert work.calls == 1
