"""Removing stored bytes that nothing names: of refused uploads, deleted runs, killed processes.

Two rules make it safe beside uploads on their way. An upload's rows are written under the shared
lock, after a look whether the bytes are still there (insert.py). Bytes are removed under the same
lock held alone, after a look that no row names them. So the rows come first, and the bytes stay; or
the removal comes first, and the upload is refused with 503 and sent again. This does not depend on
age. The periodic collection waits a day only so that senders seldom have to send twice.
"""

import logging
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction

from backend.errors import WorkFailed
from backend.ingest.artefacts.parts import discard_expired, expired_parts
from backend.ingest.models import Artefact, Part
from backend.ingest.quota.stored_sums import recount
from backend.storage import Listed, StorageAway, storage

log = logging.getLogger(__name__)

# Of the advisory lock on which bytes are there.
LOCK_KEY = 0x10AD_5EE7_0002
# Removed under one lock: uploads wait for it.
BATCH = 100
# Of those: a storage that is away may take seconds to say so.
MOST_REFUSED = 3
LISTED_AT_ONCE = 1000
# A database that names almost none of the stored artefacts probably belongs to another storage.
FEW = 100
SHARE_THAT_MAY_GO = 0.5
# Which of some artefacts a package above names. It adds its own function.
NAMED_ELSEWHERE: list[Callable[[Sequence[str]], set[str]]] = []


class TooManyUnnamed(WorkFailed):
    """More than half of the stored artefacts have no row; nothing was removed."""


@dataclass(frozen=True, slots=True)
class Collected:
    """What was removed, or would be: a plural noun, how many and how many bytes."""

    kind: str
    count: int
    size_bytes: int


def remove_unnamed(sha256s: Iterable[str]) -> set[str]:
    """Remove those artefacts that no row names; their SHA-256s. Raises StorageAway.

    Not to be called in the transaction that deletes their rows: it is not committed yet.
    """
    removed: set[str] = set()
    waiting = iter(sorted(set(sha256s)))
    while batch := list(islice(waiting, BATCH)):
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK_KEY])
            removed.update(_remove_each(without_row(batch), storage().remove))
    return removed


def _remove_each(names: Iterable[str], remove: Callable[[str], None]) -> Iterator[str]:
    """The names that `remove` takes: one that it refuses holds up no other.

    Raises StorageAway with the last of MOST_REFUSED: then the storage refuses all of them.
    """
    refused = 0
    for name in names:
        try:
            remove(name)
        except StorageAway:
            refused += 1
            if refused == MOST_REFUSED:
                raise
            log.warning("bytes_not_removed", extra={"artefacts": 1, "file": name}, exc_info=True)
        else:
            yield name


def remove_unnamed_later(sha256s: Sequence[str]) -> None:
    """As `remove_unnamed`, but never raises: what fails now is left to the next collection."""
    try:
        removed = remove_unnamed(sha256s)
    except Exception:
        log.warning("bytes_not_removed", extra={"artefacts": len(sha256s)}, exc_info=True)
    else:
        log.info("bytes_removed", extra={"artefacts": len(removed)})


def collect(*, is_dry_run: bool = False, is_forced: bool = False) -> list[Collected]:
    """Remove everything older than `COLLECT_AFTER_S` that nothing names, and expired parts.

    Raises StorageAway, and TooManyUnnamed unless `is_forced`.
    """
    before_s = time.time() - settings.COLLECT_AFTER_S
    artefacts = unnamed_artefacts(before_s, is_forced=is_forced)
    parts = [entry for entry in _parts_without_row() if entry.written_at_s < before_s]
    unfinished = [entry for entry in storage().list_unfinished() if entry.written_at_s < before_s]
    expired = [Listed(str(part.pk), part.size_bytes, 0.0) for part in expired_parts()]
    if not is_dry_run:
        artefacts = _remove(artefacts, parts, unfinished)
        discard_expired()
        _correct_quotas()
    figures = [
        _figures("artefacts without a row", artefacts),
        _figures("parts without a row", parts),
        _figures("expired parts", expired),
        _figures("unfinished files", unfinished),
    ]
    if not is_dry_run:
        log.info("collected", extra={each.kind.replace(" ", "_"): each.count for each in figures})
    return figures


def _remove(
    artefacts: Sequence[Listed], parts: Sequence[Listed], unfinished: Sequence[Listed]
) -> list[Listed]:
    """Remove them; the artefacts that were still without a row."""
    removed = remove_unnamed(entry.name for entry in artefacts)
    for entries, remove in (
        (parts, storage().remove_part),
        (unfinished, storage().remove_unfinished),
    ):
        deque(_remove_each((entry.name for entry in entries), remove), maxlen=0)
    return [entry for entry in artefacts if entry.name in removed]


def _correct_quotas() -> None:
    if corrected := recount():
        log.warning("stored_bytes_corrected", extra={"workspaces": corrected})


_ended_at = -float("inf")


def collect_in_turn() -> None:
    """The periodic collection; messages that piled up while no worker ran are one."""
    global _ended_at  # noqa: PLW0603  when this process collected last
    if time.monotonic() - _ended_at < settings.COLLECT_INTERVAL_S / 2:
        return
    try:
        collect()
    except (TooManyUnnamed, StorageAway) as reason:
        log.warning("not_collected", extra={"reason": str(reason)})
    _ended_at = time.monotonic()


def unnamed_artefacts(before_s: float, *, is_forced: bool = False) -> list[Listed]:
    """Stored artefacts without a row, written before that time; raises as `collect`."""
    total, unnamed = 0, []
    entries = storage().list()
    while batch := list(islice(entries, LISTED_AT_ONCE)):
        total += len(batch)
        unnamed_names = set(without_row([entry.name for entry in batch]))
        unnamed += [
            entry
            for entry in batch
            if entry.name in unnamed_names and entry.written_at_s < before_s
        ]
    if not is_forced and len(unnamed) > max(FEW, total * SHARE_THAT_MAY_GO):
        raise TooManyUnnamed(
            f"{len(unnamed)} of {total} stored artefacts have no row in the database. Is it the "
            "database of this storage? If so, run `manage.py collect --force`."
        )
    return unnamed


def _parts_without_row() -> Iterator[Listed]:
    """A part's row is written before its file, so a file without one is left over."""
    # Other keys below the same prefix of a bucket do not belong to Loadsheet.
    entries = (entry for entry in storage().list_parts() if _is_uuid(entry.name))
    while batch := list(islice(entries, LISTED_AT_ONCE)):
        ids = [entry.name for entry in batch]
        with_row = {str(pk) for pk in Part.objects.filter(pk__in=ids).values_list("pk", flat=True)}
        yield from (entry for entry in batch if entry.name not in with_row)


def _is_uuid(name: str) -> bool:
    try:
        return str(UUID(name)) == name
    except ValueError:
        return False


def _figures(kind: str, entries: Sequence[Listed]) -> Collected:
    return Collected(kind, len(entries), sum(entry.size_bytes for entry in entries))


def without_row(sha256s: Sequence[str]) -> list[str]:
    """Those of the artefacts that nothing names."""
    # An artefact whose bytes were removed for their age names none (retention.py).
    rows = Artefact.objects.filter(sha256__in=sha256s, upload__raw_removed_at=None)
    named = set(rows.values_list("sha256", flat=True).distinct())
    for named_elsewhere in NAMED_ELSEWHERE:
        named |= named_elsewhere(sha256s)
    return [sha256 for sha256 in sha256s if sha256 not in named]
