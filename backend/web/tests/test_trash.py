"""The trash: a run in it is in no answer, and comes back whole."""

import re
from datetime import timedelta

import pytest
from django.core.cache import caches
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from backend.analysis.loading import series_cache
from backend.analysis.query.compare_query import CompareQuery
from backend.ingest.listing.trash_listing import trashed_bytes
from backend.ingest.models import Artefact, Upload
from backend.ingest.queue.worker import process
from backend.ingest.quota.stored_sums import stored_bytes
from backend.ingest.receiving.receive import UploadTrashed
from backend.ingest.removing import trash
from backend.ingest.removing.removal import remove_run
from backend.ingest.removing.trash import KEPT_IN_TRASH, remove_expired_runs, restore_run, trash_run
from backend.ingest.reprocessing.editing import edit_run
from backend.ingest.reprocessing.reprocess import reprocess
from backend.noise.models import HostNoise
from backend.runs.catalogue.listing import rows_of
from backend.runs.models import Run, Trial
from backend.sharing.freezing import Description, freeze
from backend.sharing.models import Visibility
from backend.storage import storage
from backend.testing.uploads import WRK, make_envelope, make_tenant, make_upload
from backend.web.tests.pages import html_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def lab():
    return make_tenant("lab")


@pytest.fixture
def member(lab):
    client = Client()
    client.force_login(lab.user)
    return client


def read(lab, server, *, host="here", text=WRK):
    envelope = make_envelope(3)
    envelope["hosts"] = {"client": {"name": host}, "server": {"name": host}}
    envelope["run"]["labels"] = {"of": server}
    for trial in envelope["trials"]:
        trial["server"]["name"] = server
        trial["workload"]["name"] = f"work of {server}"
        trial["load"]["connections"] = 10 + len(server)
    # Both runs measure this server.
    envelope["trials"][2]["server"] = {"name": "both", "version": server}
    envelope["trials"][2]["workload"]["name"] = "work of both"
    upload = make_upload(lab, text, text + "\n", text + "\n\n", envelope=envelope)
    process(upload.pk)
    upload.refresh_from_db()
    return upload


@pytest.fixture
def trashed(lab):
    """Shares its outputs with the run that stays."""
    return read(lab, "gone", host="gone host")


@pytest.fixture
def kept(lab):
    return read(lab, "stays")


def addresses(upload):
    trial = Trial.objects.filter(run=upload.run_id).earliest("ordinal")
    both = Trial.objects.filter(run=upload.run_id).latest("ordinal").cell.series
    artefact = upload.artefacts.get(position=0)
    series = trial.cell.series
    run = Run.with_trash.get(pk=upload.run_id)
    own = [
        *(f"/r/{run.pk}", f"/r/{run.pk}/edit", f"/r/{run.pk}/delete", f"/t/{trial.pk}"),
        *(f"/u/{upload.pk}", f"/a/{artefact.pk}", f"/a/{artefact.pk}/raw"),
        *(
            f"/api/v1/runs/{run.pk}",
            f"/api/v1/runs/{run.pk}/progress",
            f"/api/v1/trials/{trial.pk}",
            f"/api/v1/trials?cell={trial.cell_id}",
            f"/api/v1/uploads/{upload.pk}",
        ),
        *(f"/api/v1/artefacts/{artefact.pk}/raw", f"/api/v1/compare?run={run.pk}"),
        f"/w/lab/servers/{series.server_id}",
        f"/w/lab/hosts/{run.server_host_id}",
        f"/w/lab/workloads/{series.workload_id}",
        f"/w/lab/servers/{both.server_id}",
        f"/w/lab/workloads/{both.workload_id}",
    ]
    queries = ["", "server=gone", "workload=work+of+gone", "label=of:gone", "connections=14"]
    queries += ["host=gone+host", "x=connections&at=14", "server=stays"]
    return [
        *own,
        *(f"/api/v1/{name}?{query}" for name in ("compare", "facets") for query in queries),
        *(f"/api/v1/{name}" for name in ("runs", "servers", "hosts", "workloads")),
        *(f"/w/lab/{name}" for name in ("", "runs", "servers", "hosts", "workloads")),
        *(f"/w/lab/runs?{query}" for query in ("q=gone", "server=gone", "host=gone+host")),
        "/w/lab/search?q=gone",
        "/w/lab/compare/first",
    ]


def answers(client, paths):
    """Status and body of each address, without what is drawn again for each request."""
    series_cache.forget()
    caches["answers"].clear()
    seen = {}
    for path in paths:
        response = client.get(path)
        body = b"".join(response.streaming_content) if response.streaming else response.content
        body = re.sub(rb'name="csrfmiddlewaretoken" value="[^"]*"', b"", body)
        seen[path] = (response.status_code, response.get("Location"), body)
    return seen


