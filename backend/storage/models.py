"""The table of small artefacts."""

from django.db import models
from django.utils import timezone


class SmallContent(models.Model):
    """The bytes of a small artefact, which need no file (storage/rows.py)."""

    sha256 = models.CharField(max_length=64, primary_key=True)
    content = models.BinaryField()
    size_bytes = models.PositiveIntegerField()
    stored_at = models.DateTimeField(default=timezone.now)

    class Meta:
        # Its migrations are there, and the storage is no application.
        app_label = "ingest"

    def __str__(self) -> str:
        return self.sha256
