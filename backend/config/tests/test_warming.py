"""A thread of a web process asks what a visitor is likely to ask, before one does."""

import pytest

from backend.config import warming
from backend.config.warming import MOST_TRIALS, warm_up
from backend.runs.models import Run
from backend.testing.rows import CellSpec, make_run, make_workspace

pytestmark = pytest.mark.django_db


@pytest.fixture
def closed(monkeypatch):
    """One entry for each time that the connection was closed; the test keeps its own."""
    closed = []
    monkeypatch.setattr(warming.connection, "close", lambda: closed.append(True))
    return closed


@pytest.fixture
def asked(monkeypatch):
    """The runs that were asked about."""
    asked, compare = [], warming.compare

    def ask(query, *, workspace_ids):
        figures = compare(query, workspace_ids=workspace_ids)
        asked.extend(run.id for run in figures.runs)

    monkeypatch.setattr(warming, "compare", ask)
    return asked


def test_the_latest_run_is_asked_about_until_its_statements_are_prepared(asked, closed):
    workspace = make_workspace()
    make_run(workspace, CellSpec("older"))
    newest = make_run(workspace, CellSpec("newest"))
    warm_up()
    assert asked == [str(newest.pk)] * 4
    assert not closed


def test_a_run_that_takes_long_is_not_asked_about(asked, closed):
    run = make_run(make_workspace(), CellSpec())
    Run.objects.filter(pk=run.pk).update(counted_trials=MOST_TRIALS + 1)
    warm_up()
    assert asked == []


def test_where_nothing_was_measured_nothing_is_asked_and_no_connection_kept(asked, closed):
    make_workspace()
    warm_up()
    assert asked == []
    assert closed


def test_a_fault_is_logged_and_ends_no_thread(monkeypatch, caplog, closed):
    make_run(make_workspace(), CellSpec())
    monkeypatch.setattr(warming, "compare", None)
    warm_up()
    assert "not_warmed_up" in caplog.text
