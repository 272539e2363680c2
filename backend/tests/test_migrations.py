"""Migrations hold no lock of a large table for long, and can be run again where they stopped."""

import importlib
import threading
import time

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.db import connection, migrations, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.state import ProjectState
from django.test.utils import CaptureQueriesContext

from backend.config.management.commands import migrate
from backend.ingest.queue.worker import process
from backend.migration_steps import (
    AddFieldOnce,
    AddIndexOnce,
    RemoveIndexOnce,
    batches_of_keys,
)
from backend.runs.models import Cell, Run, Trial
from backend.testing.pooler import needs_session
from backend.testing.uploads import make_tenant, make_upload

# By app, the tables that grow with what is measured.
LARGE = {
    "runs": {"run", "cell", "trial", "trialtimeline", "series"},
    "ingest": {"upload", "artefact", "smallcontent"},
}
# Migrations from these numbers on are held to the rules; databases of before had few rows.
FIRST = {"runs": 10, "ingest": 7}
ALLOWED = {
    "ingest.0007_stored_bytes": "reads large tables and writes a small one",
    "runs.0012_trial_printed": "adds a column with a default of Django; the version before stops",
    "runs.0015_trash": "two indexes of runs, which had no entry yet",
}
HARMLESS_FIELDS = "a new column is nullable, or has a default of the database"


def test_no_migration_locks_a_large_table_for_long():
    loader = MigrationLoader(None)
    faults = [
        f"{app}.{name}: {fault}"
        for (app, name), migration in sorted(loader.disk_migrations.items())
        if app in LARGE and int(name[:4]) >= FIRST[app] and f"{app}.{name}" not in ALLOWED
        for fault in faults_of(migration, app)
    ]
    assert faults == []


def faults_of(migration, app):
    """What a migration does to large tables that it did not make itself."""
    made = {each.name_lower for each in migration.operations if is_a(each, migrations.CreateModel)}
    changes = [
        each
        for each in migration.operations
        if getattr(each, "model_name_lower", "") in LARGE[app] - made
    ]
    if migration.atomic and any(map(changes_rows, migration.operations)):
        yield "changes rows in one transaction; use batches_of_keys and atomic = False"
    for change in changes:
        yield from fault_of(change, is_atomic=migration.atomic)


def fault_of(change, *, is_atomic):
    if is_a(change, migrations.AddIndex) and not is_a(change, AddIndexOnce):
        yield "builds an index while writers wait; use AddIndexOnce"
    if is_a(change, migrations.RemoveIndex) and not is_a(change, RemoveIndexOnce):
        yield "builds it while writers wait, where it is undone; use RemoveIndexOnce"
    if is_a(change, migrations.AddField) and not (change.field.null or has_default(change.field)):
        yield f"adds {change.name}; {HARMLESS_FIELDS}"
    if is_a(change, migrations.AddField) and not (is_atomic or is_a(change, AddFieldOnce)):
        yield f"adds {change.name}, which fails when it is run again; use AddFieldOnce"
    if is_a(change, migrations.AlterField, migrations.AddConstraint):
        yield "looks at every row while all others wait"
    if is_a(change, migrations.RemoveField, migrations.RenameField):
        yield "takes a column from the version that still runs"


def is_a(operation, *kinds):
    return isinstance(operation, kinds)


def changes_rows(operation):
    return is_a(operation, migrations.RunPython, migrations.RunSQL)


def has_default(field):
    return field.db_default is not models.NOT_PROVIDED


def changed(**members):
    """A migration of the app runs with such members."""
    return type("Migration", (migrations.Migration,), members)("0099_test", "runs")


INDEX = models.Index(fields=["tool"], name="cell_by_tool")
TEXT = models.TextField()


@pytest.mark.parametrize(
    ("operation", "is_atomic", "words"),
    [
        (migrations.AddIndex("cell", INDEX), True, "while writers wait"),
        (migrations.RemoveIndex("cell", "cell_of_run"), True, "where it is undone"),
        (migrations.RunPython(lambda *_: None), True, "in one transaction"),
        (migrations.RunSQL("UPDATE runs_cell SET tool = ''"), True, "in one transaction"),
        (migrations.AddField("trial", "words", TEXT), True, "has a default"),
        (migrations.AddField("trial", "words", models.TextField(null=True)), False, "run again"),
        (migrations.AlterField("trial", "ordinal", models.BigIntegerField()), True, "every row"),
        (migrations.RemoveField("run", "plan"), True, "still runs"),
    ],
)
def test_a_dangerous_migration_is_refused(operation, is_atomic, words):
    faults = list(faults_of(changed(operations=[operation], atomic=is_atomic), "runs"))
    assert words in "".join(faults)


def test_what_holds_no_lock_for_long_is_allowed():
    steps = [AddFieldOnce("trial", "words", models.TextField(null=True))]
    steps += [migrations.RunPython(lambda *_: None), AddIndexOnce("cell", INDEX)]
    steps += [RemoveIndexOnce("cell", "cell_of_run")]
    assert list(faults_of(changed(operations=steps, atomic=False), "runs")) == []
    # A table that the migration makes itself is empty.
    made = [migrations.CreateModel("Cell", []), migrations.AddIndex("cell", INDEX)]
    assert list(faults_of(changed(operations=made), "runs")) == []


def run_again(step, app):
    """Run a step on tables that have what it makes."""
    state = ProjectState.from_apps(apps)
    with connection.schema_editor(atomic=False) as editor:
        step.database_forwards(app, editor, state, state)


def is_valid_index(name):
    with connection.cursor() as cursor:
        cursor.execute("SELECT indisvalid FROM pg_index WHERE indexrelid = %s::regclass", [name])
        return cursor.fetchone()[0]


