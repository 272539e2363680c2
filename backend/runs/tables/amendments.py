"""What members say of recorded results: dismissals, names, corrections.

It lies over the results and never replaces what was uploaded. What was undone stays as history.
"""

import uuid

from django.db import models
from django.utils import timezone

from backend.accounts.models import User, Workspace


class Dismissal(models.Model):
    """A member's statement that a check's finding in a run is no caveat, with the reason.

    It is shown wherever the finding is shown. The row of an undone dismissal stays as a record.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    run = models.ForeignKey("runs.Run", on_delete=models.CASCADE, related_name="dismissals")
    check_id = models.CharField(max_length=60)
    reason = models.CharField(max_length=500)
    author = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    dismissed_at = models.DateTimeField(default=timezone.now)
    undone_at = models.DateTimeField(null=True)
    undone_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        ordering = ["dismissed_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["run", "check_id"],
                condition=models.Q(undone_at=None),
                name="one_dismissal_of_a_check",
            )
        ]

    def __str__(self) -> str:
        return f"{self.check_id} of {self.run}"


class FormerName(models.Model):
    """A name that a server, host or workload had. Links and uploads may still use it.

    `current` is today's name, never another former name. A name that was given back points at
    itself: the first row of a server, host or workload holds the name it was first measured under.
    """

    class Kind(models.TextChoices):
        SERVER = "server"
        HOST = "host"
        WORKLOAD = "workload"

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    former = models.CharField(max_length=200)
    current = models.CharField(max_length=200)
    renamed_at = models.DateTimeField(default=timezone.now)
    author = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "kind", "former"], name="former_name_of_one_thing"
            )
        ]
        indexes = [models.Index(fields=["workspace", "kind", "current"], name="former_by_current")]

    def __str__(self) -> str:
        return f"{self.former}, now {self.current}"


class Correction(models.Model):
    """One field of a run, or of some of its trials, that a member set to another value (0027)."""

    class Field(models.TextChoices):
        SERVER = "server", "Server"
        VERSION = "version", "Version"
        WORKLOAD = "workload", "Workload"
        SERVER_HOST = "server_host", "Server host"
        CLIENT_HOST = "client_host", "Client host"
        STARTED_AT = "started_at", "Started"
        LABELS = "labels", "Labels"
        NOTES = "notes", "Notes"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    run = models.ForeignKey("runs.Run", on_delete=models.CASCADE, related_name="corrections")
    field = models.CharField(max_length=12, choices=Field.choices)
    # Of the corrected trials; null: all trials of the run, also those that come later.
    ordinals = models.JSONField(null=True)
    # The values that it replaced, each once; null among them is unknown.
    before = models.JSONField(default=list)
    # The value that was set; null: unknown.
    value = models.JSONField(null=True)
    # Identity fields of the host or workload of that name, taken over with the name.
    facts = models.JSONField(default=dict)
    author = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    made_at = models.DateTimeField(default=timezone.now)
    undone_at = models.DateTimeField(null=True)
    undone_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        ordering = ["made_at", "pk"]

    def __str__(self) -> str:
        return f"{self.field} of {self.run}"


class Merge(models.Model):
    """A member's statement that two names mean one server, host or workload."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+")
    kind = models.CharField(max_length=10, choices=FormerName.Kind.choices)
    # Everything of the name `source` got the name `target`.
    source = models.CharField(max_length=200)
    target = models.CharField(max_length=200)
    # The rows that were replaced: [{"id", "fields", "slot", "into"}, …]. Their addresses lead on.
    rows = models.JSONField(default=list)
    # {"led": former names that led to the source, "own": what the source led to, or null}.
    former_names = models.JSONField(default=dict)
    author = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    merged_at = models.DateTimeField(default=timezone.now)
    undone_at = models.DateTimeField(null=True)
    undone_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        ordering = ["-merged_at"]
        indexes = [models.Index(fields=["workspace", "kind"], name="merge_by_kind")]

    def __str__(self) -> str:
        return f"{self.source} into {self.target}"
