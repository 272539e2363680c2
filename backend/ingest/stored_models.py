"""The models of stored bytes: small contents, the sums of a workspace, and parts that wait."""

import uuid

from django.db import models
from django.utils import timezone

from backend.accounts.models import Workspace


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


class Part(models.Model):
    """A numbered part of an artefact whose upload is still on its way."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+")
    # Of the upload that will be: its row is written once everything is there.
    upload_id = models.UUIDField()
    artefact_sha256 = models.CharField(max_length=64)
    number = models.PositiveIntegerField()
    # Of the part; empty until its bytes are durable. Its size is known before.
    sha256 = models.CharField(max_length=64, default="")
    size_bytes = models.BigIntegerField(default=0)
    begun_at = models.DateTimeField(default=timezone.now, db_index=True)

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "upload_id", "artefact_sha256", "number"],
                condition=~models.Q(sha256=""),
                name="part_once",
            )
        ]
        indexes = [models.Index(fields=["workspace", "upload_id"], name="part_of_upload")]

    def __str__(self) -> str:
        return f"part {self.number} of {self.artefact_sha256[:12]}"
