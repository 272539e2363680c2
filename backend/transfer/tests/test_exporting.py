"""Archives are written in the background, one at a time, and kept for a bounded time."""

import io
import threading
import zipfile
from datetime import timedelta

import pytest
from django.db import connection
from django.db.models import F
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from backend.accounts.models import Act, AuditEvent, Membership, Workspace
from backend.accounts.tokens.token_making import TokenRequest, make_token
from backend.accounts.workspace.scopes import Scope
from backend.ingest.removing.collector import collect
from backend.ingest.removing.purging import purge_deleted_workspaces
from backend.ingest.tests.test_collector import make_old
from backend.runs.models import Trial
from backend.sharing.workspace_deletion import delete_workspace
from backend.storage import StorageAway, StorageFull, storage
from backend.testing.scenes import make_scene
from backend.testing.uploads import make_tenant
from backend.transfer import archive, exporting, tasks
from backend.transfer.archive import OutputGone, Progress
from backend.transfer.exporting import ExportRefused, claim, request_export, write_due
from backend.transfer.layout import MANIFEST
from backend.transfer.models import Export, ExportState
from backend.transfer.tasks import write

pytestmark = pytest.mark.django_db
NO_ROOM = "There is no room for an archive: a disk of the service is nearly full."


@pytest.fixture
def scene():
    return make_scene()


@pytest.fixture
def done(scene):
    request_export(scene.own.workspace, author=scene.own.user)
    assert write_due() == 1
    return Export.objects.get()


@pytest.fixture
def owner(scene):
    client = Client()
    client.force_login(scene.own.user)
    return client


def later(export, **difference):
    finished_at = timezone.now() - timedelta(**difference)
    Export.objects.filter(pk=export.pk).update(finished_at=finished_at)


def test_an_archive_is_asked_for_written_and_downloaded_by_page(owner, scene):
    page = "/w/own-lab/exports"
    assert owner.post(page).status_code == 302
    html = owner.get(page).content.decode()
    assert "data-export-url=" in html
    assert "Create an archive" not in html
    write()
    export = Export.objects.get()
    assert (export.state, export.files_total) == (ExportState.DONE, export.files_done)
    html = owner.get(page).content.decode()
    assert f'href="/w/own-lab/exports/{export.pk}/file"' in html
    answer = owner.get(f"/w/own-lab/exports/{export.pk}/file")
    assert len(b"".join(answer.streaming_content)) == export.size_bytes
    assert answer["Content-Type"] == "application/zip"
    acts = AuditEvent.objects.order_by("at").values_list("act", "actor_name")
    assert list(acts)[-2:] == [
        (Act.EXPORT_REQUESTED, "own-lab"),
        (Act.EXPORT_DOWNLOADED, "own-lab"),
    ]


def test_an_archive_is_asked_for_written_and_downloaded_by_api(scene):
    asked = TokenRequest("Exports", [Scope.ADMIN, Scope.RUNS_READ])
    _, clear = make_token(scene.own.user, scene.own.workspace, asked)
    api = Client(headers={"authorization": f"Bearer {clear}"})
    answer = api.post("/api/v1/exports", {}, content_type="application/json")
    assert answer.status_code == 202
    path = f"/api/v1/exports/{answer.json()['id']}"
    assert api.get(path).json()["state"] == "waiting"
    assert api.get(f"{path}/file").status_code == 409
    again = api.post("/api/v1/exports", {}, content_type="application/json")
    assert (again.status_code, again.json()["detail"]) == (
        409,
        "An archive of this workspace is being written already.",
    )
    write()
    body = api.get(path).json()
    assert (body["state"], body["files_done"]) == ("done", body["files_total"])
    assert [each["id"] for each in api.get("/api/v1/exports").json()["exports"]] == [body["id"]]
    content = b"".join(api.get(body["file_url"]).streaming_content)
    assert len(content) == body["size_bytes"]
    assert api.delete(path).status_code == 204
    assert api.get(path).status_code == 404


def test_one_archive_is_written_at_a_time(scene):
    request_export(scene.own.workspace, author=None)
    request_export(scene.foreign.workspace, author=None)
    first = claim()
    assert first.workspace == scene.own.workspace
    assert claim() is None
    expired = timezone.now() - timedelta(seconds=1)
    Export.objects.filter(pk=first.pk).update(lease_until=expired)
    # Whose archive ended the worker has had the turn.
    second = claim()
    assert second.workspace == scene.foreign.workspace
    Export.objects.filter(pk=second.pk).update(lease_until=expired)
    assert claim().pk == first.pk


def test_what_cannot_be_removed_holds_up_no_archive(scene, monkeypatch, caplog):
    def remove_expired():
        raise RuntimeError("unforeseen")

    monkeypatch.setattr(tasks, "remove_expired", remove_expired)
    request_export(scene.own.workspace, author=None)
    write()
    assert Export.objects.get().state == ExportState.DONE
    assert "step_failed" in caplog.text


