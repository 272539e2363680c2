"""Channels that messages go to, and the messages. The Delivery row is the queue."""

import uuid
from urllib.parse import urlsplit

from django.db import models
from django.utils import timezone

from backend.accounts.models import User, Workspace


class ChannelKind(models.TextChoices):
    MAIL = "mail"
    WEBHOOK = "webhook"
    SLACK = "slack"  # any receiver of Slack's incoming webhooks


class Topic(models.TextChoices):
    ALERTS = "alerts"
    RUNS = "runs"


class Channel(models.Model):
    """Where a workspace's messages go."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="channels")
    author = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    kind = models.CharField(max_length=10, choices=ChannelKind.choices)
    name = models.CharField(max_length=120)
    # An https:// address, or the email address of a member. An address may hold a secret.
    address = models.CharField(max_length=1000)
    # Topics of the messages.
    topics = models.JSONField(default=list)
    # Raised to make another signing secret (signing.py); the secret itself is stored nowhere.
    secret_version = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["name", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["workspace", "name"], name="channel_name_in_workspace")
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def shown_address(self) -> str:
        """What every member may see: of an address on the web, its host only."""
        if self.kind == ChannelKind.MAIL:
            return self.address
        parts = urlsplit(self.address)
        return f"{parts.scheme}://{parts.hostname}/…"


class DeliveryState(models.TextChoices):
    WAITING = "waiting"
    SENDING = "sending"
    DELIVERED = "delivered"
    FAILED = "failed"


class Delivery(models.Model):
    """One message to one channel. States: waiting → sending → delivered | failed."""

    # The receiver's id of the message: equal for every attempt.
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+")
    channel = models.ForeignKey(Channel, on_delete=models.CASCADE, related_name="deliveries")
    # Such as alert.new.
    event = models.CharField(max_length=40)
    subject = models.CharField(max_length=300)
    # Plain text for people, and the address of the page that shows more.
    text = models.TextField()
    link = models.CharField(max_length=2000)
    # For programs.
    data = models.JSONField(default=dict)
    state = models.CharField(
        max_length=10, choices=DeliveryState.choices, default=DeliveryState.WAITING
    )
    # [{"at", "status", "reason", "seconds"}, …]: what became of each attempt; of one that did not
    # end, it is written at the next claim. Null is unknown.
    attempts = models.JSONField(default=list)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    retry_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True)
    lease_until = models.DateTimeField(null=True)
    # Raised at each claim: a worker whose lease ran out can no longer write (fencing).
    fence = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["-created_at", "-pk"]
        indexes = [
            models.Index(
                fields=["retry_at"],
                name="delivery_due",
                condition=models.Q(state__in=["waiting", "sending"]),
            ),
            models.Index(fields=["channel", "-created_at"], name="delivery_by_channel"),
        ]

    def __str__(self) -> str:
        return f"{self.event} to {self.channel_id}: {self.state}"

    @property
    def last_reason(self) -> str:
        """Why the last attempt failed; empty before it and after a success."""
        return str(self.attempts[-1]["reason"]) if self.attempts else ""