@pytest.mark.django_db(transaction=True)
def test_steps_that_were_done_are_not_done_again():
    run_again(AddFieldOnce("trial", "printed", models.JSONField(default=dict)), "runs")
    index = next(each for each in Trial._meta.indexes if each.name == "trial_by_output")
    run_again(AddIndexOnce("trial", index), "runs")
    with connection.cursor() as cursor:
        # As a build leaves it that was stopped.
        cursor.execute(
            "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'trial_by_output'::regclass"
        )
        assert not is_valid_index("trial_by_output")
        run_again(AddIndexOnce("trial", index), "runs")
        assert is_valid_index("trial_by_output")


@needs_session
@pytest.mark.django_db(transaction=True)
def test_a_session_has_its_time_limit_again_after_a_step():
    index = next(each for each in Trial._meta.indexes if each.name == "trial_by_output")
    run_again(RemoveIndexOnce("trial", index.name), "runs")
    run_again(AddIndexOnce("trial", index), "runs")
    with connection.cursor() as cursor:
        cursor.execute("SHOW lock_timeout")
        assert cursor.fetchone() == ("5s",)


@pytest.mark.django_db(transaction=True)
def test_a_dropped_index_is_built_again_while_rows_are_written():
    state = ProjectState.from_apps(apps)
    state.add_index("runs", "trial", models.Index(fields=["ordinal"], name="trial_by_test"))
    step = RemoveIndexOnce("trial", "trial_by_test")
    with (
        CaptureQueriesContext(connection) as statements,
        connection.schema_editor(atomic=False) as editor,
    ):
        for change in (step.database_backwards, step.database_forwards) * 2:
            for _ in range(2):
                change("runs", editor, state, state)
    changes = [each["sql"].split()[:3] for each in statements if "INDEX" in each["sql"]]
    built, dropped = ["CREATE", "INDEX", "CONCURRENTLY"], ["DROP", "INDEX", "CONCURRENTLY"]
    assert changes == [built, dropped, dropped] * 2


@pytest.mark.django_db
def test_columns_are_filled_in_batches_and_again(monkeypatch):
    tenant = make_tenant()
    for _ in range(3):
        process(make_upload(tenant).pk)
    assert [len(batch) for batch in batches_of_keys(Run, rows=2)] == [2, 1]
    fill_cells = importlib.import_module("backend.runs.migrations.0016_cell_throughput")
    monkeypatch.setattr(fill_cells, "CELLS_AT_ONCE", 2)
    rates = dict(Cell.objects.values_list("pk", "throughput_rps"))
    Cell.objects.update(throughput_rps=None)
    counts = importlib.import_module("backend.runs.migrations.0010_trials_that_tell")
    Cell.objects.update(trial_count=9)
    for _ in range(2):
        with connection.schema_editor() as editor:
            fill_cells.compute_throughputs(apps, editor)
            counts.count(apps, editor)
    assert dict(Cell.objects.values_list("pk", "throughput_rps")) == rates
    assert None not in rates.values()
    assert set(Cell.objects.values_list("trial_count", flat=True)) == {1}


@pytest.fixture
def held_table():
    """Another session holds a lock of the table of runs, until the event is set."""
    is_held, is_over = threading.Event(), threading.Event()

    def hold():
        other = connection.copy()
        with other.cursor() as cursor:
            cursor.execute("BEGIN")
            cursor.execute("LOCK TABLE runs_run IN ACCESS SHARE MODE")
            is_held.set()
            is_over.wait()
            cursor.execute("COMMIT")
        other.close()

    thread = threading.Thread(target=hold)
    thread.start()
    try:
        assert is_held.wait(120)
        yield is_over
    finally:
        is_over.set()
        thread.join()


@needs_session
@pytest.mark.django_db(transaction=True)
class TestMigrate:
    @pytest.fixture(autouse=True)
    def needs_a_lock(self, monkeypatch):
        """The command needs the lock of a table, as a new column does."""
        self.tries = 0

        def handle(*_, **__):
            self.tries += 1
            with connection.cursor() as cursor:
                cursor.execute("ALTER TABLE runs_run ALTER COLUMN notes SET DEFAULT ''")
                cursor.execute("SHOW statement_timeout")
                self.statement_timeout = cursor.fetchone()[0]

        monkeypatch.setattr(migrate.Migrate, "handle", handle)
        monkeypatch.setattr(migrate, "LOCK_WAIT", "50ms")

    def test_a_table_in_use_is_waited_for_in_short_tries(self, held_table, monkeypatch, capsys):
        monkeypatch.setattr(time, "sleep", lambda _: held_table.set())
        call_command("migrate")
        assert self.tries >= 2
        assert self.statement_timeout == "0"
        assert "Trying again" in capsys.readouterr().err
        with connection.cursor() as cursor:
            cursor.execute("SHOW statement_timeout")
            assert cursor.fetchone() == ("30s",)

    def test_a_table_that_stays_in_use_ends_it_with_what_to_do(self, held_table, monkeypatch):
        monkeypatch.setattr(migrate, "PAUSES_S", (0, 0))
        with pytest.raises(CommandError, match="pg_stat_activity"):
            call_command("migrate")
        assert self.tries == 3


@pytest.mark.django_db
def test_trials_keep_the_foreign_key_to_their_run_and_lose_its_index():
    with connection.cursor() as cursor:
        constraints = connection.introspection.get_constraints(cursor, "runs_trial")
    of_run = {name: what for name, what in constraints.items() if what["columns"] == ["run_id"]}
    assert [what["foreign_key"] for what in of_run.values() if what["foreign_key"]] == [
        ("runs_run", "id")
    ]
    indexes = {name for name, what in of_run.items() if what["index"]}
    assert indexes == {"trial_failed"}, "trial_of_run has a second column"
