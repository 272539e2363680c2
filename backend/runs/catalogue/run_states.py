"""The state of a run in lists and searches, and what of its upload could not be read."""

import re
from collections.abc import Iterable, Sequence
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet, TextField, Value
from django.db.models.functions import Coalesce

from backend.runs.database.bulk import among
from backend.runs.models import Run, Trial

# The states as people say them. complete: not under way, not interrupted, no trial failed, and all
# of its upload was read, each output to its end.
STATE_WORDS = {
    "complete": "Done",
    "failed": "Failed trials",
    "interrupted": "Interrupted",
    "partial": "Partly read",
    "running": "Running",
}
STATES = tuple(STATE_WORDS)
# An upload that has a run was read; its reason then says which results were not. The package
# `ingest` has the uploads and imports this one, so they are reached by the name of the relation.
_IS_PARTIAL = Q(upload__reason__gt="")
# Which results could not be read and why, a line for each; of a run that was read whole, nothing.
REASON_NOT_READ = Coalesce("upload__reason", Value(""), output_field=TextField())
# At the beginning of a reason, whichever version wrote it.
_COUNTS = re.compile(r"\d+ of \d+")
# No line of a reason is alike: it has the name of a file, a colon and the reason.
_PARTLY_READ = re.compile(r"Partly read: \d+ of \d+ results?\.")


def state_of(*, is_open: bool, is_interrupted: bool, has_failed: bool, is_partial: bool) -> str:
    """Of the states that are true of a run, the one that a reader must know first."""
    states = (
        ("running", is_open),
        ("interrupted", is_interrupted),
        ("failed", has_failed),
        ("partial", is_partial),
    )
    return next((state for state, is_true in states if is_true), "complete")


def runs_in_state(rows: QuerySet[Run], state: str) -> QuerySet[Run]:
    """The runs of which `state` is true, also where a reader must know another state first."""
    failed = Exists(Trial.objects.filter(run=OuterRef("pk")).exclude(error=""))
    chosen = {
        "running": Q(is_open=True),
        "interrupted": Q(interrupted=True),
        "failed": Q(failed),
        "partial": _IS_PARTIAL,
        "complete": Q(~failed, ~_IS_PARTIAL, interrupted=False, is_open=False),
    }
    return rows.filter(chosen[state])


def partial_runs(run_ids: Iterable[UUID]) -> set[UUID]:
    """Those of these runs of whose uploads a part could not be read."""
    rows = Run.with_trash.filter(_IS_PARTIAL, among("pk", run_ids)).order_by()
    return set(rows.values_list("pk", flat=True))


def count_not_read(lines: Sequence[str]) -> list[str]:
    """Of the lines of a reason, how many results could not be read, or not whole: the others name
    files and quote them, which is for members."""
    counts = _COUNTS.match(lines[0]) if lines else None
    not_read = [f"{counts[0]} results could not be read."] if counts else []
    return not_read + [line for line in lines if _PARTLY_READ.fullmatch(line)]
