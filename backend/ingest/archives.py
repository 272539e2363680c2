"""The files in a zip or tar archive, read where they are: nothing is written, no path is used.

Only the sandboxed children open archives. An archive in an archive is not opened.
"""

from __future__ import annotations

import io
import tarfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import PurePosixPath
from typing import BinaryIO, cast

from backend.formats import RawArtefact
from backend.formats.archive_facts import printable
from backend.formats.streams import stream_of
from backend.formats.techempower import RAW
from backend.formats.text import read_up_to
from backend.ingest.decompress import (
    GZIP_MAGIC,
    ZSTD_MAGIC,
    BeyondLimit,
    DecompressionRefused,
    check_growth,
    unpacked,
)

# A results tree of hundreds of files is read as well as the files of one trial.
MAX_FILES = 1_000
# A directory leads to each file of a zip. To reach a file of a tar, all before it are read: so its
# first files are kept in memory, and only so many may follow them.
KEPT_TAR_BYTES = 64 << 20
MAX_FAR_FILES = 100
ZIP_MAGIC = b"PK\x03\x04"
TAR_MAGIC, TAR_MAGIC_AT = b"ustar", 257
# How packed files begin.
PACKINGS = {
    "zip": ZIP_MAGIC,
    "gzip": GZIP_MAGIC,
    "zstd": ZSTD_MAGIC,
    "bzip2": b"BZh",
    "xz": b"\xfd7zXZ\0",
    "7z": b"7z\xbc\xaf\x27\x1c",
    "rar": b"Rar!\x1a\x07",
}
BZIP2_BLOCK, BZIP2_BLOCK_AT = b"1AY&SY", 4
# So much of the beginning of a file says how it is packed.
HEAD_BYTES = TAR_MAGIC_AT + len(TAR_MAGIC)
BLOCK_BYTES = 1 << 20
# What the library raises for a damaged zip archive.
BROKEN_ZIP = (zipfile.BadZipFile, zlib.error, EOFError, ValueError, NotImplementedError)
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)

Open = Callable[[], BinaryIO]


def packing_of(head: bytes) -> str:
    """zip, tar, gzip, zstd, bzip2, xz, 7z or rar; empty for a file that is not packed."""
    if head[TAR_MAGIC_AT:].startswith(TAR_MAGIC):
        return "tar"
    for packing, magic in PACKINGS.items():
        if head.startswith(magic):
            is_text = packing == "bzip2" and not head.startswith(BZIP2_BLOCK, BZIP2_BLOCK_AT)
            return "" if is_text else packing
    return ""


def files_of(name: str, open_packed: Open, *, limit_bytes: int) -> list[RawArtefact]:
    """The files in an archive, or the file itself, unpacked as it is read.

    Raises DecompressionRefused for an archive that is broken, encrypted, or too large unpacked.
    """

    def opened() -> BinaryIO:
        return unpacked(open_packed, limit_bytes=limit_bytes)

    with open_packed() as packed:
        if packed.read(len(ZIP_MAGIC)) == ZIP_MAGIC:
            return _zip_files(open_packed, limit_bytes=limit_bytes)
    with opened() as stream:
        head = read_up_to(stream, HEAD_BYTES)
    if packing_of(head) == "tar":
        return _tar_files(opened)
    return [RawArtefact(name, opened)]


def _zip_files(open_packed: Open, *, limit_bytes: int) -> list[RawArtefact]:
    # Open as long as a file of it may be read; its directory is read once.
    packed = open_packed()
    archive = open_zip(packed)
    infos = zip_members(archive, packed, limit_bytes=limit_bytes)
    names = _short_names([info.filename for info in infos])
    return [
        RawArtefact(name, partial(_zip_stream, archive, info))
        for name, info in zip(names, infos, strict=True)
    ]


