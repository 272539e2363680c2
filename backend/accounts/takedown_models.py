"""What staff took down, and what people reported. `models` imports both."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.utils import timezone


class Thing(models.TextChoices):
    """What is public under an address of its own."""

    WORKSPACE = "workspace"
    RESULT_SET = "result set"
    RUN = "run"


class Takedowns(models.QuerySet["Takedown"]):
    def active(self) -> Takedowns:
        """Those that were not lifted."""
        return self.filter(lifted_at=None)

    def of_kind(self, kind: Thing) -> models.QuerySet[Takedown, uuid.UUID]:
        """The ids of the things of one kind."""
        return self.filter(kind=kind).values_list("thing_id", flat=True)


class Takedown(models.Model):
    """Staff closed something public to people outside its workspace, until it is lifted.

    A workspace that is taken down takes its result sets and shared runs with it. No foreign key to
    the thing: reading an upload again writes the row of its run anew.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    workspace = models.ForeignKey(
        "accounts.Workspace", on_delete=models.CASCADE, related_name="takedowns"
    )
    kind = models.CharField(max_length=20, choices=Thing.choices)
    thing_id = models.UUIDField()
    # Readers see it.
    reason = models.CharField(max_length=500)
    # Readers get 451 and not 410.
    is_legal = models.BooleanField("for legal reasons", default=False)
    at = models.DateTimeField(default=timezone.now, editable=False)
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    lifted_at = models.DateTimeField(null=True)
    lifted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )

    objects = Takedowns.as_manager()

    class Meta:
        ordering = ["-at", "-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["kind", "thing_id"],
                condition=models.Q(lifted_at=None),
                name="taken_down_once",
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.thing_id}"


class Report(models.Model):
    """Somebody says that something public should not be. Who it was is known by `email` only."""

    class Reason(models.TextChoices):
        PERSONAL = "personal", "It shows personal or secret data"
        ILLEGAL = "illegal", "It breaks the law"
        COPYRIGHT = "copyright", "It breaks a copyright or a trademark"
        ABUSE = "abuse", "It insults or threatens somebody"
        SPAM = "spam", "It is spam or advertising"
        FALSE = "false", "Its figures are made up"
        OTHER = "other", "Something else"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    workspace = models.ForeignKey("accounts.Workspace", on_delete=models.CASCADE, related_name="+")
    kind = models.CharField(max_length=20, choices=Thing.choices)
    thing_id = models.UUIDField()
    # The path of the page that was reported.
    page = models.CharField(max_length=2000)
    reason = models.CharField(max_length=20, choices=Reason.choices)
    text = models.TextField(blank=True, default="")
    email = models.EmailField(blank=True, default="")
    at = models.DateTimeField(default=timezone.now, editable=False)
    closed_at = models.DateTimeField(null=True)
    closed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    takedown = models.ForeignKey(
        Takedown, null=True, on_delete=models.SET_NULL, related_name="reports"
    )

    class Meta:
        ordering = ["-at", "-pk"]

    def __str__(self) -> str:
        return f"report of {self.kind} {self.thing_id}"
