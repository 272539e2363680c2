"""Lists of runs are read from an index in each order, from the cursor on."""

from datetime import timedelta

import pytest
from django.db import connection

from backend.runs.catalogue.listing import run_page
from backend.runs.catalogue.run_order import DIRECTIONS, RunOrder
from backend.runs.catalogue.search import RunSearch
from backend.runs.models import Run
from backend.testing.plans import first_plan, index_scan, scans_of
from backend.testing.rows import STARTED, CellSpec, make_run, make_workspace

pytestmark = pytest.mark.django_db
# Every other run has no start: then its arrival counts.
MANY = """
INSERT INTO runs_run (id, workspace_id, started_at, recorded_at, interrupted, labels, plan,
    plan_sha256, facts, agent, stopped, events, max_rates, server_tails, session, is_open,
    counted_trials, best_rps)
SELECT gen_random_uuid(), %s, CASE WHEN number %% 2 = 0 THEN at END, at, false, '{}', '', '', '{}',
    '{}', '', '[]', '[]', '{}', '{}', false, number %% 5, nullif(number %% 7, 0)
FROM generate_series(1, 3000) AS number,
    LATERAL (SELECT %s - number * interval '1 hour') AS made(at)
"""


@pytest.fixture
def lab():
    lab = make_workspace("lab")
    make_run(lab, CellSpec(), started_at=STARTED)
    with connection.cursor() as cursor:
        cursor.execute(MANY, [lab.pk, STARTED])
        cursor.execute("ANALYZE runs_run")
    return lab


def scan_of_runs(lab, **asked):
    """The index by which the page of a list finds its runs, and its condition."""
    return index_scan("runs_run", lambda: run_page([lab.pk], limit=20, **asked))


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize(
    ("sort", "index", "column"),
    [
        ("received", "run_by_workspace", "recorded_at"),
        ("started", "run_by_happening", "LEAST(COALESCE(started_at, recorded_at), recorded_at)"),
        ("trials", "run_by_trials", "counted_trials"),
        ("throughput", "run_by_best", "COALESCE(best_rps, "),
    ],
)
def test_a_page_begins_at_its_cursor(lab, sort, direction, index, column):
    order = RunOrder(sort, direction)
    following = run_page([lab.pk], limit=20, order=order).next
    chosen, condition = scan_of_runs(lab, order=order, after=following)
    assert chosen == index
    assert column in condition
    # Of equal values, the id says where the page begins.
    assert sort == "received" or ", id)" in condition


@pytest.mark.parametrize("field", ["since", "until"])
def test_days_are_found_by_an_index(lab, field):
    oldest = STARTED - timedelta(hours=3000)
    day = STARTED if field == "since" else oldest + timedelta(days=1)
    search = RunSearch.parse({field: day.date().isoformat()})
    index, condition = scan_of_runs(lab, search=search, order=RunOrder("started"))
    assert index == "run_by_happening"
    assert "COALESCE(started_at, recorded_at)" in condition
    rows = run_page([lab.pk], search=search, limit=100).rows
    assert 0 < len(rows) < 100
    runs = Run.objects.filter(pk__in=[row.id for row in rows])
    assert any(run.started_at is None for run in runs)


@pytest.mark.parametrize("state", ["running", "interrupted"])
def test_few_runs_of_a_state_are_found_by_an_index(lab, state):
    index, _ = scan_of_runs(lab, search=RunSearch(state=state))
    assert index == "run_unfinished"


def test_the_throughput_of_a_server_is_read_once_for_all_runs(lab):
    """Not by a statement within the statement, which looks at the load points of each run."""
    make_run(lab, CellSpec("another"))
    search, order = RunSearch(server="actix"), RunOrder("throughput")
    plan = first_plan(lambda: run_page([lab.pk], search=search, order=order), of="runs_cell")
    assert len(list(scans_of("runs_cell", plan))) == 1
    assert "SubPlan" not in str(plan)
