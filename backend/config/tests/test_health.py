"""What /readyz says of each part, and what stays possible on a full disk."""

import contextlib
import os
import re
import shutil
import subprocess
import sys
import uuid
from collections import namedtuple
from datetime import timedelta
from pathlib import Path
from stat import S_IFDIR
from types import SimpleNamespace

import pytest
from django.conf import settings as configured
from django.core.management import call_command
from django.db import connection
from django.db.models.functions import Now
from django.test import Client

from backend import disks
from backend.config import clock, heartbeat
from backend.config.celery import app
from backend.config.models import Heartbeat
from backend.ingest.hints import DRAIN_TASK
from backend.ingest.models import Upload
from backend.ingest.storage import storage
from backend.testing.scenes import make_scene
from backend.testing.uploads import make_file, make_tenant

pytestmark = pytest.mark.django_db
Usage = namedtuple("Usage", "total used free")


@pytest.fixture(autouse=True)
def _own_storage(settings, tmp_path):
    settings.DATA_DIR = tmp_path
    storage.cache_clear()
    yield
    storage.cache_clear()


def heard(name, seconds_ago):
    Heartbeat.objects.update_or_create(
        name=name, defaults={"at": Now() - timedelta(seconds=seconds_ago)}
    )


def everything_runs():
    heard("worker@a", 5)
    heard("beat@a", 5)
    heard("canary", 40)


def readyz():
    answer = Client().get("/readyz")
    return answer.status_code, answer.content.decode().splitlines()


class TestParts:
    def test_are_listed_with_their_ages_and_no_warning(self):
        everything_runs()

        assert readyz() == (
            200,
            ["ready", "worker: 5 s ago", "beat: 5 s ago", "canary: 40 s ago"],
        )

    @pytest.mark.parametrize(
        ("name", "seconds", "words"),
        [
            ("worker@a", 61, "no worker runs"),
            ("beat@a", 61, "beat does not run"),
            ("canary", 101, "take no tasks"),
        ],
    )
    def test_that_are_silent_are_a_warning_and_no_503(self, name, seconds, words):
        everything_runs()
        heard(name, seconds)

        status, lines = readyz()

        assert status == 200
        (warning,) = [line for line in lines if line.startswith("warning: ")]
        assert words in warning

    def test_that_never_ran_are_a_warning(self):
        status, lines = readyz()

        assert status == 200
        assert lines[1] == "worker: never"
        assert sum(line.startswith("warning: ") for line in lines) == 3

    def test_the_youngest_machine_counts(self):
        everything_runs()
        heard("worker@b", 4000)

        assert readyz()[1][1] == "worker: 5 s ago"

    @pytest.mark.parametrize("name", ["worker@a", "beat@a", "canary"])
    def test_that_died_before_the_clock_was_set_back_are_a_warning(self, name):
        everything_runs()
        heard(name, -3600)

        part = name.partition("@")[0]
        assert f"{part}: never" in readyz()[1]
        assert f"warning: {heartbeat.WARNINGS[part]}" in readyz()[1]

    def test_that_lived_when_the_clock_was_set_back_are_heard_again(self):
        everything_runs()
        heard("worker@gone", -3600)
        heard("worker@a", -3600)

        heard("worker@a", 4)

        assert "worker: 4 s ago" in readyz()[1]

    def test_a_clock_may_be_a_little_behind(self):
        everything_runs()
        heard("worker@a", -2)

        assert not any(line.startswith("warning: ") for line in readyz()[1])


