"""Large artefacts come in numbered parts, so that a cut connection loses one part only.

A part is known by the upload's id, the SHA-256 of the whole artefact as it is sent, and its
number, from 0. Its row is written before its file, so that no file is without a row; it counts
once the row has its checksum. Parts are private to their workspace. They end when the upload that
names them is received, or `PARTS_KEPT_S` after they came.
"""

import contextlib
import hashlib
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import IO
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError, transaction
from django.db.models import Q, QuerySet, Sum
from django.db.models.functions import Coalesce, Greatest, Now

from backend.database_faults import DatabaseGone, is_changed_meanwhile
from backend.ingest.artefacts.part_refusals import (
    NO_ROOM_WAIT_S,
    NoRoom,
    PartConflict,
    PartDamaged,
    PartsDiffer,
    PartsMissing,
    PartsTooLarge,
    PartTooSmall,
)
from backend.ingest.models import Part
from backend.ingest.quota.quota import check_quota, lock_room, refuse_closed
from backend.storage import CHUNK_BYTES, StorageAway, storage
from backend.untrusted.limits import LEAST_PART_BYTES


@dataclass(frozen=True, slots=True)
class Whole:
    """An artefact that came in parts, as its upload names it: `sha256` and size are as sent."""

    name: str
    sha256: str
    size_bytes: int
    parts: int


@dataclass(frozen=True, slots=True)
class Place:
    workspace_id: UUID
    upload_id: UUID
    artefact_sha256: str
    number: int

    def earlier(self) -> Part | None:
        """The part of this place that came before."""
        rows = parts_of(self.workspace_id, self.upload_id)
        return rows.filter(artefact_sha256=self.artefact_sha256, number=self.number).first()


def parts_of(workspace_id: UUID, upload_id: UUID) -> QuerySet[Part]:
    """The parts that are there, durably."""
    rows = Part.objects.filter(workspace=workspace_id, upload_id=upload_id)
    return rows.exclude(sha256="").order_by("artefact_sha256", "number")


def receive_part(
    place: Place, chunks: Iterable[bytes], *, sha256: str, size_bytes: int
) -> tuple[Part, bool]:
    """Store a part durably; the part, and whether this request brought it.

    Raises NotFound, PartConflict, PartDamaged, PartTooSmall, PartsTooLarge, NoRoom, WorkspaceFull,
    StorageAway; nothing is stored then.
    """
    if (earlier := place.earlier()) is not None:
        return _same(earlier, sha256), False
    if size_bytes < LEAST_PART_BYTES:
        _check_last(place, size_bytes)
    part = _take_room(place, size_bytes)
    try:
        stored = storage().put_part(str(part.pk), chunks)
        if stored.sha256 != sha256:
            raise PartDamaged(
                f"{stored.size_bytes:,} bytes with the SHA-256 {stored.sha256} came; "
                f"{size_bytes:,} with {sha256} were announced."
            )
        with transaction.atomic():
            part.sha256, part.size_bytes = stored.sha256, stored.size_bytes
            part.save(update_fields=["sha256", "size_bytes"])
    except DatabaseError as fault:
        _discard([part])
        if not is_changed_meanwhile(fault):
            raise
        # The workspace went, or the same part came at the same time, and was first.
        refuse_closed(place.workspace_id)
        first = place.earlier()
        if first is None:
            raise
        return _same(first, sha256), False
    except BaseException:
        _discard([part])
        raise
    return part, True


def _same(earlier: Part, sha256: str) -> Part:
    if earlier.sha256 != sha256:
        raise PartConflict(
            f"Part {earlier.number} came before with the SHA-256 {earlier.sha256}, "
            f"now with {sha256}. Nothing was changed."
        )
    return earlier


def _check_last(place: Place, size_bytes: int) -> None:
    """Only the last part may be small, and no second part is the last."""
    rows = parts_of(place.workspace_id, place.upload_id)
    artefact = rows.filter(artefact_sha256=place.artefact_sha256)
    is_small, is_later = Q(size_bytes__lt=LEAST_PART_BYTES), Q(number__gt=place.number)
    if artefact.filter(is_small | is_later).exists():
        raise PartTooSmall(
            f"Part {place.number} has {size_bytes:,} bytes and is not the last; expected at least "
            f"{LEAST_PART_BYTES:,}."
        )


@transaction.atomic
def _take_room(place: Place, size_bytes: int) -> Part:
    """The row of a part on its way; it counts with its bytes from now on."""
    lock_room(place.workspace_id)
    refuse_closed(place.workspace_id)
    _check_room(place, size_bytes)
    return Part.objects.create(**asdict(place), size_bytes=size_bytes)


