"""A run of as many trials as an envelope may have is recorded by one upload."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from backend.ingest.models import Artefact, State
from backend.ingest.queue import worker
from backend.ingest.reading import reading
from backend.runs.database import bulk
from backend.runs.database.bulk import MAX_PARAMETERS, insert_rows, rows_per_statement
from backend.runs.models import Cell, Series, Server, Trial, Workload
from backend.testing.uploads import WRK, make_envelope, make_tenant, make_upload

TRIALS = 5000

pytestmark = pytest.mark.django_db


def test_no_batch_has_more_parameters_than_a_statement_takes():
    for model in (Trial, Cell, Artefact.trials.through):
        rows = rows_per_statement(model)
        assert 0 < rows * len(model._meta.concrete_fields) <= MAX_PARAMETERS


def test_an_upload_of_five_thousand_trials_is_recorded_whole():
    envelope = make_envelope(TRIALS)
    for trial in envelope["trials"]:
        trial["artefacts"] = ["0.txt"]
        trial["load"]["connections"] = 1 + trial["ordinal"] // 5
    upload = make_upload(make_tenant(), WRK, envelope=envelope)
    worker.drain()
    upload.refresh_from_db()
    assert (upload.state, upload.reason, upload.attempts) == (State.PARSED, "", 1)
    assert Trial.objects.filter(run=upload.run_id).count() == TRIALS
    assert Cell.objects.filter(run=upload.run_id).count() == TRIALS // 5
    assert Artefact.trials.through.objects.count() == TRIALS


def test_a_file_of_more_results_than_a_run_may_have_fails_with_the_limit(monkeypatch):
    """20,000 results are 8 MB, and the page of such a run took half a gigabyte of memory."""
    monkeypatch.setattr(reading, "MAX_TRIALS", 2)
    tenant = make_tenant()
    uploads = [make_upload(tenant, WRK * count) for count in (2, 3)]
    worker.drain()
    for upload in uploads:
        upload.refresh_from_db()
    assert [upload.state for upload in uploads] == [State.PARSED, State.FAILED]
    assert uploads[1].reason == (
        "The files of this upload have more than 2 results, the limit. Send them as several "
        "uploads."
    )


def test_new_servers_and_workloads_take_no_statement_each():
    def statements_for(trial_count):
        envelope = make_envelope(trial_count)
        for trial in envelope["trials"]:
            trial["artefacts"] = ["0.txt"]
            trial["server"]["name"] = f"server {trial['ordinal']} of {trial_count}"
            trial["workload"]["path"] = f"/{trial['ordinal']}/{trial_count}"
        upload = make_upload(tenant, WRK, envelope=envelope)
        with CaptureQueriesContext(connection) as queries:
            worker.drain()
        upload.refresh_from_db()
        assert Trial.objects.filter(run=upload.run_id).count() == trial_count
        return len(queries)

    tenant = make_tenant()
    assert statements_for(200) < statements_for(2) + 10
    assert Series.objects.count() == Server.objects.count() == Workload.objects.count() == 202


def test_rows_go_in_as_many_statements_as_their_parameters_need(monkeypatch):
    monkeypatch.setattr(bulk, "MAX_PARAMETERS", 40)
    upload = make_upload(make_tenant(), WRK)
    artefacts = [
        Artefact(upload=upload, name=f"{number}.log", sha256="0" * 64, size_bytes=1, position=1)
        for number in range(50)
    ]
    with CaptureQueriesContext(connection) as queries:
        insert_rows(Artefact, artefacts)
    each = 40 // len(Artefact._meta.concrete_fields)
    inserts = [query for query in queries if query["sql"].startswith("INSERT")]
    assert len(inserts) == -(-50 // each) > 1
    assert upload.artefacts.count() == 51
