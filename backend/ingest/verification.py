"""Whether everything that was received is accounted for: rows against rows, rows against bytes."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import islice
from uuid import UUID

from django.conf import settings
from django.db.models import Count, Max, Q, QuerySet
from django.db.models.functions import Now

from backend.ingest.collector import unnamed_artefacts
from backend.ingest.models import END_STATES, Artefact, State, Upload
from backend.ingest.queue import PASSING_FAULTS_S
from backend.ingest.storage import CHUNK_BYTES, storage
from backend.runs.models import Run

# Of the problems of one check, so many are named.
MAX_NAMED = 20
ROWS_AT_ONCE = 2000


@dataclass(slots=True)
class Check:
    """One line of the table: what was looked at, how many, and the first problems by name."""

    name: str
    count: int = 0
    problem_count: int = 0
    problems: list[str] = field(default_factory=list)

    def add_problem(self, text: str) -> None:
        self.problem_count += 1
        if len(self.problems) < MAX_NAMED:
            self.problems.append(text)


def verify(*, is_hashing: bool = False) -> Iterator[Check]:
    """The checks, one after the other; with `is_hashing` every stored byte is read.

    Raises StorageAway. Receiving, reading and deleting may go on meanwhile.
    """
    yield from _check_states()
    yield _check_results()
    yield _check_waiting()
    yield _check_rows_have_bytes(is_hashing=is_hashing)
    yield _count_removed()
    yield _check_bytes_have_rows()


def _check_states() -> Iterator[Check]:
    """received = read + failed + quarantined + in flight"""
    in_flight = Q(state__in=[State.RECEIVED, State.PARSING])
    counts = Upload.objects.aggregate(
        received=Count("pk"),
        read=Count("pk", filter=Q(state=State.PARSED)),
        failed=Count("pk", filter=Q(state=State.FAILED)),
        quarantined=Count("pk", filter=Q(state=State.QUARANTINED)),
        in_flight=Count("pk", filter=in_flight),
    )
    received = Check("uploads received", counts.pop("received"))
    missing = received.count - sum(counts.values())
    if missing:
        received.add_problem(f"{missing} in no known state")
    yield received
    for name, count in counts.items():
        yield Check(f"  {name.replace('_', ' ')}", count)


def _check_results() -> Check:
    """Every upload that was read has its run, every other ended one its reason."""
    ended = Upload.objects.filter(state__in=END_STATES)
    check = Check("ended with a result or a reason", ended.count())
    for pk in _without_run(ended.filter(state=State.PARSED, run=None)):
        check.add_problem(f"upload {pk} was read and has no run")
    no_reason = Q(state__in=[State.FAILED, State.QUARANTINED], reason="")
    for pk in ended.filter(no_reason).values_list("pk", flat=True):
        check.add_problem(f"upload {pk} failed without a reason")
    return check


def _without_run(uploads: QuerySet[Upload]) -> Iterator[UUID]:
    """The uploads whose envelope names no stored run: the only place where early trials name it."""
    rows = uploads.values_list("pk", "envelope__run__id").iterator(ROWS_AT_ONCE)
    while batch := dict(islice(rows, ROWS_AT_ONCE)):
        named = [run_id for run_id in batch.values() if run_id]
        runs = {str(pk) for pk in Run.with_trash.filter(pk__in=named).values_list("pk", flat=True)}
        yield from (pk for pk, run_id in batch.items() if str(run_id).lower() not in runs)


def _check_waiting() -> Check:
    """Nothing waits for longer than passing faults are waited for."""
    waiting = Upload.objects.exclude(state__in=END_STATES)
    check = Check("in flight for less than two days", waiting.count())
    too_long_ago = Now() - timedelta(seconds=2 * PASSING_FAULTS_S)
    for pk in waiting.filter(received_at__lt=too_long_ago).values_list("pk", flat=True):
        check.add_problem(f"upload {pk} waits for too long")
    return check


def _check_rows_have_bytes(*, is_hashing: bool) -> Check:
    sizes = {bytes.fromhex(entry.name): entry.size_bytes for entry in storage().list()}
    check = Check("artefacts with their bytes" + (" and SHA-256" if is_hashing else ""))
    kept = Artefact.objects.filter(upload__raw_removed_at=None)
    rows = kept.order_by("sha256").values_list("sha256").annotate(Max("size_bytes"))
    for sha256, size_bytes in rows.iterator(ROWS_AT_ONCE):
        check.count += 1
        problem = _size_problem(sha256, size_bytes, sizes.get(bytes.fromhex(sha256)))
        if not problem and is_hashing:
            problem = _hash_problem(sha256)
        if problem:
            check.add_problem(problem)
    return check


def _count_removed() -> Check:
    """Artefacts whose bytes were removed for their age: they are missing nowhere."""
    removed = Artefact.objects.exclude(upload__raw_removed_at=None)
    return Check("artefacts removed for their age", removed.count())


def _size_problem(sha256: str, size_bytes: int, stored_bytes: int | None) -> str:
    """Empty where the bytes are there, all of them."""
    if stored_bytes is None:
        # Come or gone since the storage was listed: looked at once more.
        named = Artefact.objects.filter(sha256=sha256, upload__raw_removed_at=None)
        is_there = storage().has(sha256) or not named.exists()
        return "" if is_there else f"{sha256} is missing"
    if stored_bytes != size_bytes:
        return f"{sha256} has {stored_bytes:,} bytes, its row says {size_bytes:,}"
    return ""


def _hash_problem(sha256: str) -> str:
    """Empty where the stored bytes have this SHA-256, or were deleted meanwhile."""
    digest = hashlib.sha256()
    try:
        with storage().open(sha256) as source:
            while chunk := source.read(CHUNK_BYTES):
                digest.update(chunk)
    except FileNotFoundError:
        return ""
    actual = digest.hexdigest()
    return "" if actual == sha256 else f"{sha256} has the SHA-256 {actual}"


def _check_bytes_have_rows() -> Check:
    """Bytes younger than the collector takes may be of an upload on its way."""
    check = Check("stored artefacts with a row", sum(1 for _ in storage().list()))
    before_s = time.time() - settings.COLLECT_AFTER_S
    for entry in unnamed_artefacts(before_s, is_forced=True):
        check.add_problem(f"{entry.name} has no row; `manage.py collect` removes it")
    return check
