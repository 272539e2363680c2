"""Whether everything that was received is accounted for: rows against rows, rows against bytes."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet, TextField
from django.db.models.functions import Cast, Now

from backend.accounts.models import Workspace
from backend.ingest.models import NAMED_RUN, Artefact, State, Upload, as_hex
from backend.ingest.queue.queue import PASSING_FAULTS_S
from backend.ingest.removing.collector import unnamed_artefacts
from backend.ingest.removing.trash import KEPT_IN_TRASH, trashed
from backend.runs.models import Run
from backend.storage import CHUNK_BYTES, storage
from backend.untrusted.secrets.cleaning import hash_of

READ = Q(state=State.PARSED)
IN_FLIGHT = Q(state__in=[State.RECEIVED, State.PARSING])
NO_REASON = Q(state__in=[State.FAILED, State.QUARANTINED], reason="")
REMOVED_WITHIN = timedelta(days=2)
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

    def add_problems(self, rows: QuerySet[Any], text: str) -> None:
        """One for each row, whose id stands for {} in the text."""
        for pk in rows.order_by().values_list("pk", flat=True).iterator(ROWS_AT_ONCE):
            self.add_problem(text.format(pk))


def verify(*, is_hashing: bool = False) -> Iterator[Check]:
    """The checks, one after the other; with `is_hashing` every stored byte is read.

    Raises StorageAway. Receiving, reading and deleting may go on meanwhile.
    """
    yield from verify_rows()
    yield check_rows_have_bytes(is_hashing=is_hashing)
    yield count_removed()
    yield check_bytes_have_rows()


def verify_rows() -> Iterator[Check]:
    """The checks of rows against rows: the storage is not asked, so they are cheap."""
    yield from _check_uploads()
    yield _check_artefacts()
    yield _check_runs()
    yield _check_removals()


def _check_uploads() -> Iterator[Check]:
    """received = read + failed + quarantined + in flight, each with what belongs to its state.

    One look at all rows: with a million of them, each look takes a second.
    """
    counts = Upload.objects.aggregate(
        received=Count("pk"),
        read=Count("pk", filter=READ),
        failed=Count("pk", filter=Q(state=State.FAILED)),
        quarantined=Count("pk", filter=Q(state=State.QUARANTINED)),
        in_flight=Count("pk", filter=IN_FLIGHT),
        no_reason=Count("pk", filter=NO_REASON),
        too_late=Count("pk", filter=_too_late()),
    )
    received = Check("uploads received", counts["received"])
    by_state = {name: counts[name] for name in ("read", "failed", "quarantined", "in_flight")}
    ended = received.count - counts["in_flight"]
    if missing := received.count - sum(by_state.values()):
        received.add_problem(f"{missing} in no known state")
        ended -= missing
    yield received
    for name, count in by_state.items():
        yield Check(f"  {name.replace('_', ' ')}", count)
    yield _check_results(ended, counts["no_reason"])
    yield _check_waiting(counts["in_flight"], counts["too_late"])


def _check_results(ended: int, without_reason: int) -> Check:
    """Every upload that was read has its run, every other ended one its reason."""
    check = Check("ended with a result or a reason", ended)
    # The uploads of early trials name their run in the envelope only.
    runs = Run.with_trash.alias(digits=as_hex(Cast("pk", TextField())))
    read = Upload.objects.filter(READ, run=None).alias(named_run=NAMED_RUN)
    lost = read.filter(~Exists(runs.filter(digits=OuterRef("named_run"))))
    check.add_problems(lost, "upload {} was read and has no run")
    if without_reason:
        check.add_problems(Upload.objects.filter(NO_REASON), "upload {} failed without a reason")
    return check


def _check_waiting(waiting: int, too_late: int) -> Check:
    """Nothing waits for longer than passing faults are waited for."""
    check = Check("in flight for less than two days", waiting)
    if too_late:
        check.add_problems(Upload.objects.filter(_too_late()), "upload {} waits for too long")
    return check


def _too_late() -> Q:
    return IN_FLIGHT & Q(received_at__lt=Now() - timedelta(seconds=2 * PASSING_FAULTS_S))


def _check_artefacts() -> Check:
    """An upload is received with at least one artefact."""
    lost = Upload.objects.filter(~Exists(Artefact.objects.filter(upload=OuterRef("pk"))))
    check = Check("artefacts of all uploads; equal ones count each time", Artefact.objects.count())
    check.add_problems(lost, "upload {} has no artefact")
    return check


def _check_runs() -> Check:
    """A run came with an upload, or trial by trial with the artefacts of several."""
    check = Check("runs with an upload", Run.with_trash.count())
    without = Run.with_trash.filter(
        ~Exists(Upload.objects.filter(run=OuterRef("pk"))),
        ~Exists(Artefact.trials.through.objects.filter(trial__run=OuterRef("pk"))),
    )
    check.add_problems(without, "run {} has no upload")
    return check


def _check_removals() -> Check:
    """What was to be removed is removed within two days. The collector goes on past what it cannot
    remove, so that only the log and this line tell of it."""
    deleted = Workspace.objects.exclude(deleted_at=None)
    expired = trashed(Q(trashed_at__lt=Now() - KEPT_IN_TRASH))
    check = Check("removals that are due for less than two days", deleted.count() + expired.count())
    check.add_problems(
        deleted.filter(deleted_at__lt=Now() - REMOVED_WITHIN),
        "workspace {} was deleted and is not removed yet",
    )
    check.add_problems(
        trashed(Q(trashed_at__lt=Now() - KEPT_IN_TRASH - REMOVED_WITHIN)),
        "run {} of the trash is not removed yet",
    )
    return check


def check_rows_have_bytes(*, is_hashing: bool) -> Check:
    """Every artefact that a row names has its bytes; with `is_hashing` they are read."""
    sizes = {bytes.fromhex(entry.name): entry.size_bytes for entry in storage().list()}
    check = Check("different artefacts, with their bytes" + (" and SHA-256" if is_hashing else ""))
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


def count_removed() -> Check:
    """Artefacts whose bytes were removed for their age: they are missing nowhere."""
    removed = Artefact.objects.exclude(upload__raw_removed_at=None)
    return Check("artefacts whose bytes were removed for their age", removed.count())


def _size_problem(sha256: str, size_bytes: int, stored_bytes: int | None) -> str:
    """Empty if the bytes are there, all of them."""
    if stored_bytes is None:
        # Come or gone since the storage was listed: looked at once more.
        named = Artefact.objects.filter(sha256=sha256, upload__raw_removed_at=None)
        is_there = storage().has(sha256) or not named.exists()
        return "" if is_there else f"{sha256} is missing"
    if stored_bytes != size_bytes:
        return f"{sha256} has {stored_bytes:,} bytes, its row says {size_bytes:,}"
    return ""


def _hash_problem(sha256: str) -> str:
    """Empty if the stored bytes have this SHA-256, or were deleted meanwhile."""
    try:
        with storage().open(sha256) as source:
            actual = hash_of(iter(lambda: source.read(CHUNK_BYTES), b""))
    except FileNotFoundError:
        return ""
    return "" if actual == sha256 else f"{sha256} has the SHA-256 {actual}"


def check_bytes_have_rows() -> Check:
    """Bytes younger than the collector takes may be of an upload on its way."""
    check = Check(
        "stored files, with those of uploads on their way", sum(1 for _ in storage().list())
    )
    before_s = time.time() - settings.COLLECT_AFTER_S
    for entry in unnamed_artefacts(before_s, is_forced=True):
        check.add_problem(f"{entry.name} has no row; `manage.py collect` removes it")
    return check