class TestHeartbeats:
    def test_are_one_row_for_each_part_and_machine(self):
        for _ in range(2):
            heartbeat.record(heartbeat.WORKER)
            heartbeat.canary()

        names = set(Heartbeat.objects.values_list("name", flat=True))
        assert names == {heartbeat.name_of(heartbeat.WORKER), "canary"}
        assert heartbeat.ages()["worker"] < 60

    def test_of_machines_that_are_gone_are_forgotten(self):
        heard("worker@gone", 2 * 24 * 3600)
        heard("worker@here", 3600)

        heartbeat.canary()

        names = set(Heartbeat.objects.values_list("name", flat=True))
        assert names == {"worker@here", "canary"}

    def test_of_beat_come_with_its_ticks(self, monkeypatch):
        closed = []
        monkeypatch.setattr(heartbeat.connection, "close", lambda: closed.append(True), False)
        monkeypatch.setattr("celery.beat.Scheduler.tick", lambda _: 100.0)
        scheduler = clock.Clock.__new__(clock.Clock)
        scheduler._pulse = heartbeat.Pulse(heartbeat.BEAT)

        assert scheduler.tick() == heartbeat.INTERVAL_S
        assert heartbeat.ages()["beat"] < 60
        assert closed

    def test_the_canary_is_on_the_schedule_under_its_name(self):
        entry = configured.CELERY_BEAT_SCHEDULE["canary"]

        assert entry["task"] == heartbeat.canary.name
        assert entry["schedule"] < heartbeat.SILENT_AFTER_S["canary"]

    def test_the_canary_does_not_wait_behind_hints(self):
        canarys = app.amqp.router.route({}, heartbeat.canary.name)["queue"].routing_key
        hints = app.amqp.router.route({}, DRAIN_TASK)["queue"].name

        assert canarys != hints
        assert {canarys, hints} == set(app.amqp.queues.consume_from)


@pytest.mark.django_db(transaction=True)
def test_a_container_asks_for_its_own_heartbeat():
    database = connection.settings_dict
    url = f"postgresql://{database['USER']}@/{database['NAME']}?host={database['HOST']}"

    assert "never" in heartbeat.check(heartbeat.WORKER, url)
    heartbeat.record(heartbeat.WORKER)
    assert heartbeat.check(heartbeat.WORKER, url) is None
    heard(heartbeat.name_of(heartbeat.WORKER), 100)
    assert re.search(r"1[0-9][0-9] s ago", heartbeat.check(heartbeat.WORKER, url))
    heard(heartbeat.name_of(heartbeat.WORKER), -3600)
    assert "s ahead" in heartbeat.check(heartbeat.WORKER, url)
    heard(heartbeat.name_of(heartbeat.WORKER), 100)

    done = subprocess.run(
        [sys.executable, "-m", "backend.config.heartbeat_check", "worker"],
        cwd=configured.BASE_DIR,
        env={**os.environ, "DATABASE_URL": url},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert re.search(r"1[0-9][0-9] s ago", done.stderr)


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
    def free(self, settings, monkeypatch, tmp_path):
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


def test_readyz_warns_where_a_pooler_sets_no_timeouts(monkeypatch):
    monkeypatch.setitem(connection.settings_dict, "DISABLE_SERVER_SIDE_CURSORS", True)
    assert "no time limit" not in Client().get("/readyz").content.decode()
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 0")

    answer = Client().get("/readyz")

    assert answer.status_code == 200
    assert "warning: statements have no time limit" in answer.content.decode()


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


def test_a_disk_that_is_really_full(small_disk, settings):
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


def test_headers_of_every_response():
    answer = Client().get("/accounts/login/")

    assert "camera=()" in answer["Permissions-Policy"]
    assert answer["Cross-Origin-Resource-Policy"] == "same-origin"


def test_only_what_is_made_for_other_sites_may_be_shown_there():
    link = uuid.uuid4()
    for path in (f"/embed/{link}", f"/s/{link}.png", f"/s/{link}.svg"):
        assert Client().get(path)["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert Client().get(f"/s/{link}")["Cross-Origin-Resource-Policy"] == "same-origin"


@pytest.mark.parametrize("address", ["http://127.0.0.1:8000", "https://bench.example"])
def test_django_finds_nothing_to_fix_in_a_deployment(address):
    # The browser tests of the same process set a variable that no deployment has.
    own = {name: text for name, text in os.environ.items() if name != "DJANGO_ALLOW_ASYNC_UNSAFE"}
    done = subprocess.run(
        [sys.executable, "manage.py", "check", "--deploy", "--fail-level=WARNING"],
        cwd=configured.BASE_DIR,
        env={**own, "PUBLIC_URL": address},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    call_command("check")
