"""Database or storage away: 503 or 507 with what to do and when, never 500, nothing half stored."""

import errno
import os
import tempfile

import pytest
from django.db import close_old_connections
from django.test import Client

from backend.accounts.workspace import access
from backend.ingest.models import Artefact, Upload
from backend.storage import storage
from backend.testing.outages import cut_off_database, database_away
from backend.testing.scenes import make_scene
from backend.testing.uploads import make_file, make_tenant
from backend.web.tests.test_access import ROWS, ask, ids_of

WITHOUT_DATABASE = {
    "livez": 200,
    "robots": 200,
    # Nothing was said, so nothing is asked.
    "leaked-token-list": 400,
    "openapi": 200,
    "guide-without-slash": 302,
    "integration-file": 200,
    "workspace-without-slash": 302,
}
# Files that were made before the service began; a test runs with them or without.
AGENT_FILES = {"agent-pyz", "agent-pyz-sha256", "agent-wheel"}

pytestmark = pytest.mark.usefixtures("own_storage", "small_files_as_files")


def quiet_client(**more):
    return Client(raise_request_exception=False, **more)


def is_an_outage(response, path, status=503):
    assert response.status_code == status, path
    if path == "/readyz":
        return
    assert int(response["Retry-After"]) > 0, path
    if path.startswith("/api/") and path != "/api/v1/docs":
        assert response["Content-Type"] == "application/problem+json"
        body = response.json()
        assert body["status"] == status
        assert body["detail"].endswith(".")
        assert body["hint"].endswith(".")
    elif not path.startswith("/api/"):
        assert b"<h1>" in response.content, path
        assert b"at the moment" in response.content, path


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("visitor", ["owner", "token"])
def test_every_route_says_that_the_database_is_away(visitor, caplog):
    scene = make_scene()
    ids = ids_of(scene)
    client = quiet_client(headers=scene.own.headers if visitor == "token" else {})
    if visitor == "owner":
        client.force_login(scene.own.user)
    with database_away():
        for name, row in ROWS.items():
            if name in AGENT_FILES:
                continue
            if visitor == "token" and not row.path.startswith("/api/v1/"):
                continue
            response = ask(client, row, ids)
            if name in WITHOUT_DATABASE:
                assert response.status_code == WITHOUT_DATABASE[name], name
            elif name != "api-docs" or visitor == "owner":
                is_an_outage(response, row.path)
    lines = [line for line in caplog.records if line.name == "django.request"]
    assert lines
    assert {(line.levelname, line.exc_info) for line in lines} == {("WARNING", None)}
    assert any("OperationalError" in getattr(line, "reason", "") for line in lines)
    assert ask(client, ROWS["run"], ids).status_code == 200


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("path", ["/api/v1/runs", "/"])
def test_a_session_cut_off_in_mid_request(path, monkeypatch):
    tenant = make_tenant()
    client = quiet_client()
    client.force_login(tenant.user)
    workspaces_of = access.workspaces_of

    def cut_off(actor):
        monkeypatch.setattr(access, "workspaces_of", workspaces_of)
        cut_off_database()

    monkeypatch.setattr(access, "workspaces_of", cut_off)
    is_an_outage(client.get(path), path)
    close_old_connections()  # as at the end of every request outside of tests
    assert client.get(path).status_code == 200


@pytest.fixture
def post(db):
    tenant = make_tenant()
    client = quiet_client(headers=tenant.headers)
    return lambda *files: client.post("/api/v1/uploads", {"file": list(files or [make_file()])})


def nothing_is_stored(folder):
    assert not Upload.objects.exists()
    assert not Artefact.objects.exists()
    assert [path for path in folder.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize(
    ("code", "status"),
    [
        (errno.ENOSPC, 507),
        (errno.EDQUOT, 507),
        (errno.EROFS, 503),
        (errno.EACCES, 503),
        (errno.EIO, 503),
    ],
)
@pytest.mark.parametrize("call", [(tempfile, "mkstemp"), (os, "fsync"), (os, "replace")])
def test_a_disk_that_cannot_be_written(code, status, call, post, monkeypatch, tmp_path):
    storage()

    def refuse(*_, **__):
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as patch:
        patch.setattr(*call, refuse)
        is_an_outage(post(), "/api/v1/uploads", status)
    nothing_is_stored(tmp_path)
    assert post().status_code == 202


def test_a_storage_folder_that_vanished(post, tmp_path):
    storage()
    (tmp_path / "artefacts").rmdir()
    is_an_outage(post(), "/api/v1/uploads")
    nothing_is_stored(tmp_path)


def test_a_storage_folder_that_cannot_be_made(post, settings, tmp_path):
    (tmp_path / "file").write_text("in the way")
    settings.DATA_DIR = tmp_path / "file"
    is_an_outage(post(), "/api/v1/uploads")
    ready = quiet_client().get("/readyz")
    assert ready.status_code == 503
    assert b"DATA_DIR" in ready.content


def test_no_room_for_the_body_of_a_large_request(post, monkeypatch):
    def refuse(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("backend.ingest.receiving.sent_files.TemporaryUploadedFile", refuse)
    is_an_outage(post(make_file(b"x" * (3 << 20))), "/api/v1/uploads", 507)


def test_s3_away(post, settings, monkeypatch, tmp_path):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    settings.S3_BUCKET, settings.S3_ENDPOINT_URL = "artefacts", "http://127.0.0.1:1"
    is_an_outage(post(), "/api/v1/uploads")
    nothing_is_stored(tmp_path)


@pytest.mark.django_db
def test_raw_output_while_the_storage_is_away(tmp_path):
    scene = make_scene()
    (tmp_path / "artefacts").rename(tmp_path / "unmounted")
    client = quiet_client()
    client.force_login(scene.own.user)
    for path in (
        f"/a/{scene.artefact.pk}",
        f"/a/{scene.artefact.pk}/raw",
        f"/api/v1/artefacts/{scene.artefact.pk}/raw",
    ):
        is_an_outage(client.get(path), path)
