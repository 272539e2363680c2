"""The files in a zip or tar archive, read where they are: nothing is written, no path is used.

Only the sandboxed children open archives. An archive in an archive is not opened.
"""

import io
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import PurePosixPath
from typing import BinaryIO

from backend.formats import RawArtefact
from backend.formats.archive_texts import printable
from backend.formats.streams import stream_of
from backend.formats.techempower import RAW
from backend.formats.text import read_up_to
from backend.untrusted.archives.decompress import (
    DecompressionRefused,
    broken_archive,
    check_count,
    check_growth,
    unpacked,
)
from backend.untrusted.archives.packings import HEAD_BYTES, ZIP_MAGIC, packing_of
from backend.untrusted.archives.tar_members import BLOCK_BYTES, Kept, tar_members, tar_pieces

# What the library raises for a damaged zip archive.
BROKEN_ZIP = (zipfile.BadZipFile, zlib.error, EOFError, ValueError, NotImplementedError)
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)

Open = Callable[[], BinaryIO]


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
        RawArtefact(name, partial(_stream, zip_pieces, archive, info))
        for name, info in zip(names, infos, strict=True)
    ]


def open_zip(packed: BinaryIO) -> zipfile.ZipFile:
    """The archive by its directory. Raises DecompressionRefused."""
    try:
        return zipfile.ZipFile(packed)
    except BROKEN_ZIP as broken:
        raise broken_archive("zip", broken) from None


def zip_members(
    archive: zipfile.ZipFile, packed: BinaryIO, *, limit_bytes: int
) -> list[zipfile.ZipInfo]:
    """The files of the archive, once it is sure that they can be read.

    Raises DecompressionRefused.
    """
    infos = [info for info in archive.infolist() if not info.is_dir()]
    check_count(len(infos), "zip")
    # No member gives more than the size it is said to have.
    size = packed.seek(0, io.SEEK_END)
    check_growth(size, sum(info.file_size for info in infos), limit_bytes)
    for info in infos:
        if info.header_offset < 0:
            raise broken_archive("zip", "a file begins before the archive")
        if info.flag_bits & 1:
            raise DecompressionRefused("The zip archive is encrypted. Send it without a password.")
        if info.compress_type not in METHODS:
            raise DecompressionRefused(
                "The zip archive is not packed with deflate. Pack it with deflate."
            )
    return infos


def zip_pieces(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[bytes]:
    """The bytes of one file. Raises DecompressionRefused."""
    try:
        with archive.open(info) as member:
            while piece := member.read(BLOCK_BYTES):
                yield piece
    except BROKEN_ZIP as broken:
        raise broken_archive("zip", broken) from None


def _tar_files(opened: Open) -> list[RawArtefact]:
    paths: list[str] = []
    openers: list[Open] = []
    kept = Kept()
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


def _tar_pieces(opened: Open, wanted: int) -> Iterator[bytes]:
    for at, (info, archive) in enumerate(tar_members(opened())):
        if at == wanted:
            yield from tar_pieces(archive, info)
            return


def _stream(pieces: Callable[..., Iterator[bytes]], archive: object, member: object) -> BinaryIO:
    return stream_of(pieces(archive, member))


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
