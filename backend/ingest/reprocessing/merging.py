"""Merging names and undoing it, with everything that is computed from them."""

from backend.accounts.models import User, Workspace
from backend.noise.record import (
    hosts_named,
    refresh_hosts,
    refresh_noise_of_runs,
    runs_with,
)
from backend.runs.amending.merging import MAX_RUNS, merge, undo_merge
from backend.runs.models import FormerName, Merge
from backend.runs.registry.registry import current_name, lock_names
from backend.transactions import whole


@whole
def merge_names(
    workspace: Workspace, kind: FormerName.Kind, source: str, target: str, author: User | None
) -> Merge:
    """As `backend.runs.amending.merging.merge`, and estimates the noise of their hosts again."""
    lock_names(workspace, exclusive=True)
    # A name of more runs is refused.
    run_ids = list(runs_with(workspace.pk, kind, [source])[:MAX_RUNS])
    merged = merge(workspace, kind, source, target, author)
    refresh_noise_of_runs(run_ids)
    return merged


@whole
def undo_merged_names(merged: Merge, *, by: User | None) -> bool:
    """As `undo_merge` of `backend.runs.amending`, and estimates the noise of their hosts again."""
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
