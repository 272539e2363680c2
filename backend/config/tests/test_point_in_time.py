"""The drill of a recovery to a point in time, with a server of its own.

Beside it a dump is restored into the same server.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path

import psycopg
import pytest
from django.conf import settings

from backend.config.recovery.backups import BASE, DUMP, backups_in
from backend.config.recovery.embedded import Postgres
from backend.config.recovery.restore_drill import sum_tables
from backend.testing.forked_commands import Commands
from backend.testing.template_cluster import copy_cluster

pytestmark = pytest.mark.processes
PATIENCE_S = 60
# What settings read of the environment: a terminal beside scripts/start has none of it.
OF_SITE = ("DATABASE_URL", "REDIS_URL", "SECRET_KEY", "TOKEN_PEPPER", "DJANGO_SETTINGS_MODULE")
SECRETS = '{"SECRET_KEY": "of the site", "TOKEN_PEPPER": "of the site too"}'


class Site:
    """A database of its own with the tables of Loadsheet, whose WAL is archived."""

    def __init__(self, folder):
        self.data, self.backups = folder / "live", folder / "backups"
        self.postgres = Postgres(self.data, backups=self.backups)
        self.log = folder / "postgres.log"

    def start(self):
        copy_cluster(self.data)
        self.postgres.start(self.log)
        (self.data / "artefacts").mkdir(exist_ok=True)
        (self.data / "secrets.json").write_text(SECRETS)

    @cached_property
    def commands(self):
        own = {"DATABASE_URL": self.postgres.url, "DATA_DIR": str(self.data), "BACKUP_DIR": ""}
        return Commands({**os.environ, **own})

    def manage(self, *arguments, status=0):
        """What manage.py prints on both streams."""
        ended, text = self.commands.run(*map(str, arguments))
        assert ended == status, text
        return text

    def stop(self):
        if "commands" in vars(self):
            self.commands.stop()
        self.postgres.stop()

    def connect(self):
        return psycopg.connect(self.postgres.url, autocommit=True)

    def slugs(self):
        with self.connect() as database:
            rows = database.execute("SELECT slug FROM accounts_workspace ORDER BY slug")
            return [slug for (slug,) in rows.fetchall()]

    def now(self):
        with self.connect() as database:
            return database.execute("SELECT clock_timestamp()").fetchone()[0].astimezone(UTC)

    def sums(self):
        """Of all tables but the reports of backups: a dump ends before its own is stored."""
        with self.connect() as database:
            sums = sum_tables(database)
        del sums["config_backupreport"]
        return sums

    def archive_all(self):
        """Return once everything that was written is in the archive."""
        with self.connect() as database:
            query = "SELECT pg_walfile_name(pg_switch_wal())"
            (name,) = database.execute(query).fetchone()
        deadline = time.monotonic() + PATIENCE_S
        while not (self.backups / "wal" / name).exists():
            assert time.monotonic() < deadline, "the WAL was not archived"
            time.sleep(0.1)


@pytest.fixture(scope="module")
def site():
    with tempfile.TemporaryDirectory(prefix="loadsheet-pitr-") as folder:
        # PostgreSQL's user passes through it.
        Path(folder).chmod(0o755)
        site = Site(Path(folder))
        try:
            site.start()
            yield site
        finally:
            site.stop()


@pytest.fixture(scope="module")
def history(site):
    """A base backup, a workspace made after it, and another after the moment that is restored."""
    site.manage("make_workspace", "before")
    site.manage("backup", "--base", site.backups)
    site.manage("make_workspace", "kept")
    moment, sums = site.now(), site.sums()
    time.sleep(0.01)
    site.manage("make_workspace", "lost")
    site.archive_all()
    return moment, sums


def recovered(site, into):
    """The database in a recovered data folder, served."""
    other = Site(into.parent)
    other.data, other.postgres = into, Postgres(into)
    other.postgres.start(into / "postgres.log")
    return other


@pytest.fixture
def into(site):
    """A new data folder beside the site's."""
    folder = Path(tempfile.mkdtemp(dir=site.data.parent)) / "restored"
    folder.parent.chmod(0o755)
    yield folder
    shutil.rmtree(folder.parent)


def test_a_moment_is_restored_as_it_was_beside_the_live_site(site, history, into):
    moment, sums = history

    text = site.manage("restore", site.backups, "--into", into, "--to", moment.isoformat())

    assert f"scripts/start --no-demo --port 8001 --data {into}" in text
    assert (into / "secrets.json").read_text() == SECRETS
    other = recovered(site, into)
    try:
        assert other.slugs() == ["before", "kept"]
        assert other.sums() == sums
        with other.connect() as database:
            database.execute("UPDATE accounts_workspace SET name = 'It takes changes.'")
    finally:
        other.stop()
    assert site.slugs() == ["before", "kept", "lost"]


def test_without_a_time_the_last_archived_change_is_restored(site, history, into):
    site.manage("restore", site.backups, "--into", into)
    other = recovered(site, into)
    try:
        assert other.slugs() == ["before", "kept", "lost"]
    finally:
        other.stop()


@pytest.mark.parametrize(
    ("to", "words"),
    [
        ("2001-01-31T12:00:00Z", "is before: give a later time"),
        ("2999-01-31T12:00:00Z", "the archived WAL ends before"),
        ("yesterday", "--to is 'yesterday', expected a time"),
    ],
)
def test_a_time_that_cannot_be_restored_says_why(site, history, into, to, words):
    assert words in site.manage("restore", site.backups, "--into", into, "--to", to, status=1)