def _zip_stream(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> BinaryIO:
    return stream_of(zip_pieces(archive, info))


def open_zip(packed: BinaryIO) -> zipfile.ZipFile:
    """The archive by its directory. Raises DecompressionRefused."""
    try:
        return zipfile.ZipFile(packed)
    except BROKEN_ZIP as broken:
        raise _is_broken("zip", broken) from None


def zip_members(
    archive: zipfile.ZipFile, packed: BinaryIO, *, limit_bytes: int
) -> list[zipfile.ZipInfo]:
    """The files of the archive, once it is sure that they can be read.

    Raises DecompressionRefused.
    """
    infos = [info for info in archive.infolist() if not info.is_dir()]
    _check_count(len(infos), "zip")
    # No member gives more than the size it is said to have.
    size = packed.seek(0, io.SEEK_END)
    check_growth(size, sum(info.file_size for info in infos), limit_bytes)
    for info in infos:
        if info.header_offset < 0:
            raise _is_broken("zip", "a file begins before the archive")
        if info.flag_bits & 1:
            raise DecompressionRefused("The zip archive is encrypted. Send it without a password.")
        if info.compress_type not in METHODS:
            raise DecompressionRefused("The zip archive is not packed with deflate. Pack it so.")
    return infos


def zip_pieces(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[bytes]:
    """The bytes of one file. Raises DecompressionRefused."""
    try:
        with archive.open(info) as member:
            while piece := member.read(BLOCK_BYTES):
                yield piece
    except BROKEN_ZIP as broken:
        raise _is_broken("zip", broken) from None


def _tar_files(opened: Open) -> list[RawArtefact]:
    paths: list[str] = []
    openers: list[Open] = []
    kept = _Kept()
    with opened() as stream:
        for at, (info, archive) in enumerate(tar_members(stream)):
            if not info.isreg():
                continue
            paths.append(info.name)
            if kept.has_room(info):
                content = b"".join(tar_pieces(archive, info))
                openers.append(partial(io.BytesIO, content))
            else:
                openers.append(partial(_stream, _tar_pieces, opened, at))
    names = _short_names(paths)
    return [RawArtefact(name, opener) for name, opener in zip(names, openers, strict=True)]


@dataclass(slots=True)
class _Kept:
    """Which files of a tar are kept in memory, and how many are not."""

    free_bytes: int = field(default_factory=lambda: KEPT_TAR_BYTES)
    far: int = 0

    def has_room(self, info: tarfile.TarInfo) -> bool:
        """Whether the next file is kept. Raises BeyondLimit where too many files are not."""
        if info.size <= self.free_bytes:
            self.free_bytes -= info.size
            return True
        self.far += 1
        if self.far > MAX_FAR_FILES:
            raise BeyondLimit(
                f"The tar archive has more than {MAX_FAR_FILES} files behind its first "
                f"{KEPT_TAR_BYTES >> 20} MiB. To reach one, all before it are read. Send them in "
                "a zip archive."
            )
        return False


def tar_members(stream: BinaryIO) -> Iterator[tuple[tarfile.TarInfo, tarfile.TarFile]]:
    """The members in order: files, folders, links. Raises DecompressionRefused."""
    count, kept = 0, _Kept()
    try:
        with tarfile.open(fileobj=stream, mode="r|") as archive:
            for at, info in enumerate(archive):
                # Links and devices are not followed; headers alone cost time as well.
                _check_count(at // 10, "tar")
                if info.isreg():
                    count += 1
                    # Refused when it is sent, not only when it is read.
                    kept.has_room(info)
                _check_count(count, "tar")
                if info.issparse():
                    # Its holes are not in the archive: they would pass the limit uncounted.
                    raise DecompressionRefused("The tar archive has sparse files. Pack it without.")
                yield info, archive
            _check_end(archive)
    except tarfile.TarError as broken:
        raise _is_broken("tar", broken) from None


def _check_end(archive: tarfile.TarFile) -> None:
    """Behind the last member only zero bytes follow, or members would be passed over."""
    rest = cast(BinaryIO, archive.fileobj)
    while block := rest.read(BLOCK_BYTES):
        if block.strip(b"\0"):
            raise _is_broken("tar", "more follows behind its end")


def tar_pieces(archive: tarfile.TarFile, info: tarfile.TarInfo) -> Iterator[bytes]:
    """The bytes of one file, while the archive is at it. Raises DecompressionRefused."""
    member = archive.extractfile(info)
    if member is None:
        return
    try:
        while piece := member.read(BLOCK_BYTES):
            yield piece
    except tarfile.TarError as broken:
        raise _is_broken("tar", broken) from None


def _tar_pieces(stream: BinaryIO, wanted: int) -> Iterator[bytes]:
    for at, (info, archive) in enumerate(tar_members(stream)):
        if at == wanted:
            yield from tar_pieces(archive, info)
            return


def _stream(pieces: Callable[..., Iterator[bytes]], opened: Open, member: object) -> BinaryIO:
    return stream_of(pieces(opened(), member))


def _check_count(count: int, kind: str) -> None:
    if count > MAX_FILES:
        raise BeyondLimit(
            f"The {kind} archive has more than {MAX_FILES} files. Upload the files of one trial, "
            "or one folder of results. A larger results tree of TechEmpower or HttpArena is "
            "uploaded by `loadsheet import`."
        )


def _is_broken(kind: str, why: object) -> DecompressionRefused:
    return DecompressionRefused(f"The {kind} archive is broken: {why}.")


def _short_names(paths: Sequence[str]) -> list[str]:
    """The last part of each path; the whole path where several end alike, and of the raw files of
    TechEmpower, whose folders are the test and the framework. Formats take names of workloads from
    them, so characters that cannot be stored are replaced."""
    shorts = [PurePosixPath(path.replace("\\", "/")).name[:200] for path in paths]
    counts = Counter(shorts)
    return [
        printable(short if counts[short] == 1 and short != RAW else path[-200:])
        for short, path in zip(shorts, paths, strict=True)
    ]
