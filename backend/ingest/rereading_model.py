"""The record of one reading of an upload again."""

from django.db import models
from django.utils import timezone


class Rereading(models.Model):
    """One reading of an upload again, with another parser: what it changed, or why it did not."""

    upload = models.ForeignKey("Upload", on_delete=models.CASCADE, related_name="rereadings")
    read_at = models.DateTimeField(default=timezone.now)
    from_version = models.CharField(max_length=40)
    to_version = models.CharField(max_length=40)
    # [{"ordinal", "figure", "before", "after"}, …]
    changes = models.JSONField(default=list)
    # The new parser's words where it reads nothing: then the old reading stays.
    refused = models.TextField(default="")
    # How the parser ended before it answered (memory, CPU time, a crash, a kill); the old reading
    # stays, and nothing is known of what the parser would have read.
    stopped = models.TextField(default="", db_default="")

    class Meta:
        ordering = ["-read_at"]

    def __str__(self) -> str:
        return f"{self.upload_id} read by {self.to_version}"

    @property
    def outcome(self) -> str:
        """In one word: refused, stopped, changed or unchanged."""
        if self.refused:
            return "refused"
        if self.stopped:
            return "stopped"
        return "changed" if self.changes else "unchanged"
