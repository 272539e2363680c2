"""Runs and uploads of which some results could not be read: their state, filter and reasons."""

import re

import pytest
from django.test import Client

from backend.ingest.worker import process
from backend.sharing.models import SharedRun, Visibility
from backend.testing.uploads import WRK, make_upload
from backend.web.tests.pages import html_of

pytestmark = pytest.mark.django_db
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
