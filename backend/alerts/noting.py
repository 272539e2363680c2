"""Runs that were read are noted for the alert rules, in the transaction that stores them.

So no run is missed. Every process that stores runs loads this module: it knows models only, and not
what judges.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db.models.functions import Now

from backend.alerts.models import AlertRule, PendingRun
from backend.deliveries.models import Channel, Topic
from backend.runs.models import Run


def note_runs(workspace_id: UUID, run_ids: Sequence[UUID], **_: Any) -> None:
    """Remember that runs of a workspace were read. To be called in the transaction that stored
    them.
    """
    if not _is_watched(workspace_id):
        return
    complete = Run.objects.filter(pk__in=run_ids, is_open=False).values_list("pk", flat=True)
    PendingRun.objects.bulk_create(
        [PendingRun(run_id=run_id, workspace_id=workspace_id, due_at=Now()) for run_id in complete],
        update_conflicts=True,
        unique_fields=["run"],
        update_fields=["due_at", "attempts", "is_announced"],
    )


def _is_watched(workspace_id: UUID) -> bool:
    rules = AlertRule.objects.filter(workspace=workspace_id, is_enabled=True)
    channels = Channel.objects.filter(workspace=workspace_id, topics__contains=[Topic.RUNS.value])
    return rules.exists() or channels.exists()
