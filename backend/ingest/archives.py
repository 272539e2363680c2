"""The files in a zip or tar archive, read where they are: nothing is written, no path is used.

Only the sandboxed child opens archives. An archive in an archive is not opened.
"""

from __future__ import annotations

import io
import tarfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import PurePosixPath
from typing import BinaryIO

from backend.formats import RawArtefact
from backend.formats.streams import stream_of
from backend.formats.text import read_up_to
from backend.ingest.decompress import DecompressionRefused, check_growth, unpacked

# More than any load tool writes for one trial.
MAX_FILES = 100
ZIP_MAGIC = b"PK\x03\x04"
TAR_MAGIC, TAR_MAGIC_AT = b"ustar", 257
BLOCK_BYTES = 1 << 20
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
        head = read_up_to(stream, TAR_MAGIC_AT + len(TAR_MAGIC))
    if head[TAR_MAGIC_AT:] == TAR_MAGIC:
        return _tar_files(opened)
    return [RawArtefact(name, opened)]


def _zip_files(open_packed: Open, *, limit_bytes: int) -> list[RawArtefact]:
    with open_packed() as packed:
        size = packed.seek(0, io.SEEK_END)
        try:
            infos = [info for info in zipfile.ZipFile(packed).infolist() if not info.is_dir()]
        except BROKEN_ZIP as broken:
            raise _is_broken("zip", broken) from None
    _check_count(len(infos))
    # No member gives more than the size it is said to have.
    check_growth(size, sum(info.file_size for info in infos), limit_bytes)
    for info in infos:
        if info.flag_bits & 1:
            raise DecompressionRefused("The zip archive is encrypted. Send it without a password.")
        if info.compress_type not in METHODS:
            raise DecompressionRefused("The zip archive is not packed with deflate. Pack it so.")
    names = _short_names([info.filename for info in infos])
    return [
        RawArtefact(name, partial(_stream, _zip_pieces, open_packed, info))
        for name, info in zip(names, infos, strict=True)
    ]


def _zip_pieces(packed: BinaryIO, info: zipfile.ZipInfo) -> Iterator[bytes]:
    try:
        with zipfile.ZipFile(packed) as archive, archive.open(info) as member:
            while piece := member.read(BLOCK_BYTES):
                yield piece
    except BROKEN_ZIP as broken:
        raise _is_broken("zip", broken) from None


def _tar_files(opened: Open) -> list[RawArtefact]:
    with opened() as stream:
        positions = [(at, info.name) for at, info, _ in _tar_members(stream)]
    names = _short_names([name for _, name in positions])
    return [
        RawArtefact(name, partial(_stream, _tar_pieces, opened, at))
        for name, (at, _) in zip(names, positions, strict=True)
    ]


def _tar_members(stream: BinaryIO) -> Iterator[tuple[int, tarfile.TarInfo, tarfile.TarFile]]:
    """The regular files in order, each with its place among all members."""
    count = 0
    try:
        with tarfile.open(fileobj=stream, mode="r|") as archive:
            for at, info in enumerate(archive):
                # Links and devices are not followed; headers alone cost time as well.
                _check_count(at, most=10 * MAX_FILES)
                if info.isreg():
                    count += 1
                    _check_count(count)
                    yield at, info, archive
    except tarfile.TarError as broken:
        raise _is_broken("tar", broken) from None


def _tar_pieces(stream: BinaryIO, wanted: int) -> Iterator[bytes]:
    for at, info, archive in _tar_members(stream):
        member = archive.extractfile(info) if at == wanted else None
        if member is None:
            continue
        try:
            while piece := member.read(BLOCK_BYTES):
                yield piece
        except tarfile.TarError as broken:
            raise _is_broken("tar", broken) from None
        return


def _stream(pieces: Callable[..., Iterator[bytes]], opened: Open, member: object) -> BinaryIO:
    return stream_of(pieces(opened(), member))


def _check_count(count: int, *, most: int = MAX_FILES) -> None:
    if count > most:
        raise DecompressionRefused(
            f"The archive has more than {MAX_FILES} files; expected the files of one trial."
        )


def _is_broken(kind: str, why: object) -> DecompressionRefused:
    return DecompressionRefused(f"The {kind} archive is broken: {why}.")


def _short_names(paths: Sequence[str]) -> list[str]:
    """The last part of each path; the whole path where several end alike."""
    shorts = [PurePosixPath(path.replace("\\", "/")).name[:200] for path in paths]
    counts = Counter(shorts)
    return [
        short if counts[short] == 1 else path[-200:]
        for short, path in zip(shorts, paths, strict=True)
    ]
