"""Exports: an archive of a workspace that is asked for, being written, or kept for some days."""

import uuid
from datetime import datetime, timedelta

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from backend.accounts.models import User, Workspace


class ExportState(models.TextChoices):
    WAITING = "waiting"
    WRITING = "writing"
    DONE = "done"
    FAILED = "failed"


UNFINISHED = (ExportState.WAITING, ExportState.WRITING)


class Export(models.Model):
    """One archive of a workspace. States: waiting → writing → done | failed."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="exports")
    author = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    state = models.CharField(
        max_length=10, choices=ExportState.choices, default=ExportState.WAITING
    )
    requested_at = models.DateTimeField(default=timezone.now, editable=False)
    finished_at = models.DateTimeField(null=True)
    # Rows and raw files that are written, and how many files there are; null: not counted yet.
    rows_done = models.PositiveBigIntegerField(default=0)
    files_done = models.PositiveIntegerField(default=0)
    files_total = models.PositiveIntegerField(null=True)
    # Of the archive in the storage; empty and null until it is done.
    sha256 = models.CharField(max_length=64, default="", blank=True)
    size_bytes = models.BigIntegerField(null=True)
    # Why it failed, or why the last attempt did.
    reason = models.TextField(default="", blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    # When a failed attempt is followed by the next; null: no attempt failed, or one is under way.
    retry_at = models.DateTimeField(null=True)
    lease_until = models.DateTimeField(null=True)
    # Raised at each claim: a worker whose lease ran out can no longer write (fencing).
    fence = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["-requested_at", "-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["workspace"],
                condition=Q(state__in=["waiting", "writing"]),
                name="one_unfinished_export",
            )
        ]
        indexes = [models.Index(fields=["sha256"], name="export_by_sha256")]

    def __str__(self) -> str:
        return f"export of {self.workspace_id}, {self.state}"

    @property
    def expires_at(self) -> datetime | None:
        """When the archive is removed; None before it is done."""
        if self.finished_at is None:
            return None
        return self.finished_at + timedelta(days=settings.EXPORT_KEPT_DAYS)

    @property
    def is_unfinished(self) -> bool:
        return self.state in UNFINISHED
