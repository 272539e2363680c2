"""/readyz tries whether the storage can be written, and a flood of requests tries it once."""

import errno
import os
import tempfile
import threading
import time

import pytest

from backend.config.health import storage_probe
from backend.config.health.storage_probe import Finding, probe_storage
from backend.config.tests.health import everything_runs, readyz
from backend.storage.files import FileStorage
from backend.storage.s3 import S3Storage

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("own_storage")]


def refuse(monkeypatch, code):
    def mkstemp(*_, **__):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(tempfile, "mkstemp", mkstemp)


@pytest.mark.parametrize("code", [errno.EROFS, errno.EACCES, errno.EIO, errno.ESTALE])
def test_a_storage_that_can_only_be_read_is_not_ready(monkeypatch, code):
    everything_runs()
    assert readyz()[0] == 200
    storage_probe.forget()
    refuse(monkeypatch, code)
    assert readyz() == (503, ["not ready: DATA_DIR cannot be written: the log says why"])


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_storage_is_a_warning(monkeypatch, code):
    everything_runs()
    refuse(monkeypatch, code)
    status, lines = readyz()
    assert status == 200
    assert "warning: DATA_DIR is full: uploads are refused" in lines


def test_nothing_is_left_behind(tmp_path):
    assert probe_storage() is Finding.WRITTEN
    assert [place for place in tmp_path.rglob("*") if place.is_file()] == []


def test_a_flood_writes_once_and_a_later_request_again(monkeypatch):
    written = []
    put_part = FileStorage.put_part

    def counted(self, name, chunks):
        written.append(name)
        return put_part(self, name, chunks)

    monkeypatch.setattr(FileStorage, "put_part", counted)
    for _ in range(20):
        assert readyz()[0] == 200
    assert len(written) == 1
    monkeypatch.setattr(storage_probe, "KEPT_S", 0.0)
    probe_storage()
    assert len(written) == 2


def test_a_storage_that_hangs_is_waited_for_once(monkeypatch):
    let_go, begun = threading.Event(), []

    def hang(*_, **__):
        begun.append(1)
        let_go.wait(30)

    monkeypatch.setattr(FileStorage, "put_part", hang)
    monkeypatch.setattr(storage_probe, "WITHIN_S", 0.2)
    monkeypatch.setattr(storage_probe, "KEPT_S", 0.0)
    began_s = time.monotonic()
    try:
        findings = {probe_storage() for _ in range(50)}
    finally:
        let_go.set()
    assert findings == {Finding.AWAY}
    assert len(begun) == 1
    # Of 50 questions only the first waits.
    assert time.monotonic() - began_s < 50 * 0.2


def test_a_bucket_that_is_away_is_not_ready_and_its_address_is_not_told(settings, monkeypatch):
    # Until the attempt has ended: the library alone takes seconds to import.
    monkeypatch.setattr(storage_probe, "WITHIN_S", 60.0)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    settings.S3_BUCKET, settings.S3_ENDPOINT_URL = "artefacts", "http://127.0.0.1:1"
    assert readyz() == (503, ["not ready: the bucket cannot be written: the log says why"])


def test_a_bucket_is_written_and_the_object_removed(settings, monkeypatch):
    calls = []
    monkeypatch.setattr(S3Storage, "__init__", lambda self, *_: None)
    monkeypatch.setattr(S3Storage, "put_part", lambda _, name, chunks: calls.append(("put", name)))
    monkeypatch.setattr(S3Storage, "remove_part", lambda _, name: calls.append(("remove", name)))
    settings.S3_BUCKET = "artefacts"
    assert readyz()[0] == 200
    (put, name), (removed, same) = calls
    assert (put, removed, same) == ("put", "remove", name)
