"""When each part of the service was last heard of, and what the integrity checks said."""

from django.db import models
from django.utils import timezone


class Heartbeat(models.Model):
    """The last heartbeat of a process, or of the canary, by the database's clock."""

    # The part, and the machine where several may run: worker@bench-1.
    name = models.CharField(primary_key=True, max_length=160)
    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.name} at {self.at}"


class IntegrityReport(models.Model):
    """The outcome of one run of the integrity checks."""

    at = models.DateTimeField(default=timezone.now)
    # [{"name", "count", "problem_count", "problems"}, …]: a line for each check.
    lines = models.JSONField(default=list)
    # Why the checks could not end; empty: they did.
    reason = models.TextField(default="")
    seconds = models.FloatField()

    class Meta:
        ordering = ["-at", "-pk"]

    def __str__(self) -> str:
        return f"integrity at {self.at}"

    @property
    def problem_count(self) -> int:
        return sum(line["problem_count"] for line in self.lines)
