"""Keeping private, in an imported workspace, what staff of this service took down."""

from collections.abc import Collection, Iterator
from uuid import UUID

from backend.accounts.models import Workspace
from backend.accounts.takedown_models import Thing
from backend.accounts.workspace.takedowns import find_takedowns
from backend.runs.models import Run
from backend.sharing.models import ResultSet, SharedRun, Visibility
from backend.transfer.encoding import Target

IDS_AT_ONCE = 2000


def close_taken_down(target: Target, run_ids: Collection[UUID], set_ids: Collection[UUID]) -> int:
    """Make private what is taken down here under the ids of the archive; how many things that is.

    An archive does not know it: it may be older than the takedown. As there, a workspace with a
    run that is taken down is not public.
    """
    runs = [target.moved(id_) for id_ in _taken_down(Thing.RUN, run_ids)]
    sets = [target.moved(id_) for id_ in _taken_down(Thing.RESULT_SET, set_ids)]
    SharedRun.objects.filter(run__in=runs).delete()
    ResultSet.objects.filter(pk__in=sets).update(visibility=Visibility.PRIVATE)
    if runs:
        Workspace.objects.filter(pk=target.workspace.pk).update(is_public=False)
        target.workspace.is_public = False
    return len(runs) + len(sets)


def _taken_down(kind: Thing, ids: Collection[UUID]) -> Iterator[UUID]:
    rows = Run.with_trash if kind == Thing.RUN else ResultSet.objects
    listed = list(ids)
    for start in range(0, len(listed), IDS_AT_ONCE):
        here = rows.filter(pk__in=listed[start : start + IDS_AT_ONCE])
        yield from find_takedowns(kind, dict(here.values_list("pk", "workspace")))
