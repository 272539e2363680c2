"""The members of a tar archive, in the order in which they come."""

import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import BinaryIO, cast

from backend.untrusted.archives.decompress import (
    BeyondLimit,
    DecompressionRefused,
    broken_archive,
    check_count,
)

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
    with _damage_refused(), tarfile.open(fileobj=stream, mode="r|") as archive:
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
            _pass_over(archive)
        _check_end(archive)


@contextmanager
def _damage_refused() -> Iterator[None]:
    """What the library raises for a damaged archive, as DecompressionRefused."""
    try:
        yield
    except DecompressionRefused:
        # A refusal of ours is a ValueError too.
        raise
    except tarfile.TarError as broken:
        raise broken_archive("tar", broken) from None
    except (ValueError, IndexError):
        # Its message may quote the bytes of a file, which may be a secret.
        raise broken_archive("tar", "a header has a value that cannot be read") from None
    except RecursionError:
        # Each extended header is read inside the reading of the one before it.
        raise broken_archive("tar", "too many extended headers stand before one file") from None


def _pass_over(archive: tarfile.TarFile) -> None:
    """Read up to the next header. The library goes on counting where the archive has ended, and a
    header may name any size.
    """
    rest = cast(BinaryIO, archive.fileobj)
    while (left := archive.offset - rest.tell()) > 0:
        if not rest.read(min(left, BLOCK_BYTES)):
            raise broken_archive("tar", "unexpected end of data")


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
    with _damage_refused():
        while piece := member.read(BLOCK_BYTES):
            yield piece
