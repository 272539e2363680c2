"""Links that are cited: result sets."""

from __future__ import annotations

import uuid

from django.db import models
from django.utils import timezone

from backend.accounts.models import User, Workspace


class Visibility(models.TextChoices):
    PRIVATE = "private"
    UNLISTED = "unlisted"
    PUBLIC = "public"


class ResultSet(models.Model):
    """A frozen view: canonical JSON bytes that never change, with their SHA-256."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="result_sets")
    author = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    title = models.CharField(max_length=300)
    query = models.TextField(default="")
    visibility = models.CharField(
        max_length=10, choices=Visibility.choices, default=Visibility.PRIVATE
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    # The very bytes of /s/<id>.json: kept as bytes so that no JSON library can reorder them.
    snapshot = models.BinaryField(editable=False)
    sha256 = models.CharField(max_length=64, editable=False)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return self.title
