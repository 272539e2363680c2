"""The summaries of HttpArena, uploaded alone or in an archive, become trials that are told apart
from measured ones."""

import io
import zipfile
from pathlib import Path

import pytest

from backend.ingest.queue.worker import process
from backend.runs.models import Run, Trial
from backend.testing.uploads import make_tenant, make_upload

CAPTURES = Path(__file__).parents[2] / "formats/httparena/tests/captures"
NAMES = ("api-4-256", "baseline-h2c-256", "stream-grpc-64")


@pytest.fixture
def tenant(db):
    return make_tenant()


def zipped(names):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name in names:
            archive.write(CAPTURES / name / f"{name}.json", f"site/data/{name}.json")
        archive.writestr("site/data/current.json", '{"cpu": "AMD"}')
        archive.writestr("site/data/json-16384.json", "[]")
    return data.getvalue()


def test_an_archive_of_summaries_is_a_trial_for_each_result(tenant):
    upload = make_upload(tenant, zipped(NAMES))
    process(upload.pk)
    upload.refresh_from_db()
    trials = Trial.objects.filter(run=upload.run_id).order_by("ordinal")
    stated = [
        (trial.cell.series.server.name, trial.cell.series.workload.name, trial.throughput_rps)
        for trial in trials.select_related("cell__series__server", "cell__series__workload")
    ]
    assert len(stated) == 9
    assert stated[:2] == [("fastapi", "api-4", 7634), ("rage", "api-4", 15052)]
    assert stated[-1] == ("helidon-tuned", "stream-grpc", None)
    fired = [{finding["id"] for finding in trial.checks} for trial in trials]
    assert all({"published-figures", "tool-disagrees"} <= ids for ids in fired)


def test_the_machine_and_the_files_without_results_are_of_the_run(tenant):
    upload = make_upload(tenant, zipped(NAMES))
    process(upload.pk)
    run = Run.objects.select_related("server_host").get(upload=upload)
    assert (run.server_host.name, run.server_host.cpu_model) == ("HttpArena", "AMD")
    assert run.events == [{"kind": "import", "text": "json-16384.json has no results."}]
    assert "nothing is ranked" in run.notes
