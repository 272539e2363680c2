"""Deleting a workspace: access ends at once, and a marker in its data is found nowhere."""

import pytest
from django.db import connection
from django.test import Client

from backend.accounts.models import Role, Workspace
from backend.accounts.workspace import invitations
from backend.ingest.models import Part, Upload
from backend.ingest.removing import purging, upload_removal
from backend.ingest.removing.purging import purge_deleted_workspaces
from backend.ingest.removing.trash import trash_run
from backend.runs.models import Run
from backend.sharing.models import Visibility
from backend.sharing.workspace_deletion import delete_workspace
from backend.storage import storage
from backend.testing.rows import CellSpec, make_run
from backend.testing.scenes import make_result_set, make_scene
from backend.testing.uploads import make_file

MARKER = "zyxwv-marker"

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("own_storage")]


@pytest.fixture
def scene():
    return make_scene()


def tables_with(text):
    """The tables that hold the text in any column."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        names = [row[0] for row in cursor.fetchall()]
        holding = set()
        for name in names:
            cursor.execute(f"SELECT 1 FROM {name} t WHERE t::text LIKE %s LIMIT 1", [f"%{text}%"])
            if cursor.fetchone():
                holding.add(name)
    return holding


def test_access_ends_at_once(scene):
    shared = make_result_set(scene.own.workspace, Visibility.PUBLIC)
    clear = invitations.invite(scene.own.user, scene.own.workspace, Role.VIEWER)
    owner = Client()
    owner.force_login(scene.own.user)
    assert Client().get(f"/s/{shared.link}").status_code == 200

    delete_workspace(scene.own.workspace)

    assert owner.get("/w/own-lab/").status_code == 404
    assert owner.get(f"/r/{scene.run.pk}").status_code == 404
    assert Client().get(f"/s/{shared.link}").status_code == 404
    assert Client(headers=scene.own.headers).get("/api/v1/runs").status_code == 401
    with pytest.raises(invitations.InvitationRefused):
        invitations.find(clear)


def test_a_marker_is_found_nowhere_after_the_purge(scene):
    workspace = scene.own.workspace
    Workspace.objects.filter(pk=workspace.pk).update(name=MARKER)
    Run.objects.filter(workspace=workspace).update(labels={"for": MARKER})
    client = Client(headers=scene.own.headers)
    client.post("/api/v1/uploads", {"file": make_file("ab.txt", f"{MARKER} nonsense".encode())})
    assert Upload.objects.filter(workspace=workspace).count() == 2
    assert tables_with(MARKER)
    make_result_set(workspace, Visibility.PRIVATE)
    Part.objects.create(
        workspace=workspace, upload_id=scene.upload.pk, artefact_sha256="0" * 64, number=0
    )

    workspace.refresh_from_db()
    delete_workspace(workspace)
    assert purge_deleted_workspaces() == 1

    assert tables_with(MARKER) == set()
    # That it was deleted, and who did it, stays.
    assert tables_with(str(workspace.pk)) == {"accounts_auditevent"}
    stored = [path for path in storage().root.rglob("*") if path.is_file()]
    assert not [path for path in stored if MARKER.encode() in path.read_bytes()]
    assert not Part.objects.exists()


def test_a_purge_without_time_goes_on_later(scene):
    delete_workspace(scene.own.workspace)
    assert purge_deleted_workspaces(budget_s=-1) == 0
    assert Run.objects.filter(workspace=scene.own.workspace).exists()
    assert purge_deleted_workspaces() == 1
    assert Workspace.objects.filter(slug="foreign-lab").exists()


def test_a_run_that_cannot_be_removed_holds_up_no_other(scene, monkeypatch, caplog):
    workspace = scene.own.workspace
    for _ in range(3):
        make_run(workspace, CellSpec())
    first = Run.objects.filter(workspace=workspace).order_by("pk").first()
    trash_run(first, by=None)
    remove_run = purging.remove_run

    def remove(run):
        if run == first:
            raise RuntimeError("unforeseen")
        remove_run(run)

    monkeypatch.setattr(purging, "remove_run", remove)
    delete_workspace(workspace)
    assert purge_deleted_workspaces() == 0
    assert Run.with_trash.filter(workspace=workspace).get() == first
    assert Workspace.objects.filter(pk=workspace.pk).exists()
    assert "run_not_removed" in caplog.text
    monkeypatch.undo()
    assert purge_deleted_workspaces() == 1
    assert not Workspace.objects.filter(pk=workspace.pk).exists()


def test_an_upload_that_cannot_be_removed_holds_up_no_other(scene, monkeypatch, caplog):
    client = Client(headers=scene.own.headers)
    for number in range(4):
        client.post("/api/v1/uploads", {"file": make_file("ab.txt", b"nonsense %d" % number)})
    uploads = Upload.objects.filter(workspace=scene.own.workspace).order_by("pk")
    first = uploads.exclude(pk=scene.upload.pk).first()
    remove_together = upload_removal._remove_together

    def remove(upload_ids):
        if first.pk in upload_ids:
            raise RuntimeError("unforeseen")
        remove_together(upload_ids)

    monkeypatch.setattr(upload_removal, "UPLOADS_AT_ONCE", 2)
    monkeypatch.setattr(upload_removal, "_remove_together", remove)
    delete_workspace(scene.own.workspace)
    assert purge_deleted_workspaces() == 0
    assert uploads.get() == first
    assert "upload_not_removed" in caplog.text
    monkeypatch.undo()
    assert purge_deleted_workspaces() == 1


def test_the_owner_must_type_the_address(scene):
    owner = Client()
    owner.force_login(scene.own.user)
    assert owner.post("/w/own-lab/delete", {"confirm": "other"}).status_code == 400
    assert owner.post("/w/own-lab/delete", {"confirm": "own-lab"})["Location"] == "/workspaces"
    assert not Workspace.objects.filter(slug="own-lab").exists()