def test_a_run_in_the_trash_is_in_no_answer(lab, member, trashed, kept):
    """Every page and answer is as if the run was deleted for good."""
    paths = addresses(trashed) + addresses(kept)
    run = Run.objects.get(pk=trashed.run_id)
    before = answers(member, paths)
    with transaction.atomic():
        remove_run(run)
        expected = answers(member, paths)
        transaction.set_rollback(True)
    assert before != expected
    trash_run(run, by=lab.user)
    seen = answers(member, paths)
    for path in paths:
        assert seen[path] == expected[path], path
    assert storage().has(trashed.artefacts.get(position=0).sha256)
    restore_run(Run.with_trash.get(pk=run.pk))
    again = answers(member, paths)
    for path in paths:
        assert again[path] == before[path], path


def test_the_noise_of_hosts_leaves_it_out(lab, trashed, kept):
    noise = list(HostNoise.objects.order_by("host").values("host", "run_sd", "comparisons"))
    run = Run.objects.get(pk=trashed.run_id)
    trash_run(run, by=lab.user)
    restore_run(run)
    again = list(HostNoise.objects.order_by("host").values("host", "run_sd", "comparisons"))
    assert again == noise


def test_the_noise_of_a_host_is_estimated_once(lab, trashed):
    with CaptureQueriesContext(connection) as made:
        trash_run(Run.objects.get(pk=trashed.run_id), by=lab.user)
    written = [each for each in made if each["sql"].startswith('UPDATE "noise_hostnoise"')]
    assert len(written) == 1


def test_a_member_deletes_and_restores_on_the_pages(lab, member, trashed):
    html = html_of(member.post(f"/r/{trashed.run_id}/delete", follow=True))
    name = rows_of([Run.with_trash.get(pk=trashed.run_id)])[0].name
    assert f"“{name}” is in the trash. You can restore it for 30 days." in html
    assert f">{name}</bdi>" in html
    assert f'action="/r/{trashed.run_id}/restore"' in html
    assert "gone" in html
    assert "count towards the stored bytes" in html
    assert member.get(f"/r/{trashed.run_id}").status_code == 404
    html = html_of(member.post(f"/r/{trashed.run_id}/restore", follow=True))
    assert f"“{name}” was restored." in html
    assert member.get(f"/r/{trashed.run_id}").status_code == 200
    assert "The trash is empty." in html_of(member.get("/w/lab/trash"))
    assert member.post(f"/r/{trashed.run_id}/restore").status_code == 404


def test_a_program_deletes_lists_and_restores(lab, trashed):
    client, url = Client(headers=lab.headers), f"/api/v1/runs/{trashed.run_id}"
    assert client.delete(url).status_code == 204
    assert client.delete(url).status_code == 404
    (entry,) = client.get("/api/v1/trash").json()["runs"]
    assert entry["run"]["id"] == str(trashed.run_id)
    assert entry["trashed_by"] == "lab"
    assert client.post(f"{url}/restore").status_code == 204
    assert client.post(f"{url}/restore").status_code == 404
    assert client.get(url).status_code == 200
    assert client.delete(f"{url}?permanently=perhaps").status_code == 400
    client.delete(url)
    assert client.delete(f"{url}?permanently=true").status_code == 204
    assert not Run.with_trash.exists()
    assert not Upload.objects.exists()


def test_the_collector_deletes_it_after_thirty_days(lab, trashed, kept):
    for upload in (trashed, kept):
        trash_run(Run.objects.get(pk=upload.run_id), by=lab.user)
    assert remove_expired_runs() == 0
    Run.with_trash.filter(pk=trashed.run_id).update(
        trashed_at=timezone.now() - KEPT_IN_TRASH - timedelta(minutes=1)
    )
    assert remove_expired_runs() == 1
    assert list(Run.with_trash.values_list("pk", flat=True)) == [kept.run_id]
    assert set(Artefact.objects.values_list("upload", flat=True)) == {kept.pk}


def test_a_run_that_cannot_be_deleted_holds_up_no_other(lab, trashed, kept, monkeypatch, caplog):
    for upload in (trashed, kept):
        trash_run(Run.objects.get(pk=upload.run_id), by=lab.user)
    expired = timezone.now() - KEPT_IN_TRASH - timedelta(minutes=1)
    Run.with_trash.update(trashed_at=expired)
    Run.with_trash.filter(pk=trashed.run_id).update(trashed_at=expired - timedelta(minutes=1))

    def remove(run):
        if run.pk == trashed.run_id:
            raise RuntimeError("unforeseen")
        remove_run(run)

    monkeypatch.setattr(trash, "remove_run", remove)
    assert remove_expired_runs() == 1
    assert list(Run.with_trash.values_list("pk", flat=True)) == [trashed.run_id]
    assert "run_not_removed" in caplog.text


