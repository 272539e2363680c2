"""What was deleted for good is kept beside the backups, and deleted once more after a restore."""

import json
import shutil
from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import CommandError, call_command
from django.db import Error, connection

from backend.accounts.models import Act, AuditEvent, User, Workspace
from backend.config.recovery import deletions
from backend.config.recovery.backups import DESCRIPTION, DUMP, Backup
from backend.config.recovery.database_programs import RecoveryFailed
from backend.config.recovery.deletions import (
    KEEP,
    Repeated,
    keep_deleted,
    read_deletions,
    remove_old_deletions,
    repeat_deletions,
    store_deletions,
    store_new_deletions,
)
from backend.ingest.models import Upload
from backend.ingest.removing.purging import purge_deleted_workspaces
from backend.ingest.removing.trash import delete_run
from backend.runs.models import Run, Trial
from backend.sharing.workspace_deletion import delete_workspace
from backend.storage import storage
from backend.testing.scenes import make_measured_run
from backend.testing.uploads import make_envelope, make_tenant, make_upload

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def folder(settings, tmp_path):
    settings.DATA_DIR = tmp_path / "data"
    settings.BACKUP_DIR = str(tmp_path / "backups")
    storage.cache_clear()
    yield tmp_path / "backups"
    storage.cache_clear()


@pytest.fixture
def run(folder):
    make_measured_run(make_tenant().workspace)
    return Run.objects.get()


def events_in(folder):
    return [(event.act, event.workspace_id, event.subject_id) for event in read_deletions(folder)]


def forget(*acts):
    """The audit log of a backup that was made before these acts."""
    AuditEvent.objects.filter(act__in=acts)._raw_delete("default")


@pytest.fixture
def _old_backup():
    """The database lets events go, as if an older one had been restored."""
    with connection.cursor() as cursor:
        cursor.execute("SET loadsheet.purges_audit = 'on'")
    yield
    with connection.cursor() as cursor:
        cursor.execute("RESET loadsheet.purges_audit")


def test_each_deletion_is_stored_once(folder, run):
    delete_run(run)
    delete_workspace(run.workspace)

    assert store_deletions(folder) == 2
    assert store_deletions(folder) == 0
    store_new_deletions()

    assert events_in(folder) == [
        (Act.RUN_DELETED, run.workspace_id, run.pk),
        (Act.WORKSPACE_DELETED, run.workspace_id, None),
    ]
    (file,) = (folder / "deletions").iterdir()
    assert file.suffix == ".jsonl"


@pytest.mark.usefixtures("_old_backup")
def test_a_run_that_is_there_again_is_deleted_again(folder, run):
    AuditEvent(act=Act.RUN_DELETED, workspace_id=run.workspace_id, subject_id=run.pk).save()
    store_deletions(folder)
    forget(Act.RUN_DELETED)

    assert repeat_deletions(read_deletions(folder)) == Repeated(runs=1)

    assert not Run.with_trash.exists()
    assert not Trial.objects.exists()
    assert AuditEvent.objects.filter(act=Act.RUN_DELETED, subject_id=run.pk).count() == 1
    assert repeat_deletions(read_deletions(folder)) == Repeated()


def test_a_run_that_was_sent_again_before_the_backup_stays(folder, run):
    """The database knows of its deletion: the run is a later one."""
    AuditEvent(act=Act.RUN_DELETED, workspace_id=run.workspace_id, subject_id=run.pk).save()
    store_deletions(folder)

    call_command("delete_again", str(folder))

    assert Run.objects.filter(pk=run.pk).exists()


@pytest.mark.usefixtures("_old_backup")
def test_a_workspace_that_is_there_again_goes_with_all_its_rows(folder, run):
    stays = make_tenant("stays").workspace
    AuditEvent(act=Act.WORKSPACE_DELETED, workspace_id=run.workspace_id).save()
    store_deletions(folder)
    forget(Act.WORKSPACE_DELETED)

    assert repeat_deletions(read_deletions(folder)) == Repeated(workspaces=1)

    assert list(Workspace.objects.values_list("pk", flat=True)) == [stays.pk]
    assert not Run.with_trash.exists()
    kept = AuditEvent.objects.filter(workspace_id=run.workspace_id)
    assert {event.act for event in kept} == {Act.WORKSPACE_DELETED}


@pytest.mark.usefixtures("_old_backup")
@pytest.mark.parametrize("with_deleted", [False, True])
def test_an_account_that_is_there_again_is_erased_again(folder, run, with_deleted):
    """Also where the operator brings deleted workspaces and runs back."""
    person = make_tenant("erased").user
    AuditEvent(act=Act.ACCOUNT_ERASED, actor_name=str(person), subject_id=person.pk).save()
    store_deletions(folder)
    forget(Act.ACCOUNT_ERASED)

    if with_deleted:
        keep_deleted(read_deletions(folder))
    else:
        assert repeat_deletions(read_deletions(folder)) == Repeated(accounts=1)

    assert not User.objects.filter(pk=person.pk).exists()
    (event,) = AuditEvent.objects.filter(act=Act.ACCOUNT_ERASED)
    assert (event.subject_id, event.actor_name) == (person.pk, "deleted account")


@pytest.mark.usefixtures("_old_backup")
def test_a_run_of_a_workspace_that_is_gone_leaves_no_event(folder, run):
    delete_run(run)
    delete_workspace(run.workspace)
    store_deletions(folder)
    purge_deleted_workspaces()

    assert repeat_deletions(read_deletions(folder)) == Repeated()

    assert not AuditEvent.objects.filter(act=Act.RUN_DELETED).exists()


