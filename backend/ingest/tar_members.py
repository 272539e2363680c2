"""The members of a tar archive, in the order in which they come."""

import tarfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, cast

from backend.ingest.archive_refusals import broken_archive, check_count
from backend.ingest.decompress import BeyondLimit, DecompressionRefused

# A zip has a directory of its files. To reach a file of a tar, all files before it are read. So the
# first files of a tar are kept in memory, and only this many may follow them.
KEPT_TAR_BYTES = 64 << 20
MAX_FAR_FILES = 100
BLOCK_BYTES = 1 << 20


@dataclass(slots=True)
class Kept:
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
                f"{KEPT_TAR_BYTES >> 20} MiB. To reach such a file, all files before it must be "
                "read. Send them in a zip archive."
            )
        return False


def tar_members(stream: BinaryIO) -> Iterator[tuple[tarfile.TarInfo, tarfile.TarFile]]:
    """The members in order: files, folders, links. Raises DecompressionRefused."""
    count, kept = 0, Kept()
    try:
        with tarfile.open(fileobj=stream, mode="r|") as archive:
            for at, info in enumerate(archive):
                # Links and devices are not followed, but they count, because reading a header takes
                # time too.
                check_count(at // 10, "tar")
                if info.isreg():
                    count += 1
                    # Refused when it is sent, not only when it is read.
                    kept.has_room(info)
                check_count(count, "tar")
                if info.issparse():
                    # Its holes are not in the archive: they would pass the limit uncounted.
                    raise DecompressionRefused(
                        "The tar archive has sparse files. Pack it without them."
                    )
                yield info, archive
            _check_end(archive)
    except tarfile.TarError as broken:
        raise broken_archive("tar", broken) from None


def _check_end(archive: tarfile.TarFile) -> None:
    """Behind the last member only zero bytes follow, or members would be passed over."""
    rest = cast(BinaryIO, archive.fileobj)
    while block := rest.read(BLOCK_BYTES):
        if block.strip(b"\0"):
            raise broken_archive("tar", "more follows after its end")


def tar_pieces(archive: tarfile.TarFile, info: tarfile.TarInfo) -> Iterator[bytes]:
    """The bytes of one file, while the archive is at it. Raises DecompressionRefused."""
    member = archive.extractfile(info)
    if member is None:
        return
    try:
        while piece := member.read(BLOCK_BYTES):
            yield piece
    except tarfile.TarError as broken:
        raise broken_archive("tar", broken) from None
