"""Correcting runs, merging names and undoing it, with everything that is computed from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from django.db import transaction

from backend.accounts.models import User, Workspace
from backend.noise.record import (
    compared_runs,
    hosts_of,
    hosts_with,
    refresh_hosts,
    refresh_noise,
    refresh_noise_of_runs,
)
from backend.runs.editing import correct, undo_correction
from backend.runs.merging import merge, undo_merge
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
    before = hosts_of(run)
    with transaction.atomic():
        yield
        # A host that a correction took away may have been observed.
        apply_observations(run.pk)
        refresh_noise(run.pk)
        # It has estimated the hosts that the run has now.
        refresh_hosts(before - hosts_of(Run.with_trash.get(pk=run.pk)))


def merge_names(
    workspace: Workspace, kind: FormerName.Kind, source: str, target: str, author: User | None
) -> Merge:
    """As `backend.runs.merging.merge`."""
    with _noise_again(workspace, kind, source, target):
        return merge(workspace, kind, source, target, author)


def undo_merged_names(merged: Merge, *, by: User | None) -> bool:
    """As `backend.runs.merging.undo_merge`."""
    kind = FormerName.Kind(merged.kind)
    with _noise_again(merged.workspace, kind, merged.source, merged.target):
        return undo_merge(merged, by=by)


@contextmanager
def _noise_again(
    workspace: Workspace, kind: FormerName.Kind, source: str, target: str
) -> Iterator[None]:
    """Estimate the noise of hosts again, after series and hosts were replaced inside."""
    with transaction.atomic():
        lock_names(workspace, exclusive=True)
        run_ids = compared_runs(workspace.pk)
        # The target of a merge that is undone may have another name by now.
        names = {source, target, current_name([workspace.pk], kind, source)}
        host_ids = hosts_with(workspace.pk, kind, names)
        yield
        refresh_noise_of_runs(run_ids)
        # Runs of two series now vary as those of one, on hosts without A/A comparisons too.
        refresh_hosts(host_ids | hosts_with(workspace.pk, kind, names))