def test_persons_take_turns_however_many_workspaces_they_have(scene, monkeypatch):
    written = []

    def write(export):
        written.append(export.workspace)
        # Deleted by its owner, so that it can be asked for again.
        export.delete()

    monkeypatch.setattr(exporting, "_work_on", write)
    many = [make_tenant(f"many-{number}").workspace for number in range(3)]
    for workspace in many:
        Membership.objects.filter(workspace=workspace).update(user=scene.own.user)
        request_export(workspace, author=None)
    request_export(scene.foreign.workspace, author=None)
    assert write_due() == 4
    assert written == [many[0], scene.foreign.workspace, many[1], many[2]]


@pytest.mark.django_db(transaction=True)  # the lease is renewed over a connection of its own
def test_an_archive_that_is_being_sent_keeps_its_lease(scene, monkeypatch):
    request_export(scene.own.workspace, author=None)
    monkeypatch.setattr(exporting, "BEAT_S", 0)
    kept, put = [], storage().rest.put

    def send_slowly(chunks, meanwhile):
        stored = put(chunks)
        with connection.cursor() as cursor:
            cursor.execute("UPDATE transfer_export SET lease_until = now() - interval '1 minute'")
        meanwhile()
        kept.append(Export.objects.get().lease_until > timezone.now())
        return stored

    monkeypatch.setattr(storage().rest, "put", send_slowly)
    write()
    assert kept == [True]
    assert Export.objects.get().state == "done"


