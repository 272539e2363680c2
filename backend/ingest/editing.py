"""Correcting runs, merging names and undoing it, with everything that is computed from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from django.db import transaction

from backend.accounts.models import User, Workspace
from backend.noise.record import (
    hosts_named,
    hosts_of,
    refresh_hosts,
    refresh_noise,
    refresh_noise_of_runs,
    runs_with,
)
from backend.runs.editing import correct, undo_correction
from backend.runs.merging import MAX_RUNS, merge, undo_merge
from backend.runs.models import Correction, FormerName, Merge, Run
from backend.runs.observations import apply_observations
from backend.runs.registry import current_name, lock_names


def edit_run(
    run: Run,
    values: Mapping[str, Any],
    *,
    ordinals: Sequence[int] | None = None,
    author: User | None,
) -> list[Correction]:
    """As `backend.runs.editing.correct`."""
    with _computed_again(run):
        return correct(run.pk, values, ordinals=ordinals, author=author)


def undo_edit(run: Run, correction_id: UUID, *, by: User | None) -> bool:
    """As `backend.runs.editing.undo_correction`."""
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


@transaction.atomic
def merge_names(
    workspace: Workspace, kind: FormerName.Kind, source: str, target: str, author: User | None
) -> Merge:
    """As `backend.runs.merging.merge`, and estimates the noise of their hosts again."""
    lock_names(workspace, exclusive=True)
    # A name of more runs is refused.
    run_ids = list(runs_with(workspace.pk, kind, [source])[:MAX_RUNS])
    merged = merge(workspace, kind, source, target, author)
    refresh_noise_of_runs(run_ids)
    return merged


@transaction.atomic
def undo_merged_names(merged: Merge, *, by: User | None) -> bool:
    """As `backend.runs.merging.undo_merge`, and estimates the noise of their hosts again."""
    workspace, kind = merged.workspace, FormerName.Kind(merged.kind)
    lock_names(workspace, exclusive=True)
    # The target may have another name by now. Its hosts lose the runs that go back.
    names = [merged.target, current_name([workspace.pk], kind, merged.source)]
    losing = hosts_named(workspace.pk, names) if kind == FormerName.Kind.HOST else []
    is_undone = undo_merge(merged, by=by)
    if is_undone:
        given_back = [merged.source, *merged.former_names["led"]]
        refresh_noise_of_runs(list(runs_with(workspace.pk, kind, given_back)))
        refresh_hosts(losing)
    return is_undone
