"""Rows of megabytes are exported and imported a few at a time."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from backend.ingest.models import Upload
from backend.runs.models import Cell, Observation, Run, Trial, TrialTimeline
from backend.sharing.models import ResultSet
from backend.transfer import archive, importing
from backend.transfer.importing import import_archive
from backend.transfer.tables import TABLES
from backend.transfer.tests.rich import export_to, make_rich_scene

pytestmark = pytest.mark.django_db
TABLE_OF = {table.model: table for table in TABLES}
# More than half of what is read at a time.
LARGE = archive.BYTES_AT_ONCE // 2 + 1


@pytest.fixture
def scene():
    return make_rich_scene()


def pages_of(model, workspace):
    """How many pages are read of a table, and how many rows it has."""
    with CaptureQueriesContext(connection) as asked:
        rows = list(archive._in_pages(TABLE_OF[model].rows(workspace.pk)))
    keys = [row.pk for row in rows]
    assert keys == list(TABLE_OF[model].rows(workspace.pk).values_list("pk", flat=True))
    return sum(" LIMIT " not in each["sql"] for each in asked), len(rows)


@pytest.mark.parametrize(
    ("model", "large"),
    [
        (Run, {"plan": "x" * LARGE}),
        (Run, {"events": [{"text": "x" * LARGE}]}),
        (Upload, {"envelope": {"x": "x" * LARGE}}),
        (Trial, {"parsed": {"x": "x" * LARGE}}),
        (Trial, {"server_tail": "x" * LARGE}),
        (Cell, {"histogram": b"x" * LARGE}),
        (TrialTimeline, {"packed": b"x" * LARGE}),
        (Observation, {"packed": b"x" * LARGE}),
        (ResultSet, {"notes": "x" * LARGE}),
    ],
)
def test_large_rows_are_read_one_at_a_time(scene, model, large):
    workspace = scene.own.workspace
    for trial in Trial.objects.filter(run=scene.run)[:3]:
        TrialTimeline.objects.get_or_create(trial=trial, defaults={"packed": b""})
    for number in range(2):
        Observation.objects.create(
            id=f"00000000-0000-4000-8000-00000000000{number}",
            workspace=workspace,
            run=scene.run.pk,
            uncertainty_s=0.0,
            sample_count=0,
            packed=b"",
        )
    pages, rows = pages_of(model, workspace)
    assert pages < rows
    TABLE_OF[model].rows(workspace.pk).order_by().update(**large)
    assert pages_of(model, workspace) == (rows, rows)


def test_every_table_is_read_in_pages(scene):
    for table in TABLES:
        pages_of(table.model, scene.own.workspace)


def test_large_rows_are_stored_one_at_a_time(scene, tmp_path, monkeypatch):
    path = export_to(scene.own.workspace, tmp_path)
    stored, copy_rows = [], importing.copy_rows

    def copy(model, rows):
        stored.append(len(rows))
        copy_rows(model, rows)

    monkeypatch.setattr(importing, "copy_rows", copy)
    import_archive(path, slug="together")
    assert max(stored) > 1
    stored.clear()
    monkeypatch.setattr(importing, "BYTES_AT_ONCE", 1)
    import_archive(path, slug="apart")
    assert set(stored) == {1}
