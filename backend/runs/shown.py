"""Which series, servers, hosts and workloads lists and links offer: those with measurements.

A row without measurements is kept after a correction, in case it is undone.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet

from backend.runs.models import Host, Run, Series, Server, Workload

Row = TypeVar("Row", bound=Server | Host | Workload)


def shown_rows(model: type[Row], workspace_ids: Iterable[UUID]) -> QuerySet[Row]:
    """The servers, hosts or workloads of these workspaces that a run has."""
    rows: QuerySet[Any] = model._default_manager.filter(workspace__in=list(workspace_ids))
    if model is Host:
        took_part = Q(server_host=OuterRef("pk")) | Q(client_host=OuterRef("pk"))
        return rows.filter(Exists(Run.objects.filter(took_part)))
    of_row = {str(model._meta.model_name): OuterRef("pk")}
    return rows.filter(Exists(Series.objects.filter(**of_row)))
