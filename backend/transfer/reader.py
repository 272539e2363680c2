"""The parent's side of the child that opens archives."""

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import msgspec
from django.conf import settings
from msgspec import Meta

from backend.errors import InvalidInput
from backend.transfer.layout import FORMAT, MANIFEST, rows_path
from backend.transfer.tables import CONTENTS, TABLES, VERSION
from backend.untrusted.sandbox.parser_failures import ParserFailed
from backend.untrusted.sandbox.sandbox import Sandbox, current_limits

# Raw files that are unpacked before they are stored.
FILES_AT_ONCE = 500
BYTES_AT_ONCE = 256 << 20
# An archive has the rows of thousands of uploads.
CPU_FACTOR = 12


class ImportRefused(InvalidInput):
    """The archive cannot be imported; the message says why. Nothing of it was stored."""


class Counted(msgspec.Struct, frozen=True):
    """The rows of one table, and the SHA-256 of their lines."""

    rows: Annotated[int, Meta(ge=0)]
    sha256: str


class Origin(msgspec.Struct, frozen=True):
    """The workspace that the archive is of, with its settings."""

    slug: str
    name: Annotated[str, Meta(min_length=1, max_length=120)]
    relevant_share: Annotated[float, Meta(ge=0, le=0.5)]
    min_trials: Annotated[int, Meta(ge=2, le=50)]
    must_match: list[str] | None
    is_public: bool
    raw_kept_days: Annotated[int, Meta(ge=1, le=36_500)] | None


class Manifest(msgspec.Struct, frozen=True):
    """What an archive says of itself."""

    format: str
    version: int
    workspace: Origin
    tables: dict[str, Counted]
    files: Annotated[int, Meta(ge=0)]


class Reader:
    """An archive whose manifest was read and fits its files."""

    def __init__(self, archive: Path, folder: Path, child: Sandbox) -> None:
        """Raises ImportRefused."""
        self._archive, self._folder, self._child = archive, folder, child
        looked = self._ask("look")
        self.manifest = _checked_manifest(looked["manifest"])
        self.size_bytes: int = looked["size_bytes"]
        _check_room(looked["rows_bytes"], folder)
        expected = {rows_path(name) for name in self.manifest.tables}
        if set(looked["rows"]) != expected or looked["raw"] != self.manifest.files:
            raise ImportRefused(
                f"It has {looked['raw']} raw files and {len(looked['rows'])} tables; its manifest "
                f"says {self.manifest.files} and {len(expected)}. It was changed."
            )

    def rows(self, table: str) -> Path:
        """A file with the rows of a table, one JSON object a line. Raises ImportRefused."""
        name, target = rows_path(table), self._folder / f"{table}.jsonl"
        counted = self._ask("rows", name=name, target=str(target))
        expected = self.manifest.tables[table]
        if (counted["rows"], counted["sha256"]) != (expected.rows, expected.sha256):
            raise ImportRefused(
                f"{name} has {counted['rows']} rows with the SHA-256 {counted['sha256'][:12]}…; "
                f"the manifest says {expected.rows} and {expected.sha256[:12]}…. It was changed."
            )
        return target

    def raw_files(self) -> Iterator[Path]:
        """The raw files, named by the SHA-256 that their bytes have. Raises ImportRefused."""
        first = 0
        while first < self.manifest.files:
            with tempfile.TemporaryDirectory(dir=self._folder) as target:
                names = self._ask(
                    "raw",
                    target=target,
                    first=first,
                    most_files=FILES_AT_ONCE,
                    most_bytes=BYTES_AT_ONCE,
                )["files"]
                yield from (Path(target) / name for name in names)
            first += len(names)

    def _ask(self, operation: str, **asked: Any) -> dict[str, Any]:
        usual = current_limits()
        limits = replace(
            usual,
            cpu_s=CPU_FACTOR * usual.cpu_s,
            # Of one file, and of all files together.
            file_bytes=settings.DECOMPRESSED_MAX_BYTES,
            decompressed_bytes=settings.WORKSPACE_MAX_BYTES,
        )
        request = {"operation": operation, "archive": str(self._archive), **asked}
        try:
            answer = self._child.request([], request, limits)
        except ParserFailed as failed:
            raise ImportRefused(f"It could not be read ({operation}): {failed}") from None
        if "refused" in answer:
            raise ImportRefused(answer["refused"])
        return answer


@contextmanager
def open_archive(archive: Path) -> Iterator[Reader]:
    """The archive, opened in a child process. Raises ImportRefused."""
    child = Sandbox((sys.executable, "-m", "backend.transfer.read_child"))
    try:
        with tempfile.TemporaryDirectory(prefix="import-") as folder:
            yield Reader(archive.resolve(), Path(folder), child)
    finally:
        child.close()


def _check_room(rows_bytes: int, folder: Path) -> None:
    needed, free = rows_bytes + BYTES_AT_ONCE, shutil.disk_usage(folder).free
    if needed > free:
        raise ImportRefused(
            f"Its rows need {needed} bytes unpacked; {folder.parent} has {free}. Set TMPDIR to a "
            "folder with more room."
        )


def _checked_manifest(value: Any) -> Manifest:
    try:
        manifest = msgspec.convert(value, Manifest)
    except msgspec.ValidationError as error:
        raise ImportRefused(f"{MANIFEST} is not from Loadsheet: {error}.") from None
    if manifest.format != FORMAT:
        raise ImportRefused(f"The format is {manifest.format[:40]!r}, expected {FORMAT!r}.")
    if manifest.version != VERSION:
        raise ImportRefused(
            f"The archive has version {manifest.version}; this Loadsheet reads version {VERSION}. "
            "Import it with the version of Loadsheet that wrote it, or a newer one."
        )
    if wrong := {table.name for table in (*TABLES, CONTENTS)} ^ set(manifest.tables):
        named = ", ".join(sorted(name[:40] for name in wrong))
        raise ImportRefused(f"The tables {named} are missing, or are no tables.")
    return manifest