def test_a_run_that_is_restored_while_the_collector_works_stays(lab, trashed, kept, monkeypatch):
    for upload in (trashed, kept):
        trash_run(Run.objects.get(pk=upload.run_id), by=lab.user)
    expired = timezone.now() - KEPT_IN_TRASH - timedelta(minutes=1)
    Run.with_trash.update(trashed_at=expired)
    Run.with_trash.filter(pk=trashed.run_id).update(trashed_at=expired - timedelta(minutes=1))

    def restore_the_other(run):
        remove_run(run)
        restore_run(Run.with_trash.get(pk=kept.run_id))

    monkeypatch.setattr(trash, "remove_run", restore_the_other)
    assert remove_expired_runs() == 1
    assert list(Run.objects.values_list("pk", flat=True)) == [kept.run_id]


def test_a_stale_page_of_the_trash_deletes_no_restored_run(lab, member, trashed):
    run = Run.objects.get(pk=trashed.run_id)
    trash_run(run, by=lab.user)
    page = member.get("/w/lab/trash").content.decode()
    field = '<input type="hidden" name="is_trashed" value="yes">'
    assert field in page
    restore_run(run)
    html = html_of(
        member.post(f"/r/{run.pk}/erase", {"is_trashed": "yes", "is_confirmed": "yes"}, follow=True)
    )
    assert "is no longer in the trash, so it was not deleted" in html
    assert Run.objects.filter(pk=run.pk).exists()
    trash_run(run, by=lab.user)
    member.post(f"/r/{run.pk}/erase", {"is_trashed": "yes", "is_confirmed": "yes"})
    assert not Run.with_trash.exists()


def test_its_bytes_count_until_it_is_deleted_for_good(
    lab, trashed, django_capture_on_commit_callbacks
):
    run = Run.objects.get(pk=trashed.run_id)
    with django_capture_on_commit_callbacks(execute=True):
        edit_run(run, {"notes": "of a new host"}, author=lab.user)
    before = stored_bytes(lab.workspace.pk)
    trash_run(run, by=lab.user)
    assert stored_bytes(lab.workspace.pk) == before == trashed_bytes(lab.workspace)
    remove_run(run)
    assert stored_bytes(lab.workspace.pk) == 0


def test_an_upload_in_the_trash_is_neither_sent_again_nor_read_out_of_it(lab, trashed):
    trash_run(Run.objects.get(pk=trashed.run_id), by=lab.user)
    with pytest.raises(UploadTrashed, match="its run is in the trash"):
        make_upload(lab, WRK, WRK + "\n", WRK + "\n\n", envelope=trashed.envelope)
    reprocess(trashed.pk)
    assert not Run.objects.exists()
    assert Run.with_trash.get().trashed_by == lab.user


def test_a_trial_that_comes_for_a_run_in_the_trash_stays_there(lab, member, kept):
    trash_run(Run.objects.get(pk=kept.run_id), by=lab.user)
    envelope = make_envelope(1)
    envelope["run"]["id"] = str(kept.run_id)
    envelope["run"]["early"] = True
    late = make_upload(lab, WRK, envelope=envelope)
    process(late.pk)
    late.refresh_from_db()
    assert late.is_in_trash
    assert member.get(f"/u/{late.pk}").status_code == 404
    assert not Run.objects.exists()


def test_a_frozen_set_keeps_what_it_shows(lab, member, trashed):
    made = freeze(
        CompareQuery.parse(""),
        workspace=lab.workspace,
        author=lab.user,
        description=Description(title="T", visibility=Visibility.PUBLIC),
    )
    before = Client().get(f"/s/{made.link}.json").content
    trash_run(Run.objects.get(pk=trashed.run_id), by=lab.user)
    assert Client().get(f"/s/{made.link}.json").content == before


@pytest.mark.parametrize("is_trashed", [True, False])
def test_deleting_for_good_asks_a_second_time(lab, member, trashed, is_trashed):
    run = Run.objects.get(pk=trashed.run_id)
    if is_trashed:
        trash_run(run, by=lab.user)
    fields = {"is_trashed": "yes"} if is_trashed else {}
    question = html_of(member.post(f"/r/{run.pk}/erase", fields))
    assert "Delete this run permanently?" in question
    assert "This cannot be undone." in question
    assert ('name="is_trashed"' in question) == is_trashed
    assert Run.with_trash.filter(pk=run.pk).exists()
    member.post(f"/r/{run.pk}/erase", {**fields, "is_confirmed": "yes"})
    assert not Run.with_trash.filter(pk=run.pk).exists()