def test_a_newer_archive_replaces_the_older(scene, done, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        request_export(scene.own.workspace, author=None)
        write_due()
    newer = Export.objects.get()
    assert newer.pk != done.pk
    assert not storage().has(done.sha256)
    assert storage().has(newer.sha256)


def test_the_collector_leaves_archives_until_they_expire(
    scene, done, files, settings, django_capture_on_commit_callbacks
):
    settings.COLLECT_AFTER_S = 0
    make_old(files)
    collect()
    assert storage().has(done.sha256)
    later(done, days=6)
    write()
    assert Export.objects.exists()
    later(done, days=8)
    with django_capture_on_commit_callbacks(execute=True):
        write()
    assert not Export.objects.exists()
    assert not storage().has(done.sha256)


def test_an_archive_goes_with_its_workspace(scene, done, django_capture_on_commit_callbacks):
    delete_workspace(scene.own.workspace)
    with django_capture_on_commit_callbacks(execute=True):
        assert purge_deleted_workspaces() == 1
    assert not storage().has(done.sha256)


SAID = "The storage could not be used."


def away(*_):
    raise StorageAway("10.0.0.7: no such host")


def wait(seconds):
    """Let so much time pass for exports that wait."""
    Export.objects.update(retry_at=F("retry_at") - timedelta(seconds=seconds))


def test_attempts_are_made_after_growing_pauses_and_the_last_one_fails(scene, monkeypatch):
    request_export(scene.own.workspace, author=None)
    monkeypatch.setattr(exporting, "archive_pieces", away)
    assert list(exporting.PAUSES_S) == sorted(set(exporting.PAUSES_S))
    for pause_s in exporting.PAUSES_S:
        assert write_due() == 1
        export = Export.objects.get()
        assert (export.state, export.reason) == (ExportState.WAITING, SAID)
        wait(pause_s - 60)
        assert write_due() == 0
        wait(60)
    assert write_due() == 1
    export = Export.objects.get()
    assert (export.state, export.reason) == (ExportState.FAILED, SAID)
    monkeypatch.undo()
    request_export(scene.own.workspace, author=None)
    write_due()
    assert Export.objects.get().state == ExportState.DONE


def test_an_archive_is_refused_while_a_disk_is_short(scene, owner, monkeypatch):
    monkeypatch.setattr(exporting, "is_short", lambda: True)
    asked = {"workspace": "own-lab"}

    answer = owner.post("/api/v1/exports", asked, content_type="application/json")
    page = owner.post("/w/own-lab/exports")

    assert (answer.status_code, page.status_code) == (507, 507)
    assert answer.json()["detail"] == NO_ROOM
    assert int(answer["Retry-After"]) > 0
    assert NO_ROOM in page.content.decode()
    assert not Export.objects.exists()


def test_an_archive_that_makes_a_disk_short_is_stopped_and_leaves_nothing(
    scene, files, monkeypatch
):
    request_export(scene.own.workspace, author=None)
    monkeypatch.setattr(exporting, "BEAT_S", 0)
    asked = iter([False, False, False])
    with monkeypatch.context() as patched:
        patched.setattr(exporting, "is_short", lambda: next(asked, True))
        before = set(files.rglob("*"))
        assert write_due() == 1
        assert not {path for path in files.rglob("*") if path.is_file()} - before
    export = Export.objects.get()
    # It was being written.
    assert not list(asked)
    assert (export.state, export.reason) == (ExportState.WAITING, NO_ROOM)

    wait(60)
    assert write_due() == 1
    assert Export.objects.get().state == ExportState.DONE


def test_a_full_disk_is_told_to_members(scene, monkeypatch):
    def full(*_):
        raise StorageFull("No space left on device")

    request_export(scene.own.workspace, author=None)
    monkeypatch.setattr(exporting, "archive_pieces", full)
    assert write_due() == 1
    assert Export.objects.get().reason == NO_ROOM


def test_an_export_that_waits_says_why_and_until_when_and_holds_up_no_other(
    scene, owner, monkeypatch
):
    request_export(scene.own.workspace, author=None)
    with monkeypatch.context() as patched:
        patched.setattr(exporting, "archive_pieces", away)
        assert write_due() == 1
    page = owner.get("/w/own-lab/exports").content.decode()
    assert f"The last attempt failed: {SAID}" in page
    (shown,) = owner.get("/api/v1/exports?workspace=own-lab").json()["exports"]
    assert (shown["reason"], shown["retry_at"] is None) == (SAID, False)
    request_export(scene.foreign.workspace, author=None)
    assert write_due() == 1
    wait(60)
    assert write_due() == 1
    export = Export.objects.get(workspace=scene.own.workspace)
    assert (export.state, export.reason, export.retry_at) == (ExportState.DONE, "", None)


def test_who_asks_again_for_an_export_that_waits_need_not_wait(scene, monkeypatch):
    first = request_export(scene.own.workspace, author=None)
    with monkeypatch.context() as patched:
        patched.setattr(exporting, "archive_pieces", away)
        assert write_due() == 1
    assert write_due() == 0
    assert request_export(scene.own.workspace, author=None).pk == first.pk
    assert write_due() == 1
    assert Export.objects.get().state == ExportState.DONE


def test_tables_are_read_in_pages(scene, monkeypatch):
    """Also behind a pooler, where the database keeps no cursor, memory holds one page."""
    whole = members_of(exporting.archive_pieces(scene.own.workspace, lambda _: None))
    monkeypatch.setattr(archive, "ROWS_AT_ONCE", 2)
    with CaptureQueriesContext(connection) as asked:
        paged = members_of(exporting.archive_pieces(scene.own.workspace, lambda _: None))
    assert {**paged, MANIFEST: b""} == {**whole, MANIFEST: b""}
    of_trials = [each["sql"] for each in asked if ' FROM "runs_trial" ' in each["sql"]]
    sizes = [sql for sql in of_trials if " LIMIT 2" in sql]
    pages = Trial.objects.count() // 2
    assert (len(sizes), len(of_trials)) == (1 + pages, 1 + 2 * pages)


def members_of(pieces):
    """By path, the bytes of the members of an archive."""
    with zipfile.ZipFile(io.BytesIO(b"".join(pieces))) as file:
        return {name: file.read(name) for name in file.namelist()}


def test_raw_output_that_went_meanwhile_is_left_out_by_the_next_attempt(scene):
    storage().remove(scene.artefact.sha256)
    pieces = exporting.archive_pieces(scene.own.workspace, lambda _: None)
    with pytest.raises(OutputGone):
        list(pieces)
    scene.upload.raw_removed_at = timezone.now()
    scene.upload.save()
    assert list(exporting.archive_pieces(scene.own.workspace, lambda _: None))


def test_an_archive_that_was_deleted_while_it_was_written_leaves_no_bytes(scene, monkeypatch):
    export = request_export(scene.own.workspace, author=None)
    real = exporting.archive_pieces

    def pieces(*arguments):
        yield from real(*arguments)
        Export.objects.filter(pk=export.pk).delete()

    before = {entry.name for entry in storage().list()}
    monkeypatch.setattr(exporting, "archive_pieces", pieces)
    write_due()
    assert not Export.objects.exists()
    assert {entry.name for entry in storage().list()} == before


def test_a_fault_of_ours_is_told_and_stops_no_other(scene, monkeypatch):
    real = exporting.archive_pieces

    def pieces(workspace, beat):
        if workspace == scene.own.workspace:
            raise KeyError("x")
        return real(workspace, beat)

    monkeypatch.setattr(exporting, "archive_pieces", pieces)
    for workspace in (scene.own.workspace, scene.foreign.workspace):
        request_export(workspace, author=None)
    assert write_due() == 2
    states = dict(Export.objects.values_list("workspace__slug", "state"))
    assert states == {"own-lab": "failed", "foreign-lab": "done"}
    assert "A fault of Loadsheet stopped it" in Export.objects.get(state="failed").reason


def test_an_archive_that_is_not_done_cannot_be_read(scene, owner):
    export = request_export(scene.own.workspace, author=None)
    with pytest.raises(ExportRefused, match="the export is waiting"):
        exporting.download(export)
    assert owner.get(f"/w/own-lab/exports/{export.pk}/file").status_code == 409


@pytest.mark.django_db(transaction=True)
def test_others_see_the_progress_while_it_is_written(monkeypatch):
    workspace = make_tenant("busy-lab").workspace
    export = request_export(workspace, author=None)
    seen = []

    def look():
        seen.append(Export.objects.get(pk=export.pk).rows_done)
        connection.close()

    def pieces(_, beat):
        beat(Progress(rows_done=41))
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
        yield b"an archive"

    monkeypatch.setattr(exporting, "archive_pieces", pieces)
    write_due()
    assert seen == [41]
    assert Workspace.objects.get(pk=workspace.pk).exports.get().rows_done == 41
