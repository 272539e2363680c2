"""A report without count or elapsed time: its rate is shown everywhere, marked as reported."""

from pathlib import Path

import pytest
from django.core.cache import caches
from django.test import Client

from backend.ingest.queue.worker import process
from backend.runs.models import Trial
from backend.testing.uploads import WRK, make_file, make_upload

CAPTURE = Path(__file__).parents[2] / "formats/k6/tests/captures/vus5-2s-banner-text/stdout"
RATE = 190.085957


@pytest.fixture
def owner(scene):
    caches["process"].clear()
    client = Client()
    client.force_login(scene.own.user)
    return client


@pytest.fixture
def trial(scene):
    upload = make_upload(scene.own, CAPTURE.read_text())
    process(upload.pk)
    upload.refresh_from_db()
    return Trial.objects.get(run=upload.run_id)


def test_a_trial_has_the_rate_of_its_tool(trial, owner):
    assert (trial.throughput_rps, trial.elapsed_s) == (RATE, None)
    answer = owner.get(f"/api/v1/trials/{trial.pk}").json()
    assert (answer["throughput"], answer["throughput_origin"]) == (RATE, "reported")
    page = owner.get(f"/t/{trial.pk}").content.decode()
    assert "Throughput as k6 reports it: its output lacks a count or the elapsed time." in page
    assert "completed ÷ elapsed" not in page.split('id="figure-goodput"')[0]


def test_the_page_of_the_run_marks_it(trial, owner):
    page = owner.get(f"/r/{trial.run_id}").content.decode()
    row = page.split(f'id="row-{trial.pk}"')[1].split("</tr>")[0]
    assert "As k6 reports it: a count or the elapsed time is missing" in " ".join(row.split())


def test_a_comparison_marks_it(trial, owner):
    answer = owner.get(f"/api/v1/compare?run={trial.run_id}").json()
    (point,) = [point for series in answer["series"] for point in series["points"]]
    figure = point["metrics"]["throughput"]
    assert (figure["value"], figure["origin"]) == (RATE, "reported")


def test_a_preview_says_where_the_throughput_is_from(scene, client):
    files = [make_file(WRK), make_file(CAPTURE.read_text(), "k6.txt")]
    answer = client.post(
        "/api/v1/uploads/preview", {"file": files}, headers=scene.own.headers
    ).json()
    trials = [trial for file in answer["files"] for trial in file["trials"]]
    assert [trial["throughput_origin"] for trial in trials] == ["computed", "reported"]
