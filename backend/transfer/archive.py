"""Writing an archive: a zip of the rows as JSON lines, the raw files, and at its end the manifest.

Everything is written as it is read, and little is kept in memory, nothing on disk: tables are read
in pages of few bytes, by their keys, because a cursor of the database does not work behind every
pooler. The manifest comes last because it counts and hashes what stands before it; so an archive
that was cut has none.
"""

import hashlib
import io
import zipfile
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import orjson
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from backend import __version__
from backend.accounts.models import User, Workspace
from backend.errors import WorkFailed
from backend.ingest.models import END_STATES, Artefact, SmallContent
from backend.runs.database.json_bytes import bytes_of_columns
from backend.runs.database.portions import portions
from backend.runs.database.read_router import repeatable_read
from backend.storage import CHUNK_BYTES, open_artefact
from backend.transfer.encoding import as_line, encode
from backend.transfer.layout import FORMAT, MANIFEST, MAX_FILES, MAX_LINE_BYTES, raw_path, rows_path
from backend.transfer.tables import (
    ALSO_LEFT_OUT,
    CONTENTS,
    LEFT_OUT,
    SETTINGS,
    TABLES,
    VERSION,
    Table,
)

# In memory at a time: so many rows, and so many bytes of their texts, JSON and binary data. One row
# may have more: up to MAX_LINE_BYTES, and as much again as its line.
ROWS_AT_ONCE, BYTES_AT_ONCE = 200, 4 << 20
# Outputs shrink to a tenth at any level; the lowest is the fastest.
LEVEL = 1


class NotWritten(WorkFailed):
    """The archive cannot be written; the message says why."""


class OutputGone(NotWritten):
    """Raw output was removed while the archive was written: another attempt leaves it out."""


@dataclass(slots=True)
class Progress:
    """How far an archive is. `files_total`: None before the files are counted."""

    rows_done: int = 0
    files_done: int = 0
    files_total: int | None = None


