"""Which series, servers, hosts and workloads lists and links offer: those with measurements.

Rows without measurements stay after a correction, and rows of runs in the trash as well, in case
either is undone. Those that nothing will be measured of any more are removed: links must not offer
their values.
"""

from collections.abc import Iterable
from typing import Any, TypeVar
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet

from backend.runs.models import Cell, Host, Run, Series, Server, Workload

Row = TypeVar("Row", bound=Server | Host | Workload)


def shown_series(workspace_ids: Iterable[UUID]) -> QuerySet[Series]:
    """The series of these workspaces, without those that only runs in the trash have."""
    ids = list(workspace_ids)
    kept = Cell.of_kept_runs.filter(series=OuterRef("series"))
    # From the few runs in the trash, not from all series.
    trashed = Cell.objects.filter(run__workspace__in=ids, run__trashed_at__isnull=False)
    only_trashed = trashed.filter(~Exists(kept)).values("series")
    return Series.objects.filter(workspace__in=ids).exclude(pk__in=only_trashed)


def shown_rows(model: type[Row], workspace_ids: Iterable[UUID]) -> QuerySet[Row]:
    """The servers, hosts or workloads of these workspaces that a run has."""
    ids = list(workspace_ids)
    rows: QuerySet[Any] = model._default_manager.filter(workspace__in=ids)
    if model is Host:
        took_part = Q(server_host=OuterRef("pk")) | Q(client_host=OuterRef("pk"))
        return rows.filter(Exists(Run.objects.filter(took_part)))
    of_row = {str(model._meta.model_name): OuterRef("pk")}
    return rows.filter(Exists(shown_series(ids).filter(**of_row)))


def remove_unused_series(workspace_id: UUID) -> None:
    """Delete series without measurements.

    Servers, workloads and hosts stay: with them their colours and addresses, should the change be
    undone. Call it with the names locked exclusively, so that no recording takes a series that is
    about to go.
    """
    measured = Cell.objects.filter(series=OuterRef("pk"))
    Series.objects.filter(~Exists(measured), workspace=workspace_id).delete()


def remove_unused(workspace_id: UUID) -> None:
    """Delete series, servers, workloads and hosts without measurements. Lock as above."""
    remove_unused_series(workspace_id)
    for model, name in ((Server, "server"), (Workload, "workload")):
        series = Series.objects.filter(**{name: OuterRef("pk")})
        model._default_manager.filter(~Exists(series), workspace=workspace_id).delete()
    is_host = Q(server_host=OuterRef("pk")) | Q(client_host=OuterRef("pk"))
    used = Exists(Series.objects.filter(is_host)) | Exists(Run.with_trash.filter(is_host))
    Host.objects.filter(~used, workspace=workspace_id).delete()
