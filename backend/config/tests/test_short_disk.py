"""What is refused, and what stays possible, while a disk is short or full."""

import contextlib
import shutil
import subprocess
import uuid
from collections import namedtuple
from pathlib import Path
from stat import S_IFDIR
from types import SimpleNamespace

import pytest
from django.test import Client

from backend import disks
from backend.config.tests.health import everything_runs, readyz
from backend.ingest.models import Upload
from backend.storage import storage
from backend.testing.scenes import make_scene
from backend.testing.uploads import make_file, make_tenant

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("own_storage")]
Usage = namedtuple("Usage", "total used free")


class TestShortDisk:
    @pytest.fixture
    def free(self, settings, monkeypatch):
        """Sets how many bytes of a disk of 100 GiB are free."""
        settings.LEAST_FREE_PERCENT, settings.LEAST_FREE_BYTES = 10, 512 << 20

        def free(free_bytes, total=100 << 30):
            monkeypatch.setattr(disks.shutil, "disk_usage", lambda _: Usage(total, 0, free_bytes))

        return free

    @pytest.mark.parametrize(
        ("free_bytes", "total", "is_short"),
        [
            ((10 << 30) - 1, 100 << 30, True),
            (10 << 30, 100 << 30, False),
            ((512 << 20) - 1, 1 << 30, True),
            (512 << 20, 1 << 30, False),
        ],
    )
    def test_is_below_a_tenth_or_half_a_gibibyte(self, free, free_bytes, total, is_short):
        free(free_bytes, total)

        assert disks.is_short() is is_short

    def test_is_a_warning_with_its_reason(self, free):
        everything_runs()
        free(9 << 30)

        status, lines = readyz()

        assert status == 200
        assert lines[-1] == (
            "warning: the disk of DATA_DIR has 9216 MiB free, less than 10240 MiB: "
            "uploads are refused"
        )

    def test_refuses_uploads_and_nothing_else(self, free):
        scene = make_scene()
        uploads = Upload.objects.count()
        free(1 << 30)
        sender = Client(headers=scene.own.headers)
        member = Client()
        member.force_login(scene.own.user)
        part = f"/api/v1/uploads/{uuid.uuid4()}/parts/{'a' * 64}/1"

        for refused in (
            sender.post("/api/v1/uploads", {"file": make_file()}),
            sender.put(part, b"x", content_type="application/octet-stream"),
            member.post(f"/w/{scene.own.workspace.slug}/upload", {"action": "save"}),
        ):
            assert refused.status_code == 507
            assert int(refused["Retry-After"]) > 0
        assert Upload.objects.count() == uploads

        assert member.get(f"/w/{scene.own.workspace.slug}/runs").status_code == 200
        assert sender.get("/api/v1/runs").status_code == 200
        assert Client().get("/accounts/login/").status_code == 200
        assert sender.get("/api/v1/compare").status_code == 200
        deleted = member.delete(f"/api/v1/runs/{scene.run.pk}")
        assert deleted.status_code != 507


class TestDisks:
    """A disk for each folder, of 100 GiB."""

    @pytest.fixture(autouse=True)
    def free(self, own_storage, settings, monkeypatch, tmp_path):
        """How many bytes are free on the disk of each folder."""
        settings.LEAST_FREE_PERCENT, settings.LEAST_FREE_BYTES = 1, 2 << 30
        folders = {name: tmp_path / name for name in ("data", "database", "temporary")}
        free = dict.fromkeys(folders, 50 << 30)
        settings.DATA_DIR, settings.DATABASE_DIR = folders["data"], str(folders["database"])
        devices = {str(folders[name]): number for number, name in enumerate(folders)}
        for folder in folders.values():
            folder.mkdir()
        stat = Path.stat

        def on_its_own_disk(path, **options):
            if str(path) not in devices:
                return stat(path, **options)
            return SimpleNamespace(st_dev=devices[str(path)], st_mode=S_IFDIR)

        monkeypatch.setattr(Path, "stat", on_its_own_disk)
        monkeypatch.setattr(disks.tempfile, "gettempdir", lambda: str(folders["temporary"]))
        monkeypatch.setattr(
            disks.shutil, "disk_usage", lambda folder: Usage(100 << 30, 0, free[folder.name])
        )
        return free

    @pytest.mark.parametrize(
        ("folder", "name"),
        [
            ("data", "DATA_DIR"),
            ("database", "the database"),
            ("temporary", "temporary files"),
        ],
    )
    def test_are_looked_at_each(self, free, folder, name):
        everything_runs()
        assert not disks.is_short()

        free[folder] = 1 << 20

        assert disks.is_short()
        assert f"warning: the disk of {name} has 1 MiB free" in readyz()[1][-1]
        assert Client().post("/api/v1/uploads", headers=make_tenant().headers).status_code == 507

    def test_of_data_does_not_matter_where_artefacts_are_in_a_bucket(self, free, settings):
        settings.S3_BUCKET = "artefacts"

        free["data"] = 0
        assert not disks.is_short()
        free["database"] = 0
        assert disks.is_short()

    def test_of_temporary_files_may_be_small(self, free):
        free["temporary"] = 1 << 30
        assert not disks.is_short()

        free["database"] = 1 << 30
        assert disks.is_short()

    def test_that_cannot_be_asked_do_not_hide_the_others(self, free, settings, tmp_path):
        settings.DATA_DIR = tmp_path / "missing"
        assert not disks.is_short()

        free["database"] = 0
        assert disks.is_short()


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 16 MiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=16m,mode=0777", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(command, check=False).returncode:
        pytest.skip("only root may mount a small disk")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(file):
    with contextlib.suppress(OSError), file.open("ab", buffering=0) as out:
        while True:
            out.write(b"x" * 4096)


def test_a_disk_that_is_really_full(small_disk, settings, small_files_as_files):
    settings.DATA_DIR = small_disk
    settings.LEAST_FREE_PERCENT = 10
    storage.cache_clear()
    client = Client(headers=make_tenant().headers, raise_request_exception=False)

    def upload(text=b"Requests/sec: 1"):
        return client.post("/api/v1/uploads", {"file": make_file(text)}).status_code

    assert upload() == 202
    filler = small_disk / "filler"
    filler.write_bytes(b"x" * (15 << 20))
    assert upload(b"Requests/sec: 2") == 507
    assert readyz()[0] == 200
    assert any("uploads are refused" in line for line in readyz()[1])

    # Full to the last byte, with nothing kept free.
    settings.LEAST_FREE_PERCENT = 0
    fill(filler)
    assert upload(b"Requests/sec: 3") == 507
    assert Upload.objects.count() == 1

    filler.unlink()
    assert upload(b"Requests/sec: 4") == 202
