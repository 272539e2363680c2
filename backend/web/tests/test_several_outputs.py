"""Outputs of two tools in one paste, and a log with prefixes: on their pages and in the preview."""

from pathlib import Path

import pytest
from django.core.cache import caches
from django.test import Client

from backend.ingest.queue.worker import process
from backend.runs.models import Trial
from backend.testing.uploads import WRK, make_file, make_upload

AB = (Path(__file__).parents[2] / "formats/ab/tests/captures/quiet-noperc-post/stdout").read_text()
BOTH = f"$ wrk -t2 -c100 http://a/\n{WRK}$ ab -n 300 http://a/ | tee ab.txt\n{AB}"


@pytest.fixture
def owner(scene):
    caches["process"].clear()
    client = Client()
    client.force_login(scene.own.user)
    return client


def read(scene, text):
    upload = make_upload(scene.own, text)
    process(upload.pk)
    upload.refresh_from_db()
    return list(Trial.objects.filter(run=upload.run_id).order_by("ordinal"))


def test_each_output_is_a_trial_with_its_command_and_its_lines(owner, scene):
    trials = read(scene, BOTH)
    assert [trial.cell.series.tool for trial in trials] == ["wrk", "ab"]
    # A shell would do more than start the second.
    assert [trial.command for trial in trials] == [["wrk", "-t2", "-c100", "http://a/"], []]
    completed = ["18000", "300"]
    for trial, count in zip(trials, completed, strict=True):
        first, last = trial.parsed["lines"]
        page = owner.get(f"/t/{trial.pk}").content.decode()
        assert f"This trial was read from lines {first} to {last}." in page
        row = page.split('id="figure-completed"')[1].split("</tr>")[0]
        place = row.split('href="#')[1].split('"')[0]
        assert f">{count}<" in page.split(f'id="{place}"')[1][:200]


def test_what_was_removed_is_said_on_the_page(owner, scene):
    (trial,) = read(scene, "".join(f"wrk-1  | {line}\n" for line in WRK.splitlines()))
    page = owner.get(f"/t/{trial.pk}").content.decode()
    assert "Before each line docker compose&#x27;s name was removed." in page


def test_a_preview_shows_each_output(scene, client):
    answer = client.post(
        "/api/v1/uploads/preview", {"file": make_file(BOTH)}, headers=scene.own.headers
    ).json()
    first, second = answer["files"][0]["trials"]
    assert (first["tool"], first["command"]) == ("wrk", "wrk -t2 -c100 http://a/")
    assert second["lines"][0] == first["lines"][1] + 1
    assert second["notes"] == []
