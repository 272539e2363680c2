"""`manage.py backup --every`: when a backup is made and tried, and how its age is told."""

import io
import os
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest
from django.conf import settings as our_settings
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection
from django.test import Client
from django.utils import timezone

from backend.config.health import doctor
from backend.config.models import BackupReport
from backend.config.processes import heartbeat
from backend.config.recovery import backup_reports, backup_run, backup_schedule
from backend.config.recovery.backup_run import Wanted
from backend.config.recovery.backup_schedule import Schedule
from backend.config.recovery.backups import DESCRIPTION, backups_in
from backend.config.recovery.database_programs import RecoveryFailed
from backend.testing.outages import database_away
from backend.testing.pooler import needs_session
from backend.testing.scenes import make_scene
from backend.testing.waiting import wait_until

pytestmark = [needs_session, pytest.mark.django_db(transaction=True)]
DAY, HOUR = timedelta(days=1), timedelta(hours=1)


@pytest.fixture(autouse=True)
def _own_site(own_storage, settings, tmp_path):
    settings.BACKUP_BUCKET = ""
    settings.BACKUP_DIR = str(tmp_path / "backups")


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "backups"


@pytest.fixture
def schedule(folder):
    return Schedule(folder, DAY, Wanted(), tell=lambda _: None)


def ages():
    text = Client(SERVER_NAME="localhost").get("/metrics").content.decode()
    lines = [line.split() for line in text.splitlines() if line.startswith("loadsheet_backup")]
    return {name.removeprefix("loadsheet_backup_"): float(value) for name, value in lines}


def ready():
    return Client(SERVER_NAME="localhost").get("/readyz").content.decode()


def made_at(at, **fields):
    return BackupReport.objects.create(at=at, seconds=1.0, **fields)


def test_a_backup_is_made_when_the_newest_is_old_enough(schedule, folder):
    now = datetime.now(UTC)
    for after, expected in [(0 * HOUR, 1), (HOUR, 1), (23 * HOUR, 1), (25 * HOUR, 2)]:
        schedule.step(now + after)
        assert len(backups_in(folder)) == expected


def test_a_damaged_backup_stops_no_other_and_is_named(schedule, folder):
    now = datetime.now(UTC)
    schedule.step(now)
    (damaged,) = backups_in(folder)
    (damaged.path / DESCRIPTION).write_text("{")

    schedule.step(now + DAY + HOUR)

    assert len(list(folder.glob(f"*/{DESCRIPTION}"))) == 2
    newest = BackupReport.objects.latest("at")
    assert str(damaged.path) in newest.reason


def test_a_restart_makes_no_backup_before_its_time(schedule, folder):
    schedule.step(datetime.now(UTC))
    Schedule(folder, DAY, Wanted(), tell=lambda _: None).step(datetime.now(UTC))

    assert len(backups_in(folder)) == 1


def test_the_first_backup_is_restored_and_then_one_a_week(schedule, monkeypatch):
    make_scene()
    now = datetime.now(UTC)
    schedule.step(now)
    assert BackupReport.objects.get().restore_problem == ""
    tried = []
    monkeypatch.setattr(backup_schedule, "try_to_restore", lambda made: tried.append(made) or "")
    schedule.step(now + 2 * DAY)
    assert tried == []
    schedule.step(now + 8 * DAY)
    assert len(tried) == 1


def test_a_backup_that_cannot_be_restored_is_told_everywhere(schedule, monkeypatch, caplog):
    class Bad:
        problems = ["table runs_run differs"]

    monkeypatch.setattr(backup_run, "drill", lambda _: Bad)
    schedule.step(datetime.now(UTC))

    sentence = "a backup could not be restored: table runs_run differs"
    assert f"warning: {sentence}" in ready()
    assert doctor._backups().sentence == f"{sentence.capitalize()}."
    assert ages()["restore_problem"] == 1
    assert "restored_age_seconds" not in ages()
    assert "backup_not_restored" in caplog.text


