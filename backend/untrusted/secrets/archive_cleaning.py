"""Takes secrets out of the files in a zip or tar archive, and packs it again. The child does this.

An archive is read twice: first to look for secrets and to count the bytes that stay, then, only if
there is a secret, to write. The new archive has the files alone: folders and links are left out.
The same archive always becomes the same bytes.
"""

import io
import math
import tarfile
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, BinaryIO, cast

from backend.formats.streams import stream_of
from backend.untrusted.archives.archives import open_zip, zip_members, zip_pieces
from backend.untrusted.archives.decompress import DecompressionRefused, is_compressed, unpacked
from backend.untrusted.archives.packings import HEAD_BYTES, Packer, packer_like, packing_of
from backend.untrusted.archives.tar_members import tar_members, tar_pieces
from backend.untrusted.secrets.redaction import Scan
from backend.untrusted.secrets.rewriting import (
    REDACTOR,
    has_secret_in_gzip_name,
    head_of,
    without_secrets,
)

# The local header of a file in a zip archive: where it gives the lengths of its name and its extra
# field, and how long it is without them.
ZIP_LENGTHS_AT, ZIP_HEADER_BYTES = 26, 30
# Behind the file may stand its checksum and its sizes.
ZIP_DESCRIPTOR_BYTES = 24


@dataclass(frozen=True, slots=True)
class _File:
    """A file of the archive as it is to be written: its name and size without secrets."""

    name: str
    size_bytes: int
    is_masked: bool


def is_archive(file: BinaryIO, *, limit_bytes: int) -> bool:
    """Whether the file is an archive that can be read.

    Raises DecompressionRefused for a packed file that cannot be looked through.
    """
    file.seek(0)
    outer = packing_of(file.read(HEAD_BYTES))
    inner = packing_of(head_of(file, limit_bytes=limit_bytes))
    if outer == "zip" or inner == "tar":
        return True
    if inner:
        raise DecompressionRefused(
            f"We cannot look for secrets in this file: it is packed as {inner}"
            + (f" inside {outer}" if outer != inner else "")
            + ". Send its files as they are, or in one zip, tar or tar.gz archive."
        )
    return False


def clean_archive(source: Path, target: Path, *, limit_bytes: int) -> bool:
    """Whether the archive held a secret; `target` then holds it without.

    Raises DecompressionRefused for an archive that is broken, encrypted, nested or too large.
    """
    with source.open("rb") as packed:
        head = packed.read(HEAD_BYTES)
        if packing_of(head) == "zip":
            return _clean_zip(packed, target, limit_bytes=limit_bytes)
    packer = packer_like(head) if is_compressed(head) else None
    return _clean_tar(source, target, packer, limit_bytes=limit_bytes)


def _clean_zip(packed: BinaryIO, target: Path, *, limit_bytes: int) -> bool:
    archive = open_zip(packed)
    infos = zip_members(archive, packed, limit_bytes=limit_bytes)
    files = [_measured(info.filename, zip_pieces(archive, info)) for info in infos]
    if not (
        any(file.is_masked for file in files)
        or _holds_secret_beside_files(archive)
        or _has_unlisted_bytes(archive, packed)
    ):
        return False
    with zipfile.ZipFile(target, "w") as rewritten:
        for info, file in zip(infos, _with_unique_names(files), strict=True):
            written = zipfile.ZipInfo(file.name, info.date_time)
            written.compress_type, written.external_attr = info.compress_type, info.external_attr
            written.file_size = file.size_bytes
            with rewritten.open(written, "w") as member:
                for piece in _cleaned(info.filename, zip_pieces(archive, info), REDACTOR.scan()):
                    member.write(piece)
    return True


def _holds_secret_beside_files(archive: zipfile.ZipFile) -> bool:
    """Whether a secret is in the names, comments and extra fields."""
    texts = [archive.comment]
    for info in archive.infolist():
        texts += [info.filename.encode("utf-8", "surrogatepass"), info.comment, info.extra]
    return any(_holds_secret(text) for text in texts)


