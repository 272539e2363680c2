"""A run that was taken away: what goes, what stays, and the frozen link that outlives it."""

import hashlib

import pytest
from django.test import Client

from backend.analysis.query.compare_query import CompareQuery
from backend.ingest.models import Artefact, Upload
from backend.ingest.queue.worker import process
from backend.ingest.reading import answers
from backend.ingest.reprocessing.reprocess import reprocess
from backend.runs.models import Run, Server, Trial
from backend.sharing.freezing import Description, freeze
from backend.sharing.models import Visibility
from backend.testing.uploads import WRK, make_envelope, make_tenant, make_upload

pytestmark = pytest.mark.django_db
CONFIRMED = {"is_confirmed": "yes"}


@pytest.fixture
def lab():
    return make_tenant("lab")


@pytest.fixture
def member(lab):
    client = Client()
    client.force_login(lab.user)
    return client


def read(lab):
    upload = make_upload(lab, WRK, WRK, envelope=make_envelope(2))
    process(upload.pk)
    upload.refresh_from_db()
    return upload


def reads_another_number(monkeypatch):
    """From now on a parser that reads 17000 requests where the one of now reads 18000."""

    def altered(artefacts, **options):
        answer = ask(artefacts, **options)
        for entry in answer["entries"]:
            entry["trial"]["parsed"]["requests_completed"] = 17_000
        return {**answer, "version": "next"}

    ask = answers.ask_parser
    monkeypatch.setattr(answers, "ask_parser", altered)


@pytest.mark.usefixtures("small_files_as_files")
def test_a_frozen_link_outlives_reading_again_renaming_and_deleting(lab, member, monkeypatch):
    upload = read(lab)
    made = freeze(
        CompareQuery.parse("metric=p99"),
        workspace=lab.workspace,
        author=lab.user,
        description=Description(title="T", visibility=Visibility.PUBLIC),
    )
    address = f"/s/{made.link}.json"
    before = Client().get(address)
    assert hashlib.sha256(before.content).hexdigest() == made.sha256
    first = member.get("/api/v1/compare").content

    reads_another_number(monkeypatch)
    assert reprocess(upload.pk).changes
    again = member.get("/api/v1/compare").content
    assert again != first
    assert Client().get(address).content == before.content

    server = Server.objects.get()
    renamed = member.post(f"/w/lab/servers/{server.pk}/rename", {"name": "another"})
    assert renamed.status_code == 302
    assert member.get("/api/v1/compare").content != again
    assert Client().get(address).content == before.content

    assert member.post(f"/r/{upload.run_id}/erase", CONFIRMED).status_code == 302
    assert member.get("/api/v1/compare").json()["series"] == []
    after = Client().get(address)
    assert (after.content, after["ETag"]) == (before.content, before["ETag"])


def test_nothing_of_it_is_left_but_other_runs_are(lab, member):
    gone, stays = read(lab), read(lab)
    page = member.post(f"/r/{gone.run_id}/erase", CONFIRMED, follow=True).content.decode()
    assert "and its trials and raw output were deleted" in page
    assert list(Run.objects.values_list("pk", flat=True)) == [stays.run_id]
    assert not Upload.objects.filter(pk=gone.pk).exists()
    assert set(Trial.objects.values_list("run_id", flat=True)) == {stays.run_id}
    assert set(Artefact.objects.values_list("upload_id", flat=True)) == {stays.pk}
    for path in (f"/r/{gone.run_id}", f"/u/{gone.pk}", f"/api/v1/runs/{gone.run_id}"):
        assert member.get(path).status_code == 404


def test_what_nothing_was_measured_of_any_more_is_unknown(lab, member):
    gone = read(lab)
    server = Server.objects.get()
    assert member.get(f"/api/v1/compare?server={server.name}").status_code == 200
    other = make_envelope(1)
    other["trials"][0]["server"]["name"] = "another"
    stays = make_upload(lab, WRK, envelope=other)
    process(stays.pk)
    member.post(f"/r/{gone.run_id}/erase", CONFIRMED)
    answer = member.get(f"/api/v1/compare?server={server.name}")
    assert answer.status_code == 400
    assert "another" in answer.json()["allowed"]


def test_the_page_asks_before_it_deletes(lab, member):
    upload = read(lab)
    path = f"/r/{upload.run_id}/delete"
    assert f'href="{path}"' in member.get(f"/r/{upload.run_id}").content.decode()
    question = member.get(path).content.decode()
    assert "Delete this run?" in question
    assert "Move to trash" in question
    assert f'action="/r/{upload.run_id}/erase"' in question
    assert Run.objects.filter(pk=upload.run_id).exists()
    assert Client().get(path).status_code == 404


def test_a_program_deletes_by_its_token(lab):
    upload = read(lab)
    path = f"/api/v1/runs/{upload.run_id}?permanently=true"
    assert Client().delete(path).status_code == 401
    assert Client(headers=make_tenant("other").headers).delete(path).status_code == 404
    assert Run.objects.count() == 1
    assert Client(headers=lab.headers).delete(path).status_code == 204
    assert not Run.with_trash.exists()
