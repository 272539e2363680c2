"""A results tree of TechEmpower, uploaded as an archive, becomes one run with all its trials."""

import io
import json
import zipfile

import pytest

from backend.formats.tests.test_techempower import NOISE, RAW
from backend.ingest.queue.worker import process
from backend.runs.models import Run, Trial
from backend.testing.uploads import make_tenant, make_upload


@pytest.mark.django_db
def test_an_uploaded_tree_becomes_trials_of_each_framework_and_test():
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("results/json/netty/raw", RAW)
        archive.writestr("results/db/rails/raw", RAW.replace("netty", "rails"))
        archive.writestr("results/db/failed/raw", NOISE)
        archive.writestr("results/results.json", "{}")
    upload = make_upload(make_tenant(), data.getvalue())
    process(upload.pk)
    upload.refresh_from_db()
    trials = Trial.objects.filter(run=upload.run_id).order_by("ordinal")
    assert [trial.warmup for trial in trials] == [True, True, False, False] * 2
    assert {
        (trial.cell.series.server.name, trial.cell.series.workload.name) for trial in trials
    } == {("netty", "json"), ("rails", "db")}


@pytest.mark.django_db
def test_the_projects_own_figures_are_held_against_the_outputs_of_an_upload():
    levels = [{"totalRequests": total} for total in (1500, 2999)]
    summary = {"frameworks": ["netty"], "rawData": {"json": {"0": levels}}}
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        # One raw file: its folders still say the test.
        archive.writestr("results/json/netty/raw", RAW)
        archive.writestr("results/results.json", json.dumps(summary))
    own = {"kind": "import", "text": "Copied from the project's site."}
    envelope = {"schema": 1, "run": {"events": [own]}}
    upload = make_upload(make_tenant(), data.getvalue(), envelope=envelope)
    process(upload.pk)
    run = Run.objects.get(upload=upload)
    text = (
        "netty, json, result 2: the number of requests is 2,999 in results.json and 3,000 in the "
        "raw file."
    )
    assert run.events == [own, {"kind": "import", "text": text}]
    assert "Each load was measured once" in run.notes
