"""Dismissing findings of a run, undoing it, and listing what is dismissed.

And looking at a run again after members changed what is written about it. Layers above add to
TEXT_CHECKS what they know of the run, such as that others may read it.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils import timezone

from backend.accounts.credentials.token_format import holds_token
from backend.accounts.models import User
from backend.database_faults import is_taken
from backend.errors import InvalidInput
from backend.runs.models import Cell, Dismissal, Run, Trial
from backend.runs.tables.names import MAX_DISMISSALS

MAX_REASON = 500
# Each is called in the transaction of the change, with the run locked; what it raises refuses it.
TEXT_CHECKS: list[Callable[[Run], None]] = []


class DismissalRefused(InvalidInput):
    """Nothing was dismissed; the message says what was got and what was expected."""


def dismiss(run: Run, check_id: str, *, reason: str, author: User | None) -> Dismissal:
    """Dismiss the findings of one check in `run`; an active dismissal is returned unchanged.

    Raises DismissalRefused, and what TEXT_CHECKS raise.
    """
    reason = " ".join(reason.split())
    if not reason or len(reason) > MAX_REASON or "\0" in reason:
        raise DismissalRefused(
            f"The reason has {len(reason)} characters; expected 1 to {MAX_REASON}, without NUL."
        )
    if holds_token(reason):
        raise DismissalRefused(
            "The reason holds a Loadsheet token (ls_…). Revoke the token on the page Tokens."
        )
    if check_id not in fired_in(run):
        raise DismissalRefused(f"The check {check_id[:60]!r} did not fire in this run.")
    try:
        with transaction.atomic():
            # So that nobody shares the run between the check and the end of the transaction.
            Run.objects.select_for_update().filter(pk=run.pk).first()
            _refuse_more_than_are_kept(run)
            dismissal = Dismissal.objects.create(
                run=run, check_id=check_id, reason=reason, author=author
            )
            check_texts(run)
            run.workspace.changed()
            return dismissal
    except IntegrityError as refusal:
        if not is_taken(refusal):
            raise
        return Dismissal.objects.get(run=run, check_id=check_id, undone_at=None)


def _refuse_more_than_are_kept(run: Run) -> None:
    if Dismissal.objects.filter(run=run).count() >= MAX_DISMISSALS:
        raise DismissalRefused(
            f"Findings of this run were dismissed {MAX_DISMISSALS:,} times, undone ones included; "
            "no more are kept. Upload its output again."
        )


@transaction.atomic
def undo(run: Run, check_id: str, *, by: User | None) -> bool:
    """Undo a dismissal; whether there was one."""
    active = Dismissal.objects.filter(run=run, check_id=check_id, undone_at=None)
    is_undone = bool(active.update(undone_at=timezone.now(), undone_by=by))
    run.workspace.changed()
    return is_undone


# Every comparison asks this. As text it costs a quarter of what composing it each time does.
_STANDING = """
    SELECT * FROM runs_dismissal
    WHERE run_id = ANY(%s::uuid[]) AND undone_at IS NULL
    ORDER BY dismissed_at
    """


def dismissals_of(run_ids: Iterable[UUID]) -> Mapping[UUID, Mapping[str, Dismissal]]:
    """By run and check id: the active dismissals, with their authors."""
    by_run: dict[UUID, dict[str, Dismissal]] = defaultdict(dict)
    rows = Dismissal.objects.raw(_STANDING, [list(run_ids)])
    for row in rows.prefetch_related("author"):
        by_run[row.run_id][row.check_id] = row
    return by_run


def fired_in(run: Run) -> set[str]:
    """The ids of the checks that fired in the run, on a trial or on a load point."""
    lists = [
        *Trial.objects.filter(run=run).values_list("checks", flat=True),
        *Cell.objects.filter(run=run).values_list("checks", flat=True),
    ]
    return {stored["id"] for checks in lists for stored in checks}


def check_texts(run: Run) -> None:
    """Raises what the checks raise."""
    for check in TEXT_CHECKS:
        check(run)
