"""A run of as many trials as an envelope may have is recorded by one upload."""

import pytest

from backend.ingest import worker
from backend.ingest.models import Artefact, State
from backend.runs.bulk import MAX_PARAMETERS, insert_rows, rows_per_statement
from backend.runs.models import Cell, Trial
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


def test_more_links_than_one_statement_takes_are_inserted():
    envelope = make_envelope(1)
    upload = make_upload(make_tenant(), WRK, envelope=envelope)
    worker.drain()
    trial = Trial.objects.get(run=upload.pk)
    artefacts = [
        Artefact(upload=upload, name=f"{number}.log", sha256="0" * 64, size_bytes=1, position=1)
        for number in range(MAX_PARAMETERS // 2 + 1)
    ]
    insert_rows(Artefact, artefacts)
    through = Artefact.trials.through
    insert_rows(through, (through(artefact=each, trial=trial) for each in artefacts))
    assert trial.artefacts.count() == len(artefacts) + 1
