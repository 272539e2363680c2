"""Runs that were read are noted for the alert rules, in the transaction that stores them.

So no run is missed. Every process that stores runs loads this module: it knows models only, and not
what judges.
"""

import json
from collections.abc import Sequence
from functools import cache
from typing import Any
from uuid import UUID

from django.db import connection
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
        update_fields=["due_at", "attempts", "lease_until", "judged", "is_announced"],
    )


def _is_watched(workspace_id: UUID) -> bool:
    """Asked for every batch of uploads, so in one statement."""
    with connection.cursor() as cursor:
        cursor.execute(_watched(), [workspace_id, workspace_id, json.dumps([Topic.RUNS])])
        (is_watched,) = cursor.fetchone()
    return bool(is_watched)


@cache
def _watched() -> str:
    rules, channels = (
        connection.ops.quote_name(model._meta.db_table) for model in (AlertRule, Channel)
    )
    return f"""
        SELECT EXISTS (SELECT FROM {rules} WHERE workspace_id = %s AND is_enabled)
            OR EXISTS (SELECT FROM {channels} WHERE workspace_id = %s AND topics @> %s::jsonb)
        """  # noqa: S608  names of our own models
