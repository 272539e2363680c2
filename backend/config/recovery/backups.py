"""Backups in one folder: of the database as dumps or base backups, of artefacts as files.

    <folder>/<when it ended>/   a backup of the database, with backup.json
    <folder>/artefacts/         the bytes of every artefact, each once
    <folder>/wal/               archived WAL, which PostgreSQL writes (wal_archive.py)
    <folder>/deletions/         what was deleted for good (deletions.py)

The database goes first and the artefacts second: an artefact is stored before its row, so the
folder has the bytes of every row. A backup that did not end is called `….partial`, and is none.
"""

import contextlib
import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from django.db import Error, connection
from django.db.models import QuerySet

from backend import __version__
from backend.config.recovery.database_programs import RecoveryFailed, run_program
from backend.config.recovery.restore_drill import dump_database
from backend.config.recovery.wal_archive import wal_folder
from backend.ingest.models import Artefact, SmallContent
from backend.storage import CHUNK_BYTES, FileStorage, StorageAway, storage

DESCRIPTION = "backup.json"
DUMP, BASE = "dump", "base"
NAME_FORMAT = "%Y-%m-%dT%H-%M-%S.%fZ"
PARTIAL = ".partial"
ROWS_AT_ONCE = 2000
# No backup takes so long.
UNFINISHED_AFTER = timedelta(days=2)


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup of the database that ended. `first_wal`: the first file that a base backup needs."""

    path: Path
    kind: str
    ended_at: datetime
    version: str
    first_wal: str

    @property
    def content(self) -> Path:
        """The dump, or the folder of the base backup."""
        return self.path / ("loadsheet.dump" if self.kind == DUMP else "base")


def make_backup(folder: Path, *, kind: str) -> Backup:
    """A new backup of the database. Raises RecoveryFailed and OSError; nothing of it stays then."""
    folder = folder.resolve()
    name = datetime.now(UTC).strftime(NAME_FORMAT)
    partial = folder / f"{name}{PARTIAL}"
    partial.mkdir(mode=0o700, parents=True)
    try:
        draft = Backup(partial, kind, datetime.now(UTC), __version__, "")
        first_wal = _dump(draft.content) if kind == DUMP else _copy_base(draft.content)
        backup = Backup(folder / name, kind, _database_time(), __version__, first_wal)
        _describe(partial, backup)
        partial.rename(backup.path)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    return backup


def _dump(file: Path) -> str:
    dump_database(file)
    # Reads the table of contents: a dump that was cut off has none.
    run_program("pg_restore", "--list", str(file))
    return ""


def _copy_base(folder: Path) -> str:
    """Copy the files of the server; the name of the first WAL file that their recovery needs."""
    options = ("--format=tar", "--gzip", "--checkpoint=fast", "--wal-method=stream")
    run_program("pg_basebackup", f"--pgdata={folder}", "--no-password", *options)
    run_program("pg_verifybackup", "--no-parse-wal", "--quiet", str(folder))
    manifest: dict[str, Any] = json.loads((folder / "backup_manifest").read_text())
    first = min(manifest["WAL-Ranges"], key=lambda entry: int(entry["Timeline"]))
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_walfile_name(%s::pg_lsn)", [first["Start-LSN"]])
        (name,) = cursor.fetchone()
    return f"{int(first['Timeline']):08X}{name[8:]}"


def _database_time() -> datetime:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT clock_timestamp()")
            (at,) = cursor.fetchone()
    except Error as error:
        raise RecoveryFailed(f"the database does not answer: {error}") from None
    return at  # type: ignore[no-any-return]


def _describe(folder: Path, backup: Backup) -> None:
    fields = {**asdict(backup), "path": None, "ended_at": backup.ended_at.isoformat()}
    del fields["path"]
    (folder / DESCRIPTION).write_text(json.dumps(fields, indent=2) + "\n")


def backups_in(folder: Path) -> list[Backup]:
    """The backups of the database in a folder, oldest first. Raises RecoveryFailed."""
    return sorted(map(read_backup, _described_in(folder)), key=lambda backup: backup.ended_at)


def last_ended_in(folder: Path) -> datetime | None:
    """When the newest backup ended; None if there is none. A damaged one is none."""
    ended = []
    for path in _described_in(folder):
        with contextlib.suppress(RecoveryFailed):
            ended.append(read_backup(path).ended_at)
    return max(ended, default=None)


def _described_in(folder: Path) -> list[Path]:
    described = folder.resolve().glob(f"*/{DESCRIPTION}")
    return [file.parent for file in described if file.parent.suffix != PARTIAL]


def read_backup(path: Path) -> Backup:
    """The backup in this folder; raises RecoveryFailed if there is none."""
    try:
        fields = json.loads((path / DESCRIPTION).read_text())
        fields["ended_at"] = datetime.fromisoformat(fields["ended_at"])
        return Backup(path, **fields)
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise RecoveryFailed(
            f"{path} is no backup: its {DESCRIPTION} cannot be read ({error}). Expected a folder "
            "that `manage.py backup` wrote."
        ) from None


def copy_artefacts(folder: Path) -> int:
    """Copy the artefacts that the folder lacks; how many. Small ones are rows of the database.

    The time of a copy is the last at which a row named its artefact (remove_old).

    Raises RecoveryFailed where bytes are missing or are not those of their name.
    """
    copies, copied = FileStorage(folder.resolve() / "artefacts"), 0
    for sha256 in _stored_apart():
        if copies.has(sha256):
            with copies.local_path(sha256) as copy:
                os.utime(copy)
        else:
            copy_artefact(sha256, storage(), copies)
            copied += 1
    return copied


def restore_artefacts(folder: Path) -> int:
    """Put back the artefacts that the storage lacks; how many. Raises as `copy_artefacts`."""
    copies, restored = FileStorage(folder.resolve() / "artefacts"), 0
    for entry in copies.list():
        if not storage().has(entry.name):
            copy_artefact(entry.name, copies, storage())
            restored += 1
    return restored


def copy_artefact(sha256: str, source: Any, target: Any) -> None:
    """Copy the bytes from one storage into another; raises RecoveryFailed."""
    try:
        with source.open(sha256) as content:
            stored = target.put(iter(lambda: content.read(CHUNK_BYTES), b""))
    except FileNotFoundError:
        # Deleted since it was looked up, or lost: `manage.py verify` tells.
        if _with_bytes().filter(sha256=sha256).exists():
            raise RecoveryFailed(f"the bytes of the artefact {sha256} are missing") from None
        return
    except StorageAway as away:
        raise RecoveryFailed(f"the storage cannot be used: {away}") from None
    if stored.sha256 != sha256:
        target.remove(stored.sha256)
        raise RecoveryFailed(f"the artefact {sha256} has the SHA-256 {stored.sha256}")


def _with_bytes() -> QuerySet[Artefact]:
    """The artefacts without those whose raw output was removed for its age."""
    return Artefact.objects.filter(upload__raw_removed_at=None)


def _stored_apart() -> Iterator[str]:
    """The artefacts whose bytes are no rows."""
    in_rows = SmallContent.objects.values("sha256")
    rows = _with_bytes().exclude(sha256__in=in_rows).order_by("sha256")
    return rows.values_list("sha256", flat=True).distinct().iterator(ROWS_AT_ONCE)


def remove_old(folder: Path, *, kept_days: int) -> list[Backup]:
    """Remove backups older than so many days, but for the newest of each kind; the WAL that no
    other needs; and copies of artefacts that no row named for so long. Which backups were removed.

    Call it after `copy_artefacts`. Raises RecoveryFailed.
    """
    oldest = datetime.now(UTC) - timedelta(days=kept_days)
    backups = backups_in(folder)
    newest = {backup.kind: backup.path for backup in backups}
    old = [each for each in backups if each.ended_at < oldest and each.path != newest[each.kind]]
    for backup in old:
        shutil.rmtree(backup.path)
    _remove_copies(folder, oldest)
    _remove_unfinished(folder)
    _remove_wal(folder)
    return old


def _remove_copies(folder: Path, oldest: datetime) -> None:
    """Remove the copies of artefacts that no row named since then."""
    copies = FileStorage(folder.resolve() / "artefacts")
    for entry in copies.list():
        if entry.written_at_s < oldest.timestamp():
            copies.remove(entry.name)


def _remove_unfinished(folder: Path) -> None:
    """Remove what backups left that were killed. Another one may be running beside this one."""
    started_before = (datetime.now(UTC) - UNFINISHED_AFTER).timestamp()
    for partial in folder.resolve().glob(f"*{PARTIAL}"):
        if partial.stat().st_mtime < started_before:
            shutil.rmtree(partial)


def _remove_wal(folder: Path) -> None:
    """Remove the WAL that the oldest base backup does not need."""
    bases = [backup for backup in backups_in(folder) if backup.kind == BASE]
    if bases and wal_folder(folder).is_dir():
        run_program("pg_archivecleanup", str(wal_folder(folder)), bases[0].first_wal)
