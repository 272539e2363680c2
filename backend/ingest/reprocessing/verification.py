"""Whether everything that was received is accounted for: rows against rows, rows against bytes."""

from collections.abc import Iterator
from datetime import timedelta

from django.db.models import Count, Exists, OuterRef, Q, TextField
from django.db.models.functions import Cast, Now

from backend.ingest.models import NAMED_RUN, Artefact, State, Upload, as_hex
from backend.ingest.reprocessing.byte_checks import (
    check_bytes_have_rows,
    check_rows_have_bytes,
    count_removed,
)
from backend.ingest.reprocessing.integrity_check import Check
from backend.ingest.work.queue import PASSING_FAULTS_S
from backend.runs.models import Run

READ = Q(state=State.PARSED)
IN_FLIGHT = Q(state__in=[State.RECEIVED, State.PARSING])
NO_REASON = Q(state__in=[State.FAILED, State.QUARANTINED], reason="")


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
