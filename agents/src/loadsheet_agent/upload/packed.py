"""Takes secrets out of gzip files, and of the files in zip, tar and tar.gz archives.

The service does so by its rules, but it does not know the values that are secret on this machine.
A packed file is read as a stream, and written again only where it holds a secret. Other packings
(zstd, bzip2 …) go as they are: the service searches zstd and refuses the others.
"""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from loadsheet_agent.errors import UsageError
from loadsheet_agent.upload.parts import COMPRESSED_STARTS
from loadsheet_agent.upload.redaction import BLOCK_BYTES, Redactor, Scan

GZIP_START, ZIP_START = b"\x1f\x8b", b"PK\x03\x04"
TAR_MARK, TAR_MARK_AT = b"ustar", 257
# So much of the beginning tells text from binary, and how a file is packed.
HEAD_BYTES = 8192
# What the library raises for a file that is cut off, damaged or encrypted. The service says so.
UNREADABLE = (
    *(zlib.error, EOFError, gzip.BadGzipFile, zipfile.BadZipFile, tarfile.TarError),
    *(NotImplementedError, RuntimeError),
)


def redact(path: Path, redactor: Redactor) -> bool:
    """Rewrite a file, packed or not, where it holds a secret; True when it did.

    Binary files stay as they are: masking bytes in them would break them. Raises UsageError for a
    packed file that holds a secret and cannot be read to its end.
    """
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    packing = _packing_of(path, head)
    if packing:
        return _redact_packed(path, packing, redactor)
    is_text = b"\0" not in head and not head.startswith(COMPRESSED_STARTS)
    return is_text and redactor.file(path)


def _redact_packed(path: Path, packing: str, redactor: Redactor) -> bool:
    search = _Search(redactor)
    try:
        for name, stream in _files(path, packing):
            search.look(name, stream)
    except UNREADABLE as damage:
        if not search.has_secret():
            return False
        raise UsageError(
            f"{path.name} contains a secret that cannot be removed, because the file cannot be "
            f"read to its end ({damage}). Unpack it and upload the files in it."
        ) from damage
    if not search.has_secret():
        return False
    _rewrite(path, packing, redactor, search.sizes)
    return True


class _Search:
    """Looks for secrets in files; `sizes` are those that the files have without them."""

    def __init__(self, redactor: Redactor) -> None:
        self.sizes: list[int] = []
        self._redactor = redactor
        self._scans: list[Scan] = []
        self._has_secret_name = False

    def look(self, name: str, stream: IO[bytes]) -> None:
        self._has_secret_name |= self._redactor.text(name) != name
        self._scans.append(self._redactor.scan())
        self.sizes.append(0)
        for piece in _without_secrets(stream, self._scans[-1]):
            self.sizes[-1] += len(piece)

    def has_secret(self) -> bool:
        """Whether a secret is in what was read. Nothing can be looked at afterwards."""
        for scan in self._scans[-1:]:
            scan.end()  # the last file may have broken off
        return self._has_secret_name or any(scan.masked for scan in self._scans)


def _packing_of(path: Path, head: bytes) -> str:
    """zip, tar, tar.gz or gzip, by the file's head; empty for any other file."""
    if head.startswith(ZIP_START):
        return "zip"
    if not head.startswith(GZIP_START):
        return "tar" if _is_tar(head) else ""
    try:
        with gzip.open(path) as unpacked:
            return "tar.gz" if _is_tar(unpacked.read(HEAD_BYTES)) else "gzip"
    except UNREADABLE:
        return "gzip"


def _is_tar(head: bytes) -> bool:
    return head[TAR_MARK_AT:].startswith(TAR_MARK)


