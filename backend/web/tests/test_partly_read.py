"""Runs and uploads of which some results could not be read: their state, filter and reasons."""

import re
from pathlib import Path

import pytest
from django.test import Client

from backend.ingest.queue.worker import process
from backend.runs.catalogue.run_states import count_not_read
from backend.sharing.models import SharedRun, Visibility
from backend.testing.uploads import WRK, make_upload
from backend.web.tests.pages import html_of

pytestmark = pytest.mark.django_db
CAPTURES = Path(__file__).parents[2] / "formats/ab/tests/captures"
WHOLE = (CAPTURES / "keepalive-c10-10k-tsv-csv/stdout").read_text()
CUT = (CAPTURES / "odd-cut-in-percentile-table/stdout").read_text()
HEAD = "2 of 3 results could not be read."


@pytest.fixture
def upload(scene):
    """Of three files the first is read."""
    upload = make_upload(scene.own, WRK, "no tool's output", "nor <this>")
    process(upload.pk)
    upload.refresh_from_db()
    return upload


def test_the_reason_names_each_file_that_was_not_read(upload):
    head, *lines = upload.reason_lines
    assert head == HEAD
    assert [line.split(":")[0] for line in lines] == ["1.txt", "2.txt"]


def test_the_run_is_listed_as_partly_read_and_found_by_that_state(owner, upload):
    html = html_of(owner.get("/w/own-lab/runs?state=partial"))
    assert '<option value="partial" selected>Partly read</option>' in html
    assert '<span class="status status-warning">Partly read</span>' in html
    assert re.findall(r'href="/r/([0-9a-f-]{36})"', html) == [str(upload.run_id)]
    assert str(upload.run_id) not in html_of(owner.get("/w/own-lab/runs?state=complete"))
    assert str(upload.run_id) in html_of(owner.get("/w/own-lab/"))


def test_the_api_lists_filters_and_tells_the_same(owner, upload):
    (row,) = owner.get("/api/v1/runs?state=partial").json()["runs"]
    assert (row["id"], row["state"]) == (str(upload.run_id), "partial")
    complete = owner.get("/api/v1/runs?state=complete").json()["runs"]
    assert [row["state"] for row in complete] == ["complete"]
    run = owner.get(f"/api/v1/runs/{upload.run_id}").json()
    assert (run["state"], run["not_read"]) == ("partial", upload.reason_lines)


def test_the_page_of_the_run_says_first_what_was_not_read_and_what_to_do(owner, upload):
    html = html_of(owner.get(f"/r/{upload.run_id}"))
    notice = html[html.index(HEAD) : html.index('class="tab-list"')]
    assert "1.txt: " in notice
    assert "2.txt: " in notice
    assert f'<a href="/u/{upload.pk}">upload</a>' in notice
    assert "upload these files again" in notice
    assert "<this>" not in notice


def test_the_readers_of_a_shared_run_get_the_count_without_names_of_files(scene, upload):
    shared = SharedRun.objects.create(run=upload.run, visibility=Visibility.UNLISTED)
    html = html_of(Client().get(f"/shared/runs/{shared.link}"))
    assert HEAD in html
    assert "1.txt" not in html


def test_strangers_in_a_public_workspace_get_the_count_without_names_of_files(scene, upload):
    scene.own.workspace.is_public = True
    scene.own.workspace.save()
    html = html_of(Client().get(f"/r/{upload.run_id}"))
    assert HEAD in html
    assert "1.txt" not in html
    assert f"/u/{upload.pk}" not in html


def test_an_upload_that_was_partly_read_has_that_state_and_a_filter(owner, scene, upload):
    html = html_of(owner.get("/w/own-lab/uploads?state=partial"))
    assert "Partly read uploads" in html
    assert '<span class="status status-warning" data-slot="state">Partly read</span>' in html
    assert f"/u/{upload.pk}" in html
    assert f"/u/{scene.upload.pk}" not in html
    page = html_of(owner.get(f"/u/{upload.pk}"))
    assert "Partly read" in page
    assert HEAD in page
    (row,) = owner.get("/api/v1/uploads?state=partial").json()["uploads"]
    assert (row["id"], row["state"]) == (str(upload.pk), "parsed")


def test_a_run_that_was_read_whole_says_nothing_of_it(owner, scene):
    html = html_of(owner.get(f"/r/{scene.run.pk}"))
    assert "could not be read" not in html
    assert "No run matches" in html_of(owner.get("/w/own-lab/runs?state=partial"))


@pytest.fixture
def cut_off(scene):
    """Of two reports of ab, the second ends within its table of percentiles."""
    upload = make_upload(scene.own, WHOLE, CUT)
    process(upload.pk)
    upload.refresh_from_db()
    return upload


def test_a_report_that_was_cut_off_is_partly_read_and_named(owner, cut_off):
    head, line = cut_off.reason_lines
    assert head == "Partly read: 1 of 2 results."
    assert line.startswith("1.txt: the output ends before its report is complete.")
    html = html_of(owner.get("/w/own-lab/runs?state=partial"))
    assert re.findall(r'href="/r/([0-9a-f-]{36})"', html) == [str(cut_off.run_id)]
    assert str(cut_off.run_id) not in html_of(owner.get("/w/own-lab/runs?state=complete"))
    assert f"/u/{cut_off.pk}" in html_of(owner.get("/w/own-lab/uploads?state=partial"))
    page = html_of(owner.get(f"/r/{cut_off.run_id}"))
    assert "Measure again and keep the whole output." in page
    assert "What was not read is missing" not in page
    assert '<span class="status status-warning">1 cut off</span>' in page
    # Saving leads to the reason before it leads to the run.
    assert owner.get(f"/u/{cut_off.pk}?then=run").status_code == 200


def test_the_comparison_names_the_run_that_keeps_a_series_unranked(owner, scene, cut_off):
    figures = owner.get(f"/api/v1/compare?workspace=own-lab&run={cut_off.run_id}").json()
    (check,) = [each for each in figures["checks"] if each["id"] == "incomplete"]
    assert check["runs"] == [str(cut_off.run_id)]
    assert all("runs" not in each for each in figures["checks"] if each["severity"] != "error")


def test_strangers_get_the_count_of_what_was_cut_off_alone(scene, cut_off):
    shared = SharedRun.objects.create(run=cut_off.run, visibility=Visibility.UNLISTED)
    html = html_of(Client().get(f"/shared/runs/{shared.link}"))
    assert "Partly read: 1 of 2 results." in html
    assert "1.txt" not in html


def test_what_was_not_read_and_what_was_cut_off_are_told_together(scene):
    upload = make_upload(scene.own, CUT, "no tool's output")
    process(upload.pk)
    upload.refresh_from_db()
    heads = [line for line in upload.reason_lines if re.search(r"\d of \d", line)]
    assert heads == ["1 of 2 results could not be read.", "Partly read: 1 of 2 results."]
    assert count_not_read(upload.reason_lines) == heads
