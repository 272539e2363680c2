"""Rules, the alerts that they raise, and who said what of an alert when."""

import uuid

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils import timezone

from backend.accounts.models import User, Workspace
from backend.runs.models import Run
from backend.sharing.models import SavedView


class RuleKind(models.TextChoices):
    REGRESSION = "regression"
    ERROR_RATE = "error_rate"
    NOISY_HOST = "noisy_host"
    SILENT_AGENT = "silent_agent"


class AlertRule(models.Model):
    """What to watch. `view` and `label` choose the runs; `threshold` is for all but regressions."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="alert_rules")
    author = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    name = models.CharField(max_length=120)
    kind = models.CharField(max_length=12, choices=RuleKind.choices)
    # Null: not used by this kind, or deleted since. A rule without its view watches nothing.
    view = models.ForeignKey(SavedView, null=True, on_delete=models.SET_NULL, related_name="+")
    # Such as branch:main; empty: every run of the view.
    label = models.CharField(max_length=300, default="", blank=True)
    # Of a regression: which metrics.
    metrics = models.JSONField(default=list)
    # Error rate and noise: a share; silent agent: hours. Null for regressions, which are judged by
    # the noise and the workspace's relevant difference.
    threshold = models.FloatField(null=True)
    is_enabled = models.BooleanField(default=True)
    # Not used any more: an accepted level belongs to a series. The next version drops it.
    baseline_since = models.DateTimeField(null=True)
    # Why it could not be evaluated the last time; empty: it could.
    problem = models.TextField(default="", blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["name", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["workspace", "name"], name="rule_name_in_workspace")
        ]

    def __str__(self) -> str:
        return self.name


class AlertState(models.TextChoices):
    UNCONFIRMED = "unconfirmed"  # seen once; nobody was told
    NEW = "new"
    ACKNOWLEDGED = "acknowledged"
    FIXED = "fixed"
    NOT_A_REGRESSION = "not_a_regression"


OPEN_STATES = (AlertState.UNCONFIRMED, AlertState.NEW, AlertState.ACKNOWLEDGED)
# What a member may say of an alert.
SAID_STATES = (AlertState.ACKNOWLEDGED, AlertState.FIXED, AlertState.NOT_A_REGRESSION)


class Alert(models.Model):
    """Something that a rule noticed, from its first sight until it ended."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="alerts")
    rule = models.ForeignKey(AlertRule, on_delete=models.CASCADE, related_name="alerts")
    # Names the series and metric, the host or the agent.
    subject = models.CharField(max_length=200)
    state = models.CharField(
        max_length=16, choices=AlertState.choices, default=AlertState.UNCONFIRMED
    )
    text = models.TextField()
    # Figures behind the text, as the API gives them. Null is unknown.
    data = models.JSONField(default=dict)
    # The last run before it, the first that showed it, and the last that did.
    before_run = models.ForeignKey(Run, null=True, on_delete=models.SET_NULL, related_name="+")
    first_run = models.ForeignKey(Run, null=True, on_delete=models.SET_NULL, related_name="+")
    last_run = models.ForeignKey(Run, null=True, on_delete=models.SET_NULL, related_name="+")
    # The first run that did not show it any more; a second one ends the alert.
    recovered_run = models.ForeignKey(Run, null=True, on_delete=models.SET_NULL, related_name="+")
    seen_at = models.DateTimeField(default=timezone.now, editable=False)
    confirmed_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-seen_at", "-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["rule", "subject"],
                condition=Q(state__in=["unconfirmed", "new", "acknowledged"]),
                name="one_open_alert_of_a_subject",
            )
        ]
        indexes = [
            models.Index(fields=["workspace", "-seen_at"], name="alert_by_workspace"),
            models.Index(fields=["workspace", "state", "-seen_at"], name="alert_by_state"),
        ]

    def __str__(self) -> str:
        return self.text

    @property
    def is_open(self) -> bool:
        return self.state in OPEN_STATES


class AlertChange(models.Model):
    """A state that an alert got: by whom (null: by Loadsheet), when and why."""

    alert = models.ForeignKey(Alert, on_delete=models.CASCADE, related_name="changes")
    state = models.CharField(max_length=16, choices=AlertState.choices)
    by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    # Kept beside `by`, because the account may be deleted; empty: Loadsheet itself.
    by_name = models.CharField(max_length=150, default="", blank=True)
    note = models.TextField(default="", blank=True)
    at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["at", "pk"]

    def __str__(self) -> str:
        return f"{self.state} by {self.by_name or 'Loadsheet'}"


class PendingRun(models.Model):
    """A run that the rules have not judged yet: written with the run, deleted when it is judged."""

    run = models.OneToOneField(Run, primary_key=True, on_delete=models.CASCADE, related_name="+")
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+")
    due_at = models.DateTimeField(default=timezone.now, db_index=True)
    # Since a view was last judged. Counted at the claim, because judging may end the worker.
    attempts = models.PositiveSmallIntegerField(default=0)
    # Raised at each claim: a worker whose lease ran out can no longer write (fencing).
    fence = models.PositiveIntegerField(default=0, db_default=0)
    # Until when a worker judges it.
    lease_until = models.DateTimeField(null=True)
    # The ids of the rules that judged it already; null: none.
    judged = ArrayField(models.UUIDField(), null=True)
    # Whether the channels for runs have their message.
    is_announced = models.BooleanField(default=False)

    class Meta:
        ordering = ["due_at"]

    def __str__(self) -> str:
        return f"{self.run_id} to be judged"