@pytest.mark.parametrize("damage", ["cut", "flipped"])
def test_a_damaged_base_backup_says_so(site, history, into, tmp_path, damage):
    copy = tmp_path / "backups"
    shutil.copytree(site.backups, copy)
    (archive,) = copy.glob("**/base.tar.gz")
    content = bytearray(archive.read_bytes())
    middle = len(content) // 2
    if damage == "cut":
        del content[middle:]
    else:
        content[middle : middle + 64] = bytes(byte ^ 0xFF for byte in content[middle : middle + 64])
    archive.write_bytes(content)

    text = site.manage("restore", copy, "--into", into, status=1)

    assert f"{archive} is damaged (" in text
    assert "Traceback" not in text


def test_a_folder_with_a_database_is_left_alone(site, history):
    text = site.manage("restore", site.backups, "--into", site.data, status=1)
    assert "give a folder without a database" in text
    assert site.slugs() == ["before", "kept", "lost"]


def test_a_dump_is_restored_only_where_it_is_confirmed(site, history):
    site.manage("backup", site.backups)
    (dump,) = [backup for backup in backups_in(site.backups) if backup.kind == DUMP]
    sums = site.sums()
    site.manage("make_workspace", "newer")

    assert "confirm it with --replace" in site.manage("restore", dump.path, status=1)
    assert "newer" in site.slugs()
    site.manage("restore", dump.path, "--replace")

    assert site.sums() == sums
    (base,) = [backup for backup in backups_in(site.backups) if backup.kind == BASE]
    assert "--into" in site.manage("restore", base.path, "--replace", status=1)


def test_wal_that_no_backup_needs_is_removed(site, history):
    """Old backups go; the newest of each kind stays, with the WAL since."""
    before = {file.name for file in (site.backups / "wal").iterdir()}
    site.manage("backup", "--base", site.backups)
    for backup in backups_in(site.backups)[:-1]:
        old = (datetime.now(UTC) - timedelta(days=40)).isoformat()
        text = (backup.path / "backup.json").read_text()
        aged = text.replace(backup.ended_at.isoformat(), old)
        (backup.path / "backup.json").write_text(aged)

    text = site.manage("backup", "--base", site.backups)

    assert "removed 1 old backups" in text
    left = {file.name for file in (site.backups / "wal").iterdir()}
    assert before - left
    assert backups_in(site.backups)[-1].first_wal <= max(left)


DELETE_WORKSPACE = """
from backend.accounts.models import Workspace
from backend.ingest.removing.purging import purge_deleted_workspaces
from backend.sharing.workspace_deletion import delete_workspace
delete_workspace(Workspace.objects.get(slug="qzvxwj"))
purge_deleted_workspaces()
"""


@pytest.fixture(scope="module")
def deleted(site, history):
    """A dump with a workspace, and a moment that has it; then it is deleted."""
    site.manage("make_workspace", "qzvxwj")
    site.manage("backup", site.backups)
    site.manage("backup", "--base", site.backups)
    moment = site.now()
    time.sleep(0.01)
    dump = [backup for backup in backups_in(site.backups) if backup.kind == DUMP][-1]
    site.manage("shell", "-c", DELETE_WORKSPACE)
    site.manage("backup", site.backups)
    site.archive_all()
    return dump, moment


def tables_with_marker(site):
    with site.connect() as database:
        names = database.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
        ).fetchall()
        query = "SELECT EXISTS (SELECT FROM {} t WHERE t::text LIKE '%qzvxwj%')"
        return [
            name
            for (name,) in names
            if database.execute(query.format(f'"{name}"')).fetchone() == (True,)
        ]


def test_a_restored_dump_has_nothing_of_what_was_deleted_since(site, deleted):
    dump, _ = deleted

    text = site.manage("restore", dump.path, "--replace")

    assert "now once more: workspaces: 1, runs: 0" in text
    assert tables_with_marker(site) == []
    site.manage("restore", dump.path, "--replace", "--with-deleted")
    assert "qzvxwj" in site.slugs()
    # What was brought back stays, whatever is restored later.
    assert "workspaces: 0, runs: 0" in site.manage("delete_again", site.backups)
    assert "qzvxwj" in site.slugs()


def test_a_dump_is_restored_while_scripts_start_is_stopped(site, history):
    """Its database is stopped too: the command starts it, and holds the lock of the folder."""
    site.manage("backup", site.backups)
    dump = [backup for backup in backups_in(site.backups) if backup.kind == DUMP][-1]
    site.manage("make_workspace", "made-later")
    site.postgres.stop()
    own = {"DATA_DIR": str(site.data), "BACKUP_DIR": str(site.backups)}
    kept = {name: value for name, value in os.environ.items() if name not in OF_SITE}
    try:
        done = subprocess.run(
            [sys.executable, settings.BASE_DIR / "manage.py", "restore", dump.path, "--replace"],
            env={**kept, **own},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert not (site.data / "postgres" / "postmaster.pid").exists()
    finally:
        site.postgres.start(site.log)
    assert "made-later" not in site.slugs()
    assert "before" in site.slugs()


def test_a_restored_moment_has_nothing_of_it_once_it_is_served(site, deleted, into):
    _, moment = deleted

    site.manage("restore", site.backups, "--into", into, "--to", moment.isoformat())

    other = recovered(site, into)
    try:
        assert "qzvxwj" in other.slugs()
        assert "workspaces: 1, runs: 0" in other.manage("delete_again", into)
        assert tables_with_marker(other) == []
    finally:
        other.stop()