def _has_unlisted_bytes(archive: zipfile.ZipFile, packed: BinaryIO) -> bool:
    """Whether bytes stand between the files, such as a file that was deleted from the directory."""
    end = 0
    for info in sorted(archive.infolist(), key=lambda info: info.header_offset):
        if info.header_offset > end + ZIP_DESCRIPTOR_BYTES:
            return True
        packed.seek(info.header_offset + ZIP_LENGTHS_AT)
        name_bytes = int.from_bytes(packed.read(2), "little")
        extra_bytes = int.from_bytes(packed.read(2), "little")
        content_at = info.header_offset + ZIP_HEADER_BYTES + name_bytes + extra_bytes
        end = content_at + info.compress_size
    return archive.start_dir > end + ZIP_DESCRIPTOR_BYTES


def _clean_tar(source: Path, target: Path, packer: Packer | None, *, limit_bytes: int) -> bool:
    def opened() -> BinaryIO:
        return unpacked(lambda: source.open("rb"), limit_bytes=limit_bytes)

    with source.open("rb") as packed:
        is_changed = has_secret_in_gzip_name(packed)
    files: list[_File] = []
    with opened() as stream:
        for info, archive in tar_members(stream):
            is_changed |= _has_secret_in_header(info)
            if info.isreg():
                files.append(_measured(info.name, tar_pieces(archive, info)))
    if not is_changed and not any(file.is_masked for file in files):
        return False
    with opened() as stream, target.open("wb") as out:
        sink = _Sink(out, packer)
        with tarfile.open(
            fileobj=cast(IO[bytes], sink), mode="w|", format=tarfile.PAX_FORMAT
        ) as rewritten:
            _copy_tar(stream, rewritten, _with_unique_names(files))
        sink.finish()
    return True


def _has_secret_in_header(info: tarfile.TarInfo) -> bool:
    fields = [info.name, info.linkname, info.uname, info.gname, info.pax_headers]
    return bool(REDACTOR.value(fields) != fields)


def _copy_tar(stream: BinaryIO, rewritten: tarfile.TarFile, files: Iterable[_File]) -> None:
    left = iter(files)
    for info, archive in tar_members(stream):
        if not info.isreg():
            continue
        file = next(left)
        written = tarfile.TarInfo(file.name)
        # An extended header may give the time "inf" or "nan", which no header can be written with.
        written.mtime = int(info.mtime) if math.isfinite(info.mtime) else 0
        written.size, written.mode = file.size_bytes, info.mode
        pieces = _cleaned(info.name, tar_pieces(archive, info), REDACTOR.scan())
        rewritten.addfile(written, stream_of(pieces))


class _Sink:
    """Where a tar archive is written to, packed if it was."""

    def __init__(self, out: BinaryIO, packer: Packer | None) -> None:
        self._out, self._packer = out, packer

    def write(self, data: bytes) -> None:
        self._out.write(data if self._packer is None else self._packer.compress(data))

    def finish(self) -> None:
        """Write what the packer held back."""
        if self._packer is not None:
            self._out.write(self._packer.flush())


def _measured(name: str, pieces: Iterator[bytes]) -> _File:
    scan = REDACTOR.scan()
    size_bytes = sum(len(piece) for piece in _cleaned(name, pieces, scan))
    return _File(REDACTOR.text(name), size_bytes, is_masked=scan.masked > 0)


def _cleaned(name: str, pieces: Iterator[bytes], scan: Scan) -> Iterator[bytes]:
    """A file of the archive without secrets. Raises DecompressionRefused for a packed one."""
    stream = cast(io.BufferedReader, stream_of(pieces))
    if packing := packing_of(stream.peek(HEAD_BYTES)):
        raise DecompressionRefused(
            f"The archive holds {REDACTOR.text(name)[:200]!r}, which is packed itself ({packing}). "
            "Pack the unpacked file."
        )
    return without_secrets(stream, scan)


def _with_unique_names(files: Iterable[_File]) -> Iterator[_File]:
    """Two names may differ in the secret alone."""
    names: set[str] = set()
    for position, file in enumerate(files):
        name = f"{position}-{file.name}" if file.name in names else file.name
        names.add(name)
        yield replace(file, name=name)


def _holds_secret(data: bytes) -> bool:
    scan = REDACTOR.scan()
    scan.end(data)
    return scan.masked > 0
