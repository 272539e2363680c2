"""Correcting runs, with everything that is computed from them."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from django.db import transaction

from backend.accounts.models import User
from backend.noise.record import (
    hosts_of,
    refresh_hosts,
    refresh_noise,
)
from backend.runs.amending.editing import correct, undo_correction
from backend.runs.models import Correction, Run
from backend.runs.recording.observations import apply_observations
from backend.runs.registry.registry import lock_names


def edit_run(
    run: Run,
    values: Mapping[str, Any],
    *,
    ordinals: Sequence[int] | None = None,
    author: User | None,
) -> list[Correction]:
    """As `backend.runs.amending.editing.correct`."""
    with _computed_again(run):
        return correct(run.pk, values, ordinals=ordinals, author=author)


def undo_edit(run: Run, correction_id: UUID, *, by: User | None) -> bool:
    """As `backend.runs.amending.editing.undo_correction`."""
    with _computed_again(run):
        return undo_correction(run.pk, correction_id, by=by)


@contextmanager
def _computed_again(run: Run) -> Iterator[None]:
    with transaction.atomic():
        # Another correction may have given the run other hosts since it was read.
        lock_names(run.workspace, exclusive=True)
        before = frozenset().union(*map(hosts_of, Run.with_trash.filter(pk=run.pk)))
        yield
        # A host that a correction took away may have been observed.
        apply_observations(run.pk)
        refresh_noise(run.pk)
        # It has estimated the hosts that the run has now.
        refresh_hosts(before - hosts_of(Run.with_trash.get(pk=run.pk)))
