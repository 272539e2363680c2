"""Importing an archive into a new workspace: all of it, or nothing.

Every row is read and checked before the first is stored, and all of them are stored in one
transaction. Raw files are stored before it, as those of uploads are; if the import is refused they
are removed again.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import orjson
from django.conf import settings
from django.db import DatabaseError, connection, transaction

from backend.accounts.audit import record
from backend.accounts.models import Act, Membership, Role, User, Workspace
from backend.accounts.workspace import workspaces
from backend.analysis.kept_figures import read_figures
from backend.analysis.query.factors import HOST_FACTORS
from backend.ingest.envelope.envelope import read_session
from backend.ingest.models import SmallContent
from backend.ingest.quota.stored_sums import recount
from backend.ingest.removing.collector import LOCK_KEY, remove_unnamed_later
from backend.runs.database.bulk import copy_rows
from backend.runs.database.portions import portions
from backend.runs.models import Run
from backend.runs.recording.totals import totals_at_the_end
from backend.runs.tables.happening import lies_ahead
from backend.sharing.models import ResultSet
from backend.storage import StorageAway, storage
from backend.transfer.archive import kept_artefacts
from backend.transfer.encoding import RowRefused, Target, decode
from backend.transfer.layout import raw_path, rows_path
from backend.transfer.reader import ImportRefused, Reader, open_archive
from backend.transfer.references import move_references
from backend.transfer.tables import CONTENTS, SETTINGS, TABLES, Table
from backend.transfer.taken_down import close_taken_down

# In memory at a time: so many rows, and so many bytes of their lines; a line may be longer.
ROWS_AT_ONCE, BYTES_AT_ONCE = 500, 8 << 20
# How often one result set can be exported and imported again.
MOST_MOVES = 50


@dataclass(frozen=True, slots=True)
class Imported:
    """The new workspace, and how many rows each table and how many raw files it got.

    `closed`: how many runs and result sets are private, because staff took them down here.
    """

    workspace: Workspace
    rows: Mapping[str, int]
    files: int
    closed: int


def import_archive(
    archive: Path,
    *,
    slug: str,
    owner: User | None = None,
    people: Mapping[str, User] | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> Imported:
    """Make the workspace `slug` of an archive. `people`: accounts of this service by the names that
    the archive has for who did something; others are left out.

    Raises ImportRefused, WorkspaceRefused and StorageAway; then nothing is stored.
    """
    with open_archive(archive) as reader:
        _check_settings(reader)
        say("Checking the rows")
        files = {table.name: reader.rows(table.name) for table in (*TABLES, CONTENTS)}
        say(f"Storing {reader.manifest.files} raw files")
        stored: dict[str, int] = {}
        try:
            for file in reader.raw_files():
                stored[file.name] = _store(file)
            say("Storing the rows")
            with transaction.atomic():
                workspace = _make_workspace(reader, slug, owner)
                target = Target(workspace, people=people or {})
                _insert(files, target, stored)
                runs, sets = (list(_ids(files[name], name)) for name in ("run", "result_set"))
                closed = close_taken_down(target, runs, sets)
                rows = {name: counted.rows for name, counted in reader.manifest.tables.items()}
                record(Act.WORKSPACE_IMPORTED, workspace, subject=workspace.name)
                workspace.changed()
        except BaseException:
            remove_unnamed_later(list(stored))
            raise
    recount()
    return Imported(workspace, rows, len(stored), closed)


def _check_settings(reader: Reader) -> None:
    origin = reader.manifest.workspace
    if unknown := set(origin.must_match or ()) - set(HOST_FACTORS):
        raise ImportRefused(f"must_match names {', '.join(sorted(unknown))[:80]}: no such fact.")
    if reader.size_bytes > settings.WORKSPACE_MAX_BYTES:
        raise ImportRefused(
            f"It has {reader.size_bytes:,} bytes; a workspace may store "
            f"{settings.WORKSPACE_MAX_BYTES:,} (WORKSPACE_MAX_BYTES)."
        )


def _store(file: Path) -> int:
    """Its size in bytes."""
    with file.open("rb") as source:
        stored = storage().put(iter(lambda: source.read(1 << 20), b""))
    if stored.sha256 != file.name:
        raise ImportRefused(f"{raw_path(file.name)} has the SHA-256 {stored.sha256}.")
    return stored.size_bytes


def _make_workspace(reader: Reader, slug: str, owner: User | None) -> Workspace:
    origin = reader.manifest.workspace
    fields = {name: getattr(origin, name) for name in SETTINGS}
    workspace = workspaces.create_without_owner(slug=slug, **fields)
    if owner is not None:
        Membership.objects.create(user=owner, workspace=workspace, role=Role.OWNER)
    return workspace


def _insert(files: Mapping[str, Path], target: Target, sizes: Mapping[str, int]) -> None:
    """`sizes`: of the raw files that are stored, by SHA-256."""
    named = frozenset(
        id_ for table in ("run", "host") for id_ in _ids(files[table], f"rows of {table}")
    )
    try:
        sizes = {**sizes, **_insert_contents(files[CONTENTS.name], target)}
        with totals_at_the_end(target.workspace.pk):
            for table in TABLES:
                for rows in _batches(table, files[table.name], target, named):
                    copy_rows(table.model, rows)
        with connection.cursor() as cursor:
            # A row may refer to a later one, so this comes last.
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            cursor.execute("SET CONSTRAINTS ALL DEFERRED")
            cursor.execute("SELECT pg_advisory_xact_lock_shared(%s)", [LOCK_KEY])
    except DatabaseError as refused:
        sentence = str(refused).splitlines()[0][:200]
        raise ImportRefused(f"The rows do not fit together: {sentence}") from None
    _check_bytes(target.workspace, sizes)


def _batches(
    table: Table, file: Path, target: Target, named: frozenset[UUID]
) -> Iterator[list[Any]]:
    """The rows that the lines of a table say, some at a time. Raises ImportRefused."""
    return portions(_decoded(table, file, target, named), (ROWS_AT_ONCE, BYTES_AT_ONCE))


def _decoded(
    table: Table, file: Path, target: Target, named: frozenset[UUID]
) -> Iterator[tuple[Any, tuple[int, int]]]:
    """Each row, and its sizes for `_batches`."""
    for number, (encoded, size_bytes) in enumerate(_lines(file), 1):
        place = f"{rows_path(table.name)}, line {number}"
        try:
            row = decode(table, encoded, target)
            move_references(row, target, named)
            _check_result_set(row, target)
            _check_time(row)
            _cut_session(row)
        # Also what JSON of another form raises where it is read.
        except (RowRefused, ValueError, TypeError, KeyError, AttributeError) as wrong:
            raise ImportRefused(f"{place}: {str(wrong)[:300]}") from None
        yield row, (1, size_bytes)


def _lines(file: Path) -> Iterator[tuple[Any, int]]:
    """What each line says, and its bytes."""
    with file.open("rb") as lines:
        yield from ((orjson.loads(line), len(line)) for line in lines)


def _ids(file: Path, place: str) -> Iterator[UUID]:
    for row, _ in _lines(file):
        try:
            yield UUID(row["id"])
        except (KeyError, ValueError, TypeError, AttributeError):
            raise ImportRefused(f"The {place} have no ids.") from None


def _check_result_set(row: Any, target: Target) -> None:
    """A frozen document has the hash that its row says, and figures that can be shown."""
    if not isinstance(row, ResultSet):
        return
    if len(row.moved_through) >= MOST_MOVES:
        raise RowRefused(f"it was imported {len(row.moved_through)} times before")
    # Also of a live result set, which has no document that shows whether they are namespaces.
    row.moved_through = [*(str(UUID(each)) for each in row.moved_through), str(target.namespace)]
    if row.snapshot is None:
        return
    if hashlib.sha256(row.snapshot).hexdigest() != row.sha256:
        raise RowRefused("the frozen document does not have its SHA-256: it was changed")
    read_figures(row.frozen_snapshot()["figures"])


def _check_time(row: Any) -> None:
    """No run was recorded in the future: it would pass for the newest one until then.

    When it began may lie there, as an upload said it before that was refused: it counts as begun
    when it was recorded.
    """
    if isinstance(row, Run) and lies_ahead(row.recorded_at):
        raise RowRefused(
            f"recorded_at is {row.recorded_at:%Y-%m-%d %H:%M} UTC, which lies in the future; set "
            "the clock of this service, or import the archive later"
        )


def _cut_session(row: Any) -> None:
    """A run has the known members of its session alone. Older archives have what uploads said."""
    if isinstance(row, Run):
        row.session = read_session(row.session)


def _insert_contents(file: Path, target: Target) -> dict[str, int]:
    """The small files of the archive as rows; their sizes by SHA-256."""
    sizes: dict[str, int] = {}
    for rows in _batches(CONTENTS, file, target, frozenset()):
        for row in rows:
            if hashlib.sha256(row.content).hexdigest() != row.sha256:
                raise ImportRefused(f"The small file {row.sha256} has other bytes.")
            row.size_bytes = sizes[row.sha256] = len(row.content)
        SmallContent.objects.bulk_create(rows, ignore_conflicts=True)
    return sizes


def _check_bytes(workspace: Workspace, sizes: Mapping[str, int]) -> None:
    """Every artefact that is kept came with its bytes, and they are stored.

    Call it under the collector's lock. Bytes that only another workspace has are not enough: an
    archive could ask for them by their hash.
    """
    kept = kept_artefacts(workspace.pk).values_list("sha256", "size_bytes").distinct()
    sized = ((each, (1,)) for each in kept.iterator(chunk_size=2000))
    for batch in portions(sized, (ROWS_AT_ONCE,)):
        names = [sha256 for sha256, _ in batch]
        rows = set(SmallContent.objects.filter(pk__in=names).values_list("pk", flat=True))
        for sha256, size_bytes in batch:
            if sizes.get(sha256) != size_bytes:
                raise ImportRefused(
                    f"The artefact {sha256} has {size_bytes:,} bytes, the archive has "
                    f"{sizes.get(sha256, 'none')} of it."
                )
            if sha256 not in rows and not storage().has(sha256):
                raise StorageAway(f"the bytes of {sha256} were removed meanwhile")
