"""The folder of backups in a bucket too, each whole file under the name that it has in the folder.

So a copy survives the machine. Files of backups never change once they have their name: a file of
the same name and size is the same file.
"""

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from celery import shared_task
from django.conf import settings

from backend.config.recovery.backups import PARTIAL, backups_in
from backend.config.recovery.database_programs import RecoveryFailed
from backend.storage.s3 import make_client

log = logging.getLogger(__name__)

WAL = "wal/"
PUSH_TASK = "config.push_wal"
# How names begin of files that are still written: by PostgreSQL, by the storage.
UNFINISHED = ("archtemp", "incoming-")
REMOVED_AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class Copied:
    """How many files were copied and removed, and the bytes of those copied."""

    files: int = 0
    size_bytes: int = 0
    removed: int = 0


def push(folder: Path, *, below: str = "", is_mirrored: bool = False) -> Copied:
    """Copy to the bucket what it lacks of the files whose names begin with `below`.

    `is_mirrored`: also remove what the folder has no more; a folder without a backup removes
    nothing, for its disk may be lost. Raises RecoveryFailed; where a file cannot be read, after the
    others are copied.
    """
    there = dict(_keys(below))
    here = {str(file.relative_to(folder)): file for file in _whole_files(folder / below)}
    missing = {name: file for name, file in here.items() if there.get(name) != file.stat().st_size}
    _copy(missing)
    size_bytes = sum(file.stat().st_size for file in missing.values())
    gone = sorted(there.keys() - here.keys()) if is_mirrored and backups_in(folder) else []
    for start in range(0, len(gone), REMOVED_AT_ONCE):
        names = [{"Key": name} for name in gone[start : start + REMOVED_AT_ONCE]]
        _try(_client().delete_objects, Bucket=settings.BACKUP_BUCKET, Delete={"Objects": names})
    return Copied(len(missing), size_bytes, len(gone))


def _copy(files: Mapping[str, Path]) -> None:
    """Copy files to the bucket, under their names there."""
    client = _client()
    unread: list[str] = []
    # Descriptions last: without one, a folder is not a backup.
    for name in sorted(files, key=lambda each: (_is_description(each), each)):
        if unread and _is_description(name):
            break
        try:
            _try(client.upload_file, str(files[name]), settings.BACKUP_BUCKET, name)
        except OSError as error:
            log.warning("backup_file_not_read", extra={"file": name}, exc_info=True)
            unread.append(f"{name}: {error.strerror or error}")
    if unread:
        raise RecoveryFailed(f"files could not be read: {len(unread)}, the first {unread[0]}")


def pull(folder: Path) -> Copied:
    """Copy from the bucket what the folder lacks; raises RecoveryFailed."""
    client, files, size_bytes = _client(), 0, 0
    for name, size in _keys():
        place = (folder / name).resolve()
        if not place.is_relative_to(folder.resolve()):
            raise RecoveryFailed(f"the bucket has {name!r}, which is no file of a backup")
        if place.exists() and place.stat().st_size == size:
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        _try(client.download_file, settings.BACKUP_BUCKET, name, str(place))
        files, size_bytes = files + 1, size_bytes + size
    return Copied(files, size_bytes)


def _is_description(name: str) -> bool:
    return name.endswith(".json")


def _whole_files(folder: Path) -> Iterator[Path]:
    for file in folder.rglob("*"):
        is_partial = any(part.endswith(PARTIAL) for part in file.relative_to(folder).parts)
        if file.is_file() and not is_partial and not file.name.startswith(UNFINISHED):
            yield file


def _keys(below: str = "") -> Iterator[tuple[str, int]]:
    """The names in the bucket that begin with `below`, and their sizes."""
    lists = _client().get_paginator("list_objects_v2")
    pages = lists.paginate(Bucket=settings.BACKUP_BUCKET, Prefix=below)
    for page in _try(list, pages):
        for item in page.get("Contents", []):
            yield item["Key"], item["Size"]


def _client() -> Any:
    if not settings.BACKUP_BUCKET:
        raise RecoveryFailed("BACKUP_BUCKET is not set: name a bucket")
    return make_client(settings.S3_ENDPOINT_URL)


def _try(call: Any, *args: Any, **kwargs: Any) -> Any:
    """What `call` returns; RecoveryFailed where the bucket cannot be used."""
    from boto3.exceptions import Boto3Error
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        return call(*args, **kwargs)
    except (Boto3Error, BotoCoreError, ClientError) as error:
        line = " ".join(str(error).split())[:300]
        raise RecoveryFailed(
            f"the bucket {settings.BACKUP_BUCKET} cannot be used: {line}"
        ) from None


@shared_task(name=PUSH_TASK)  # type: ignore[untyped-decorator]
def push_wal() -> None:
    """Copy new WAL; beat asks once a minute, and `manage.py backup` copies everything else."""
    if not (settings.BACKUP_DIR and settings.BACKUP_BUCKET):
        return
    try:
        push(Path(settings.BACKUP_DIR), below=WAL)
    except (RecoveryFailed, OSError):
        log.warning("wal_not_copied", exc_info=True)
