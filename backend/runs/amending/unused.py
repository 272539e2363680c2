"""Rows of the registry that nothing is measured of any more: links must not offer their values."""

from uuid import UUID

from django.db.models import Exists, OuterRef, Q

from backend.runs.models import Cell, Host, Run, Series, Server, Workload


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