def _files(path: Path, packing: str) -> Iterator[tuple[str, IO[bytes]]]:
    """The files in a packed file by their names, one after the other; gzip packs one."""
    if packing == "gzip":
        with _opened(path, packing, "rb") as file:
            yield "", file
    elif packing == "zip":
        with zipfile.ZipFile(path) as archive:
            for entry in _files_of_zip(archive):
                with archive.open(entry) as member:
                    yield entry.filename, member
    else:
        for info, stream in _files_of_tar(path, packing):
            yield info.name, stream


def _files_of_zip(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    return [info for info in archive.infolist() if not info.is_dir()]


def _files_of_tar(path: Path, packing: str) -> Iterator[tuple[tarfile.TarInfo, IO[bytes]]]:
    with _opened(path, packing, "rb") as file, tarfile.open(fileobj=file, mode="r|") as archive:
        for info in archive:
            if info.isreg():
                yield info, cast(IO[bytes], archive.extractfile(info))


@contextmanager
def _opened(path: Path, packing: str, mode: str) -> Iterator[IO[bytes]]:
    """The file, or what gzip makes of it."""
    with path.open(mode) as file:
        if packing in ("gzip", "tar.gz"):
            with gzip.GzipFile(filename="", fileobj=file, mode=mode, mtime=0) as unpacked:
                yield cast(IO[bytes], unpacked)
        else:
            yield file


def _without_secrets(stream: IO[bytes], scan: Scan) -> Iterator[bytes]:
    """A binary passes as it is: masking bytes would break it."""
    pieces = _pieces(stream)
    head = next(pieces, b"")
    if b"\0" in head[:HEAD_BYTES]:
        yield head
        yield from pieces
        return
    yield scan.feed(head)
    yield from map(scan.feed, pieces)
    yield scan.end()


def _pieces(stream: IO[bytes]) -> Iterator[bytes]:
    # Not `read`: of a file that is cut off, it would keep what stands before the cut.
    read: Callable[[int], bytes] = cast(io.BufferedReader, stream).read1
    return iter(lambda: read(BLOCK_BYTES), b"")


def _rewrite(path: Path, packing: str, redactor: Redactor, sizes: Iterable[int]) -> None:
    """Write the file again without secrets. `sizes` of its files: tar gives them in front."""
    part = path.with_name(f"{path.name}.part")
    if packing == "zip":
        _rewrite_zip(path, part, redactor)
    else:
        with _opened(part, packing, "wb") as target:
            if packing == "gzip":
                for _, stream in _files(path, packing):
                    target.writelines(_without_secrets(stream, redactor.scan()))
            else:
                _rewrite_tar(path, packing, target, redactor, sizes)
    part.replace(path)


def _rewrite_zip(path: Path, part: Path, redactor: Redactor) -> None:
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(part, "w") as rewritten:
        for info in _files_of_zip(archive):
            written = zipfile.ZipInfo(redactor.text(info.filename), info.date_time)
            written.compress_type = info.compress_type
            with (
                archive.open(info) as member,
                rewritten.open(written, "w", force_zip64=True) as target,
            ):
                for piece in _without_secrets(member, redactor.scan()):
                    target.write(piece)


def _rewrite_tar(
    path: Path, packing: str, target: IO[bytes], redactor: Redactor, sizes: Iterable[int]
) -> None:
    with tarfile.open(fileobj=target, mode="w|", format=tarfile.PAX_FORMAT) as rewritten:
        for (info, stream), size in zip(_files_of_tar(path, packing), sizes):
            written = tarfile.TarInfo(redactor.text(info.name))
            written.size, written.mtime, written.mode = size, int(info.mtime), info.mode
            rewritten.addfile(written, _Pieces(_without_secrets(stream, redactor.scan())))


class _Pieces(io.RawIOBase):
    """Pieces of bytes, to be read as a file."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._rest = b""

    def read(self, size: int = -1) -> bytes:
        """`size` bytes, fewer only at the end, as tarfile asks for them."""
        while len(self._rest) < size and (piece := next(self._pieces, None)) is not None:
            self._rest += piece
        taken, self._rest = self._rest[:size], self._rest[size:]
        return taken