@pytest.mark.usefixtures("_old_backup")
def test_an_upload_that_would_make_a_deleted_run_goes(folder, run):
    """The backup had it unread."""
    tenant = make_tenant("unread")
    named = make_upload(tenant, envelope={**make_envelope(1), "run": {"id": str(run.pk)}})
    unnamed, stays = make_upload(tenant), make_upload(tenant)
    for run_id in (run.pk, unnamed.pk):
        AuditEvent(act=Act.RUN_DELETED, workspace_id=tenant.workspace.pk, subject_id=run_id).save()
    store_deletions(folder)
    forget(Act.RUN_DELETED)

    assert repeat_deletions(read_deletions(folder)) == Repeated(runs=2)

    assert not Upload.objects.filter(pk__in=[named.pk, unnamed.pk]).exists()
    assert Upload.objects.filter(pk=stays.pk).exists()


@pytest.mark.usefixtures("_old_backup")
def test_what_was_brought_back_is_not_deleted_by_a_later_restore(folder, run):
    AuditEvent(act=Act.WORKSPACE_DELETED, workspace_id=run.workspace_id).save()
    store_deletions(folder)
    forget(Act.WORKSPACE_DELETED)
    (folder / "deletions" / KEEP).touch()

    call_command("delete_again", str(folder))
    (folder / "deletions" / KEEP).unlink()
    call_command("delete_again", str(folder))

    assert Run.objects.filter(pk=run.pk).exists()
    assert Workspace.objects.get(pk=run.workspace_id).deleted_at is None


@pytest.mark.usefixtures("_old_backup")
def test_one_run_that_cannot_be_deleted_stops_nothing_else(folder, run, monkeypatch):
    other = make_tenant("other").workspace
    AuditEvent(act=Act.RUN_DELETED, workspace_id=run.workspace_id, subject_id=run.pk).save()
    AuditEvent(act=Act.WORKSPACE_DELETED, workspace_id=other.pk).save()
    store_deletions(folder)
    forget(Act.RUN_DELETED, Act.WORKSPACE_DELETED)

    def fail(_):
        raise Error("canceling statement due to statement timeout")

    with monkeypatch.context() as patched:
        patched.setattr(deletions, "remove_run", fail)
        with pytest.raises(CommandError, match="1 runs could not be deleted once more"):
            call_command("delete_again", str(folder))
    assert not Workspace.objects.filter(pk=other.pk).exists()
    assert Run.objects.filter(pk=run.pk).exists()

    call_command("delete_again", str(folder))
    assert not Run.with_trash.exists()


def test_what_was_deleted_while_nothing_could_be_stored_is_stored_later(folder, run):
    delete_run(run)
    store_new_deletions()
    (file,) = (folder / "deletions").iterdir()
    file.rename(file.with_name("2026-01-31T12-00-00.000000Z.jsonl"))
    past = datetime(2026, 2, 1, tzinfo=UTC)
    AuditEvent(
        act=Act.RUN_DELETED, workspace_id=run.workspace_id, subject_id=run.pk, at=past
    ).save()

    store_new_deletions()

    assert len(events_in(folder)) == 2


def test_a_damaged_file_does_not_stop_the_storing_of_others(folder, run, caplog):
    place = folder / "deletions"
    place.mkdir(parents=True)
    name = f"{datetime.now(UTC):%Y-%m-%dT%H-%M-%S.%fZ}.jsonl"
    (place / name).write_text('{"model": "accounts.audi')
    delete_run(run)

    store_new_deletions()

    assert "deletions_damaged" in caplog.messages
    assert len(list(place.iterdir())) == 2


def test_files_that_every_backup_is_newer_than_go(folder, run):
    delete_run(run)
    store_deletions(folder)
    (file,) = (folder / "deletions").iterdir()
    old = file.with_name(f"{(datetime.now(UTC) - timedelta(days=1)):%Y-%m-%dT%H-%M-%S.%fZ}.jsonl")
    shutil.copy(file, old)

    remove_old_deletions(folder)

    assert list((folder / "deletions").iterdir()) == [file]


def test_a_broken_file_deletes_nothing(folder, run):
    place = folder / "deletions"
    place.mkdir(parents=True)
    (place / "2026-01-31T12-00-00.000000Z.jsonl").write_text('{"model": "accounts.audi')
    with pytest.raises(RecoveryFailed, match=r"2026-01-31T12-00-00.000000Z.jsonl cannot be read"):
        repeat_deletions(read_deletions(folder))
    assert Run.objects.filter(pk=run.pk).exists()


def test_a_restore_that_ends_early_loses_no_deletion(folder, run):
    """Only the database that it replaces knew of it."""
    delete_run(run)
    (folder / "cut-off").mkdir(parents=True)
    backup = Backup(folder / "cut-off", DUMP, datetime.now(UTC), "0.1.0", "")
    fields = {"kind": DUMP, "ended_at": f"{backup.ended_at}", "version": "0.1.0", "first_wal": ""}
    (backup.path / DESCRIPTION).write_text(json.dumps(fields))
    backup.content.write_bytes(b"cut off")

    with pytest.raises(CommandError, match="Not restored"):
        call_command("restore", str(backup.path), "--replace")
    assert events_in(folder) == [(Act.RUN_DELETED, run.workspace_id, run.pk)]


@pytest.mark.parametrize("fault", [OSError("read-only"), Error("away")])
def test_what_cannot_be_stored_is_told(folder, run, monkeypatch, caplog, fault):
    def fail(*_, **__):
        raise fault

    monkeypatch.setattr(deletions, "recorded_deletions", fail)
    store_new_deletions()
    assert "deletions_not_stored" in caplog.messages