def _check_room(place: Place, size_bytes: int) -> None:
    """Call it under `lock_room`."""
    # A row and a file cost something, however little is in them.
    counted = Greatest("size_bytes", LEAST_PART_BYTES)
    # The same part may come twice at once, or its first request was killed: one of them stays.
    others = Part.objects.filter(workspace=place.workspace_id).exclude(
        sha256="",
        upload_id=place.upload_id,
        artefact_sha256=place.artefact_sha256,
        number=place.number,
    )
    waiting = others.aggregate(
        here=Coalesce(Sum(counted), 0),
        upload=Coalesce(Sum("size_bytes", filter=Q(upload_id=place.upload_id)), 0),
    )
    if waiting["upload"] + size_bytes > settings.UPLOAD_MAX_BYTES:
        raise PartsTooLarge(
            f"The parts of this upload have {waiting['upload'] + size_bytes:,} bytes; at most "
            f"{settings.UPLOAD_MAX_BYTES:,} are accepted."
        )
    check_quota(place.workspace_id, waiting["here"] + size_bytes)
    if waiting["here"] + max(size_bytes, LEAST_PART_BYTES) > settings.PARTS_MAX_BYTES:
        raise NoRoom(
            f"{waiting['here']:,} bytes of parts wait in this workspace for the rest of their "
            f"uploads, each counted as {LEAST_PART_BYTES:,} at least; at most "
            f"{settings.PARTS_MAX_BYTES:,} are kept.",
            wait_s=NO_ROOM_WAIT_S,
        )


@contextlib.contextmanager
def put_together(workspace_id: UUID, upload_id: UUID, whole: Whole) -> Iterator[IO[bytes]]:
    """The artefact as it was sent, from its first byte; raises PartsMissing, PartsDiffer."""
    parts = _all_parts(workspace_id, upload_id, whole)
    with tempfile.TemporaryFile() as file:
        digest = hashlib.sha256()
        for part in parts:
            for chunk in _chunks(part, whole):
                digest.update(chunk)
                file.write(chunk)
        if (file.tell(), digest.hexdigest()) != (whole.size_bytes, whole.sha256):
            _discard(parts)
            raise PartsDiffer(
                f"The {whole.parts} parts of {whole.name!r} make {file.tell():,} bytes with the "
                f"SHA-256 {digest.hexdigest()}; "
                f"{whole.size_bytes:,} with {whole.sha256} were named."
            )
        file.seek(0)
        yield file


def _all_parts(workspace_id: UUID, upload_id: UUID, whole: Whole) -> list[Part]:
    rows = parts_of(workspace_id, upload_id).filter(artefact_sha256=whole.sha256)
    there = {part.number: part for part in rows}
    missing = [number for number in range(whole.parts) if number not in there]
    if missing:
        raise PartsMissing(whole.name, missing[:20])
    return [there[number] for number in range(whole.parts)]


def _chunks(part: Part, whole: Whole) -> Iterator[bytes]:
    try:
        source = storage().open_part(str(part.pk))
    except FileNotFoundError:
        _discard([part])
        raise PartsMissing(whole.name, [part.number]) from None
    with contextlib.closing(source):
        while chunk := source.read(CHUNK_BYTES):
            yield chunk


def forget(workspace_id: UUID, upload_id: UUID) -> None:
    """The upload is received and needs no parts. Never raises: the collector follows."""
    with contextlib.suppress(*DatabaseGone):
        _discard(list(Part.objects.filter(workspace=workspace_id, upload_id=upload_id)))


def expired_parts() -> QuerySet[Part]:
    """Parts that waited longer than `PARTS_KEPT_S`, the oldest first."""
    oldest = Now() - timedelta(seconds=settings.PARTS_KEPT_S)
    return Part.objects.filter(begun_at__lt=oldest).order_by("begun_at")


def discard_expired() -> int:
    """Throw away what waited too long; how many parts that were."""
    parts = list(expired_parts())
    _discard(parts)
    return len(parts)


def discard_of_workspace(workspace_id: UUID) -> bool:
    """Throw away all waiting parts of a workspace; whether none is left."""
    _discard(Part.objects.filter(workspace=workspace_id))
    return not Part.objects.filter(workspace=workspace_id).exists()


def _discard(parts: Iterable[Part]) -> None:
    """Delete the file first, then its row; what cannot be deleted now is left to the collector."""
    for part in parts:
        with contextlib.suppress(StorageAway, *DatabaseGone):
            storage().remove_part(str(part.pk))
            part.delete()
