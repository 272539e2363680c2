"""A run keeps how many trials it has and its best throughput, whatever changes them."""

import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from queue import Queue
from types import SimpleNamespace

import pytest
from django.apps import apps
from django.db import connection, transaction
from django.db.models import Count, Max, Q

from backend.ingest.models import Upload
from backend.ingest.queue.worker import process
from backend.ingest.reprocessing.editing import edit_run
from backend.ingest.reprocessing.merging import merge_names
from backend.runs.models import Cell, FormerName, Run, Trial
from backend.runs.recording.record import RunInput, record_run
from backend.runs.recording.record_new import NewRun, record_new_runs
from backend.stats.replicates import centre_of_run
from backend.testing import scenes
from backend.testing.rows import CellSpec, make_run
from backend.testing.uploads import WRK, make_envelope, make_tenant, make_upload

pytestmark = pytest.mark.django_db
# Two servers; of the first, a warm-up does not count.
CELLS = (CellSpec("slow", rates=(10.0, 20.0, 30.0)), CellSpec("fast", rates=(900.0, 900.0)))


def totals_of(run):
    run.refresh_from_db()
    return run.counted_trials, run.best_rps


def counted(run):
    """What the rows of its trials and load points say."""
    trials = Trial.objects.filter(run=run).aggregate(count=Count("pk", filter=Q(warmup=False)))
    return trials["count"], Cell.objects.filter(run=run).aggregate(m=Max("throughput_rps"))["m"]


@pytest.fixture
def tenant():
    return make_tenant("lab")


@pytest.fixture
def run(tenant):
    run = make_run(tenant.workspace, *CELLS)
    assert totals_of(run) == counted(run) == (5, 900.0)
    return run


def test_a_run_without_throughput_has_no_best(tenant):
    run = make_run(tenant.workspace, CellSpec("crashed", rates=(None,)))
    assert totals_of(run) == (1, None)


def test_corrections_and_merges(tenant, run):
    """A trial of the fastest point moves to another server, whose name then becomes the first."""
    fastest = Trial.objects.filter(run=run, throughput_rps=900, warmup=False).first()
    edit_run(run, {"server": "another"}, ordinals=[fastest.ordinal], author=None)
    assert totals_of(run) == counted(run) == (5, 900.0)
    merge_names(tenant.workspace, FormerName.Kind.SERVER, "another", "slow", author=None)
    assert totals_of(run) == counted(run)


def test_statements_that_know_nothing_of_it(run):
    """As of a version before, or by hand."""
    fastest = Cell.objects.get(run=run, throughput_rps__gt=800)
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM runs_trial WHERE cell_id = %s", [fastest.pk])
        cursor.execute("DELETE FROM runs_cell WHERE id = %s", [fastest.pk])
    assert totals_of(run) == counted(run)
    assert run.counted_trials == 3
    assert run.best_rps < 900


def test_an_upload_that_is_read_and_read_again(tenant):
    upload = make_upload(tenant, WRK, WRK.replace("18000", "9000"), envelope=make_envelope(2))
    process(upload.pk)
    run = Run.objects.get(pk=Upload.objects.get(pk=upload.pk).run_id)
    assert totals_of(run) == counted(run)
    assert run.counted_trials == 2


@pytest.mark.django_db(transaction=True)
def test_a_trial_that_comes_while_runs_are_filled_is_counted():
    """The migration counted without it, waited for its transaction and wrote the count over its."""
    run = make_run(make_tenant("lab").workspace, *CELLS)
    fill, pids = import_module("backend.runs.migrations.0022_run_totals").fill, Queue()

    def fill_meanwhile():
        try:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_backend_pid()")
                pids.put(cursor.fetchone()[0])
            fill(apps, SimpleNamespace(connection=connection))
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            trial = Trial.objects.filter(run=run, warmup=False).first()
            trial.pk, trial.ordinal = uuid.uuid4(), 99
            trial.save(force_insert=True)
            filling = pool.submit(fill_meanwhile)
            pid = pids.get()
            while not filling.done() and not is_waiting(pid):
                time.sleep(0.01)
        filling.result()
    assert totals_of(run) == counted(run) == (6, 900.0)


def test_where_trials_were_set_aside_all_count(tenant):
    """As the version before stored it: the geometric mean without the trials that lay far off."""
    rates = (100.0, 101.0, 99.0, 100.0, 100.0, 20.0)
    run = make_run(tenant.workspace, CellSpec("many", rates=rates), *CELLS)
    Cell.objects.filter(run=run, trial_count=6).update(throughput_rps=2000.0)
    Run.objects.filter(pk=run.pk).update(best_rps=2000.0)
    migration = import_module("backend.runs.migrations.0026_all_trials_count")
    for _ in range(2):
        migration.compute_throughputs(apps, SimpleNamespace(connection=connection))
        cells = Cell.objects.filter(run=run).values_list("trial_count", "throughput_rps")
        assert dict(cells) == {6: centre_of_run(rates), 3: centre_of_run((10, 20, 30)), 2: 900.0}
        assert totals_of(run) == counted(run) == (11, 900.0)


def is_waiting(pid):
    with connection.cursor() as cursor:
        cursor.execute("SELECT cardinality(pg_blocking_pids(%s)) > 0", [pid])
        return cursor.fetchone()[0]


def test_new_runs_are_written_with_it(tenant):
    """Without the triggers: a row that has its totals is written once."""
    records = [scenes._record(ordinal, "nginx", 8, ordinal) for ordinal in range(3)]
    inputs = [RunInput(id=uuid.uuid4(), workspace=tenant.workspace) for _ in range(2)]
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        record_new_runs(tenant.workspace, [NewRun(each, records) for each in inputs])
        cursor.execute("SET LOCAL session_replication_role = origin")
    for each in inputs:
        run = Run.objects.get(pk=each.id)
        assert totals_of(run) == counted(run)
        assert run.counted_trials == 3
        assert run.best_rps > 0


def test_a_run_that_comes_again_keeps_it(tenant):
    records = [scenes._record(ordinal, "nginx", 8, ordinal) for ordinal in range(3)]
    run_input = RunInput(id=uuid.uuid4(), workspace=tenant.workspace)
    record_run(run_input, records)
    record_run(run_input, [])
    run = Run.objects.get(pk=run_input.id)
    assert totals_of(run) == counted(run)
    assert run.counted_trials == 3