def test_a_failure_is_reported_and_tried_again_after_a_while(schedule, folder, monkeypatch):
    def fail(*_, **__):
        raise RecoveryFailed("pg_dump failed: no room")

    now = datetime.now(UTC)
    with monkeypatch.context() as broken:
        broken.setattr(backup_run, "make_backup", fail)
        schedule.step(now)
        schedule.step(now + timedelta(minutes=1))
    assert [report.reason for report in BackupReport.objects.all()] == ["pg_dump failed: no room"]
    assert "warning: no backup could be made" in ready()
    schedule.step(now + timedelta(minutes=14))
    assert backups_in(folder) == []
    schedule.step(now + timedelta(minutes=16))
    assert len(backups_in(folder)) == 1


def test_a_database_that_is_away_ends_nothing(schedule, folder):
    now = datetime.now(UTC)
    with database_away():
        schedule.step(now)
    assert list(folder.glob("*")) == []
    schedule.step(now + HOUR)
    assert len(backups_in(folder)) == 1


def test_a_backup_counts_where_its_report_cannot_be_stored(folder, monkeypatch):
    def refuse(*_, **__):
        raise DatabaseError("there is no such table")

    monkeypatch.setattr(BackupReport, "save", refuse)
    call_command("backup", str(folder), stdout=io.StringIO())

    assert len(backups_in(folder)) == 1


def test_ages_are_told_and_old_backups_warned_of(settings):
    settings.BACKUP_DIR = ""
    assert ages() == {}
    assert "backup" not in ready()
    now = timezone.now()
    made_at(now - 9 * DAY, restore_problem="")
    made_at(now - 47 * HOUR)
    assert "backup" not in ready()
    assert doctor._backups().state is doctor.State.OK
    told = ages()
    assert told["age_seconds"] == pytest.approx(47 * 3600, abs=60)
    assert told["restored_age_seconds"] == pytest.approx(9 * 86400, abs=60)
    assert told["restore_problem"] == 0
    BackupReport.objects.update(at=now - 3 * DAY)
    made_at(now, reason="no room")
    assert "warning: the newest backup is 3 days old" in ready()
    assert doctor._backups().state is doctor.State.BROKEN


def test_old_reports_go_but_for_those_that_tell_something():
    old = timezone.now() - 100 * DAY
    keep = {made_at(old - DAY, restore_problem="").pk, made_at(old, reason="").pk}
    made_at(old - 2 * DAY)
    made_at(old, reason="no room")
    report = backup_reports.store_report(seconds=1.0, reason="no room")

    assert set(BackupReport.objects.values_list("pk", flat=True)) == {*keep, report.pk}


def test_what_killed_backups_left_is_removed(folder):
    for name, age in (("old", 3 * DAY), ("new", HOUR)):
        partial = folder / f"{name}.partial"
        partial.mkdir(parents=True)
        at = (datetime.now(UTC) - age).timestamp()
        os.utime(partial, (at, at))
    call_command("backup", str(folder), stdout=io.StringIO())

    assert [path.name for path in folder.glob("*.partial")] == ["new.partial"]


@pytest.mark.parametrize("text", ["24", "0h", "1.5h", "-1h", "24 h", "h", "99999d", "1w"])
def test_a_duration_that_is_none_is_refused(text):
    with pytest.raises(CommandError, match=r"expected a duration like 30m, 24h or 7d"):
        call_command("backup", f"--every={text}")


@pytest.mark.processes
def test_the_process_goes_on_and_ends_at_once_when_it_is_stopped(folder):
    database = connection.settings_dict
    url = (
        f"postgresql://{database['USER']}:{database['PASSWORD']}@/{database['NAME']}"
        f"?host={database['HOST']}&port={database['PORT']}"
    )
    process = subprocess.Popen(
        [sys.executable, "manage.py", "backup", "--every", "24h"],
        cwd=our_settings.BASE_DIR,
        env={**os.environ, "DATABASE_URL": url, "BACKUP_DIR": str(folder)},
    )
    try:
        assert wait_until(lambda: BackupReport.objects.filter(restore_problem="").exists(), 60)
        assert heartbeat.check(heartbeat.BACKUP, url) is None
        assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0
    finally:
        process.kill()
        process.wait()
