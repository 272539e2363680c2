"""When each part was last heard of, what the integrity checks said, what became of backups."""

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
    # False: rows were counted, as every hour, and the storage was not asked.
    is_complete = models.BooleanField(default=True, db_default=True)
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

    @property
    def kind(self) -> str:
        """What was checked: `rows`, or `all` with the stored bytes."""
        return "all" if self.is_complete else "rows"

    @property
    def sentence(self) -> str:
        """What is wrong, without names; empty where everything is accounted for."""
        if self.reason:
            return "the integrity checks could not end"
        if not self.problem_count:
            return ""
        return f"the integrity checks found {self.problem_text}"

    @property
    def problem_text(self) -> str:
        """`1 problem`, `12 problems`."""
        return f"{self.problem_count} problem{'' if self.problem_count == 1 else 's'}"


class BackupReport(models.Model):
    """What became of one `manage.py backup`."""

    at = models.DateTimeField(default=timezone.now)
    # Why there is no backup; empty: it was made.
    reason = models.TextField(default="")
    seconds = models.FloatField()
    # What was wrong when it was restored to try it; empty: nothing; null: it was not tried.
    restore_problem = models.TextField(null=True)  # noqa: DJ001  unknown is null

    class Meta:
        ordering = ["-at", "-pk"]

    def __str__(self) -> str:
        return f"backup at {self.at}"


def newest_reports() -> list[IntegrityReport]:
    """Those that tell the state: the last complete one, and the last of rows alone if it is newer.

    The newest is first.
    """
    reports = IntegrityReport.objects.all()
    complete = reports.filter(is_complete=True).first()
    rows = reports.filter(is_complete=False).first()
    if complete and rows and rows.at <= complete.at:
        rows = None
    return [report for report in (rows, complete) if report]