class _Sink(io.RawIOBase):
    """What the zip writer wrote since it was taken last."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self.size_bytes = 0

    def writable(self) -> bool:
        return True

    def write(self, piece: Any) -> int:
        self._pieces.append(bytes(piece))
        self.size_bytes += len(piece)
        return len(piece)

    def take(self) -> bytes:
        taken, self._pieces, self.size_bytes = b"".join(self._pieces), [], 0
        return taken


@dataclass
class _Writer:
    workspace: Workspace
    beat: Callable[[Progress], None]
    progress: Progress = field(default_factory=Progress)
    sink: _Sink = field(default_factory=_Sink)
    rows: dict[str, dict[str, Any]] = field(default_factory=dict)
    names: dict[UUID, str] = field(default_factory=dict)

    def pieces(self) -> Generator[bytes]:
        with zipfile.ZipFile(self.sink, "w", zipfile.ZIP_DEFLATED, compresslevel=LEVEL) as archive:
            with repeatable_read():
                current = Workspace.objects.get(pk=self.workspace.pk)
                settings = {name: getattr(current, name) for name in SETTINGS}
                for table in TABLES:
                    yield from self._table(archive, table, table.rows(self.workspace.pk))
                kept = kept_artefacts(self.workspace.pk)
                contents = SmallContent.objects.filter(pk__in=kept.values("sha256"))
                yield from self._table(archive, CONTENTS, contents.order_by("pk"))
                large = _files_of(kept)
            self._count_files(large)
            for sha256 in large:
                yield from self._file(archive, sha256)
                self.progress.files_done += 1
                self.beat(self.progress)
            manifest = self._manifest(settings, large)
            archive.writestr(_info(MANIFEST), orjson.dumps(manifest, option=orjson.OPT_INDENT_2))
            yield self.sink.take()
        yield self.sink.take()

    def _table(self, archive: zipfile.ZipFile, table: Table, rows: Any) -> Iterator[bytes]:
        digest, count = hashlib.sha256(), 0
        with archive.open(_info(rows_path(table.name)), "w", force_zip64=True) as member:
            for row in _in_pages(rows):
                line = as_line(encode(table, row, self._name_of))
                _check_line(table, row, line)
                digest.update(line)
                member.write(line)
                count += 1
                self.progress.rows_done += 1
                self.beat(self.progress)
                if self.sink.size_bytes > CHUNK_BYTES:
                    yield self.sink.take()
        self.rows[table.name] = {"rows": count, "sha256": digest.hexdigest()}

    def _name_of(self, user_id: UUID) -> str:
        if user_id not in self.names:
            self.names[user_id] = User.objects.get(pk=user_id).get_username()
        return self.names[user_id]

    def _count_files(self, sha256s: Sequence[str]) -> None:
        if len(sha256s) > MAX_FILES:
            raise NotWritten(
                f"The workspace has {len(sha256s)} large raw files; an archive has at most "
                f"{MAX_FILES}. Remove old raw output first (Settings)."
            )
        self.progress.files_total = len(sha256s)
        self.beat(self.progress)

    def _file(self, archive: zipfile.ZipFile, sha256: str) -> Iterator[bytes]:
        try:
            source = open_artefact(sha256)
        except FileNotFoundError:
            raise OutputGone(f"The raw file {sha256} is gone.") from None
        with source, archive.open(_info(raw_path(sha256)), "w", force_zip64=True) as member:
            while chunk := source.read(CHUNK_BYTES):
                member.write(chunk)
                self.beat(self.progress)
                yield self.sink.take()

    def _manifest(self, settings: dict[str, Any], sha256s: Sequence[str]) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "version": VERSION,
            "software": {"name": "loadsheet", "version": __version__},
            "exported_at": timezone.now().isoformat(),
            "workspace": {"slug": self.workspace.slug, **settings},
            "tables": self.rows,
            # The name of each file is its SHA-256.
            "files": len(sha256s),
            "left_out": [*LEFT_OUT.values(), *ALSO_LEFT_OUT],
        }


def archive_pieces(workspace: Workspace, beat: Callable[[Progress], None]) -> Generator[bytes]:
    """The archive of a workspace in pieces. `beat` is told of the progress often.

    Raises NotWritten, OutputGone and StorageAway.
    """
    return _Writer(workspace, beat).pieces()


def _in_pages(rows: QuerySet[Any]) -> Iterator[Any]:
    """The rows, which are ordered by their keys, with one page in memory at a time.

    The database tells their sizes before, which no later change alters: all is read as of one time.
    """
    sizes = rows.values_list("pk", bytes_of_columns(rows.model))
    left = sizes
    while measured := list(left[:ROWS_AT_ONCE]):
        for page in portions(((key, (size,)) for key, size in measured), (BYTES_AT_ONCE,)):
            yield from rows.filter(pk__gte=page[0], pk__lte=page[-1])
        left = sizes.filter(pk__gt=measured[-1][0])


def _info(path: str) -> zipfile.ZipInfo:
    # Equal content gives an equal archive, but for the time in the manifest.
    info = zipfile.ZipInfo(path, date_time=(1980, 1, 1, 0, 0, 0))
    info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
    return info


def kept_artefacts(workspace_id: UUID) -> QuerySet[Artefact]:
    """The artefacts of a workspace whose bytes are in its archive."""
    return Artefact.objects.filter(
        upload__workspace=workspace_id,
        upload__state__in=END_STATES,
        upload__raw_removed_at=None,
    ).order_by("sha256")


def _files_of(kept: QuerySet[Artefact]) -> list[str]:
    """The SHA-256s of those that are no rows, each once."""
    is_row = Exists(SmallContent.objects.filter(pk=OuterRef("sha256")))
    return list(kept.exclude(is_row).values_list("sha256", flat=True).distinct())


def _check_line(table: Table, row: Any, line: bytes) -> None:
    if len(line) > MAX_LINE_BYTES:
        raise NotWritten(
            f"The row {row.pk} of {table.name} has {len(line):,} bytes; at most {MAX_LINE_BYTES:,} "
            "fit into an archive."
        )
