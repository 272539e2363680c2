"""Who may do what: users, workspaces, memberships and tokens."""

from __future__ import annotations

import uuid

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models import F
from django.utils import timezone

from backend.accounts import token_format
from backend.stats.thresholds import LEAST_TRIALS, RELEVANT_SHARE


class User(AbstractUser):
    """A person who signs in. The id is a UUID so that it never tells how many there are."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)


class Workspace(models.Model):
    """The tenant: everything measured belongs to exactly one."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    slug = models.SlugField(unique=True, max_length=60)
    name = models.CharField(max_length=120)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    # Differences smaller than this share are not worth a reader's time (the *relevant* flag).
    relevant_share = models.FloatField(default=RELEVANT_SHARE)
    min_trials = models.PositiveSmallIntegerField(default=LEAST_TRIALS)
    # Raised with every change of what a comparison here can show, in the same transaction:
    # an answer that is kept under this number is right, or not found.
    data_version = models.BigIntegerField(default=0, editable=False)
    # Which facts of the hosts must match (ids of the comparison's factors). None: the workspace
    # chose nothing, and the comparison's defaults hold.
    must_match = models.JSONField(null=True, blank=True, default=None)

    class Meta:
        ordering = ["slug"]

    def __str__(self) -> str:
        return self.slug

    def changed(self) -> None:
        """Say that what comparisons show has changed: to be called last in the transaction."""
        # The row stays locked until the transaction ends.
        Workspace.objects.filter(pk=self.pk).update(data_version=F("data_version") + 1)


class Role(models.TextChoices):
    VIEWER = "viewer"
    MEMBER = "member"
    OWNER = "owner"


class Membership(models.Model):
    """A user's role in a workspace."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role.choices, default=Role.MEMBER)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "workspace"], name="one_role_per_workspace")
        ]

    def __str__(self) -> str:
        return f"{self.user} is {self.role} of {self.workspace}"


class TokenKind(models.TextChoices):
    AGENT = "agent"
    LINK = "link"  # a one-time sign-in link


class Token(models.Model):
    """A credential of one workspace. Only its HMAC is stored; the clear text is shown once."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    kind = models.CharField(max_length=10, choices=TokenKind.choices)
    name = models.CharField(max_length=120, default="")
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="tokens")
    # Whom a sign-in link signs in; who made an agent token.
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="tokens", null=True)
    scopes = models.JSONField(default=list)
    lookup = models.CharField(max_length=8, db_index=True)
    digest = models.BinaryField(max_length=32)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True)
    used_at = models.DateTimeField(null=True)

    # Of its maker, now; set by tokens.find.
    maker_role: str | None
    maker_is_active: bool

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.kind} token {self.name or self.lookup}"

    def matches(self, clear: str) -> bool:
        """Whether `clear` is this token, compared in constant time."""
        return token_format.same_digest(bytes(self.digest), clear)

    @property
    def is_expired(self) -> bool:
        return self.expires_at <= timezone.now()
