"""manage.py doctor: every part has a line, what is broken says what to do, and the status tells."""

import io
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from backend.config.health import doctor
from backend.config.health.doctor import State, examine
from backend.config.models import BackupReport, IntegrityReport
from backend.config.processes import heartbeat
from backend.testing.outages import database_away
from backend.testing.pooler import needs_session

pytestmark = pytest.mark.django_db(transaction=True)
PARTS = ("worker", "beat", "canary")


@pytest.fixture(autouse=True)
def _own_storage(own_storage, settings):
    settings.BACKUP_DIR = ""


@pytest.fixture
def sound(settings, tmp_path):
    """A service of which nothing is missing but what its operator may leave out."""
    for part in PARTS:
        heartbeat.record(part)
    IntegrityReport.objects.create(lines=[], seconds=1.0, at=timezone.now())
    settings.STATICFILES_DIRS = [tmp_path]
    (tmp_path / "site.js").touch()


def findings():
    return {finding.part: finding for finding in examine()}


def run():
    out = io.StringIO()
    try:
        call_command("doctor", stdout=out)
    except SystemExit as ended:
        return ended.code, out.getvalue()
    return 0, out.getvalue()


def test_a_sound_service_ends_with_0_and_says_what_could_be_added(sound):
    status, text = run()

    assert status == 0, text
    assert "broken" not in text
    assert "warning  WAL archive: No WAL is archived.\n         To restore any point" in text
    assert "warning  backups: BACKUP_DIR is not set." in text
    assert "ok       integrity: No problem on" in text


def test_a_service_whose_processes_are_silent_is_broken():
    status, text = run()

    assert status == 1
    for part in PARTS:
        assert f"broken   {part}: No heartbeat yet" in text


def test_without_a_database_the_other_parts_are_looked_at_all_the_same(sound):
    with database_away():
        states = findings()

    assert states["database"].state is State.BROKEN
    assert "DATABASE_URL" in states["database"].advice
    assert states["storage"].state is states["broker"].state is State.OK
    assert "worker" not in states


def test_a_broker_whose_address_is_not_set_is_no_fault(sound, settings):
    manage = (settings.BASE_DIR / "manage.py").read_text()
    assert f'"REDIS_URL": "{doctor.NO_REDIS}"' in manage
    settings.REDIS_URL = doctor.NO_REDIS
    assert findings()["broker"].state is State.WARNING


def test_tables_of_another_version_are_told(sound):
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'feeds'")
    try:
        finding = findings()["tables"]
    finally:
        call_command("migrate", "feeds", fake=True, verbosity=0)
    assert finding.state is State.BROKEN
    assert "migrate" in finding.advice


def test_problems_of_the_integrity_checks_are_told(sound):
    IntegrityReport.objects.create(lines=[{"problem_count": 2}], seconds=1.0)
    assert findings()["integrity"].sentence.startswith("2 problems on")


def test_wal_that_is_not_archived_is_told(sound, monkeypatch):
    answers = iter([("on",), (True, "000000010000000000000007", None)])

    class Cursor:
        def __enter__(self):
            return self

        def __exit__(self, *_):
            return False

        def execute(self, _):
            pass

        def fetchone(self):
            return next(answers)

    class Connection:
        cursor = Cursor

    monkeypatch.setattr(doctor, "connection", Connection)
    finding = doctor._archive()
    assert finding.state is State.BROKEN
    assert "000000010000000000000007 cannot be archived" in finding.sentence


def test_a_storage_that_cannot_be_used_is_told(sound, settings, tmp_path):
    (tmp_path / "file").touch()
    settings.DATA_DIR = tmp_path / "file" / "data"
    states = findings()
    assert states["storage"].state is states["disk"].state is State.BROKEN


@needs_session
def test_old_and_missing_backups_are_told(sound, settings, tmp_path, monkeypatch):
    settings.BACKUP_DIR = str(tmp_path / "backups")
    assert findings()["backups"].sentence == "There is no backup."
    call_command("backup", "--no-artefacts", stdout=io.StringIO())
    assert findings()["backups"].state is State.OK
    BackupReport.objects.all().delete()
    monkeypatch.setattr(doctor.backup_reports, "OLDEST", timedelta(0))
    assert findings()["backups"].state is State.WARNING


def test_sweep_says_what_it_removed():
    out = io.StringIO()
    call_command("sweep", stdout=out)
    text = out.getvalue()
    assert "0  uploads given back" in text
    assert "0  deleted workspaces removed" in text
    assert "0  expired parts removed, 0 bytes" in text


def test_checks_that_were_run_by_hand_are_no_longer_never_checked():
    assert findings()["integrity"].sentence == "Never checked."
    call_command("verify", stdout=io.StringIO())
    assert findings()["integrity"].sentence.startswith("No problem on ")


def test_one_problem_is_spoken_of_as_one(sound):
    lines = [{"name": "uploads", "count": 1, "problem_count": 1, "problems": ["x"]}]
    IntegrityReport.objects.create(lines=lines, seconds=1.0)
    assert findings()["integrity"].sentence.startswith("1 problem on ")
