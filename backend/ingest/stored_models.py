"""What is stored of the bytes themselves, and how many they are."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from backend.accounts.models import Workspace


class SmallContent(models.Model):
    """The bytes of a small artefact, which need no file (storage/rows.py)."""

    sha256 = models.CharField(max_length=64, primary_key=True)
    content = models.BinaryField()
    size_bytes = models.PositiveIntegerField()
    stored_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return self.sha256


class StoredBytes(models.Model):
    """A share of what a workspace stores and of its uploads today; the shares make up the sums
    (quota).
    """

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+")
    share = models.PositiveSmallIntegerField()
    # Below 0 where more was deleted from this row than added to it.
    size_bytes = models.BigIntegerField()
    # Received on `day` (UTC), the last day on which this row was written.
    uploads = models.PositiveIntegerField(default=0, db_default=0)
    day = models.DateField(null=True)

    class Meta:
        ordering = ["share"]
        constraints = [
            models.UniqueConstraint(fields=["workspace", "share"], name="stored_bytes_per_share")
        ]

    def __str__(self) -> str:
        return f"{self.size_bytes} bytes of {self.workspace_id}"
