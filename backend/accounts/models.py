"""Who may do what: users, workspaces, memberships and tokens."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models import F
from django.utils import timezone

from backend.accounts.credentials.stored_token import StoredToken
from backend.accounts.takedown_models import Takedown, Thing
from backend.email_address import validate_address
from backend.stats.thresholds import LEAST_TRIALS, RELEVANT_SHARE


class AddressField(models.EmailField):  # type: ignore[type-arg]  # no generic at run time
    """An email address that somebody gave. The column is that of an EmailField, so migrations know
    no other.
    """

    default_validators = [validate_address]

    def deconstruct(self) -> tuple[str, str, Sequence[Any], dict[str, Any]]:
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.EmailField", args, kwargs


class User(AbstractUser):
    """A person who signs in. The id is a UUID so that it does not reveal how many there are."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    email = AddressField("email address", blank=True)


class Workspaces(models.QuerySet["Workspace"]):
    def public(self) -> Workspaces:
        """Those that everybody may read: public, and not taken down by the staff."""
        return self.standing().filter(is_public=True, deleted_at=None)

    def standing(self) -> Workspaces:
        """Those that the staff did not take down."""
        return self.exclude(pk__in=Takedown.objects.active().of_kind(Thing.WORKSPACE))


class Workspace(models.Model):
    """The tenant: everything measured belongs to exactly one."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    slug = models.SlugField(max_length=60)
    name = models.CharField(max_length=120)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    # Differences smaller than this share are not worth a reader's time (the *relevant* flag).
    relevant_share = models.FloatField(default=RELEVANT_SHARE)
    min_trials = models.PositiveSmallIntegerField(default=LEAST_TRIALS)
    # Everyone may read a public workspace; only its members may change it.
    is_public = models.BooleanField(default=False)
    # Raised with every change of what a comparison here can show, in the same transaction:
    # an answer that is kept under this number is right, or not found.
    data_version = models.BigIntegerField(default=0, editable=False)
    # Which facts of the hosts must match (ids of the comparison's factors). None: the workspace
    # chose nothing, and the comparison's defaults hold.
    must_match = models.JSONField(null=True, blank=True, default=None)
    # Days that raw output is kept after it was received (ingest/removing/retention.py).
    # None: for ever.
    raw_kept_days = models.PositiveIntegerField(null=True, blank=True)
    # Deleted for good: nobody is a member any more, and its data are being removed.
    deleted_at = models.DateTimeField(null=True, editable=False)

    objects = Workspaces.as_manager()

    class Meta:
        ordering = ["slug"]
        constraints = [
            # The condition is true of every row that has an address. With it PostgreSQL does not
            # take the address for a key that others refer to: a new address, and a deletion, need
            # not wait for the uploads under way.
            models.UniqueConstraint(
                fields=["slug"], condition=~models.Q(slug=""), name="workspace_by_slug"
            )
        ]

    def __str__(self) -> str:
        return self.slug

    def changed(self) -> None:
        """Say that what comparisons show has changed: to be called last in the transaction."""
        # The row stays locked until the transaction ends.
        Workspace.objects.filter(pk=self.pk).update(data_version=F("data_version") + 1)


class Quota(models.Model):
    """What the operator allows one workspace. Null: the limit of the service (quotas.py)."""

    workspace = models.OneToOneField(
        Workspace, on_delete=models.CASCADE, primary_key=True, related_name="quota"
    )
    uploads_per_day = models.PositiveBigIntegerField(null=True)
    stored_bytes = models.PositiveBigIntegerField(null=True)
    members = models.PositiveBigIntegerField(null=True)
    # Uploads that are read at the same time.
    reads = models.PositiveBigIntegerField(null=True)

    def __str__(self) -> str:
        return f"quota of {self.workspace}"


class FormerSlug(models.Model):
    """The slug that a renamed workspace had: links with it lead on to the workspace."""

    slug = models.SlugField(unique=True, max_length=60)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="former_slugs")

    def __str__(self) -> str:
        return f"{self.slug} is now {self.workspace}"


class Role(models.TextChoices):
    """What a member may do, in rising order: each role may do all that those before it may."""

    VIEWER = "viewer"  # reads
    MEMBER = "member"  # uploads, shares and corrects
    ADMIN = "admin"  # changes the settings, invites and removes members
    OWNER = "owner"  # appoints and removes owners


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


class WorkTurn(models.Model):
    """When a payer's work of a kind comes again (workspace/turns.py); without a row, first."""

    # Such as "archive user 7".
    key = models.CharField(max_length=80, primary_key=True)
    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.key}: {self.at}"


class Invitation(StoredToken):
    """A link by which one person joins a workspace."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="invitations")
    role = models.CharField(max_length=10, choices=Role.choices)
    # Whom it was sent to; empty if the link is handed over by other means.
    email = models.EmailField(blank=True, default="")
    made_by = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True)
    used_at = models.DateTimeField(null=True)
    used_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"invitation to {self.workspace} as {self.role}"


class HeldMessage(models.Model):
    """A mail that was not sent, because the service has no mail server."""

    to = models.CharField(max_length=500)
    subject = models.CharField(max_length=200)
    body = models.TextField()
    # The workspace that it is about: the message is deleted with it.
    workspace = models.ForeignKey(Workspace, null=True, on_delete=models.CASCADE, related_name="+")
    kept_at = models.DateTimeField(default=timezone.now, db_index=True)

    class Meta:
        ordering = ["-kept_at", "-pk"]

    def __str__(self) -> str:
        return f"{self.subject} to {self.to}"


class TokenKind(models.TextChoices):
    AGENT = "agent"
    API = "api"  # of a script or a build
    LINK = "link"  # a one-time sign-in link


# The kinds that a request may carry in its Authorization header.
BEARER_KINDS = (TokenKind.AGENT, TokenKind.API)


class Token(StoredToken):
    """A credential of one workspace. The clear text is shown once."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    kind = models.CharField(max_length=10, choices=TokenKind.choices)
    name = models.CharField(max_length=120, default="")
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="tokens")
    # Whom a sign-in link signs in; who made an agent token.
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="tokens", null=True)
    # The token whose request made this one: revoking that one revokes this one too.
    made_by = models.ForeignKey("self", on_delete=models.SET_NULL, related_name="made", null=True)
    scopes = models.JSONField(default=list)
    # Networks (CIDR) that it is accepted from; empty: from everywhere.
    networks = models.JSONField(default=list)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    # None: it never expires.
    expires_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)
    # When a secret scanner reported that it was published; it is revoked then too.
    leaked_at = models.DateTimeField(null=True)
    used_at = models.DateTimeField(null=True)

    # Of its maker, now; set by tokens.find.
    maker_role: str | None
    maker_is_active: bool

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.kind} token {self.name or self.lookup}"

    @property
    def is_expired(self) -> bool:
        return self.expires_at is not None and self.expires_at <= timezone.now()


class WorkspaceLink(StoredToken):
    """A link by which everyone who has it reads a workspace, until it is revoked."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="links")
    made_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"link to {self.workspace}"


class Act(models.TextChoices):
    """What the audit log records."""

    TOKEN_CREATED = "token.created", "Token created"
    TOKEN_REVOKED = "token.revoked", "Token revoked"
    TOKEN_LEAKED = "token.leaked", "Token reported as published"
    INVITATION_CREATED = "invitation.created", "Invitation created"
    INVITATION_REVOKED = "invitation.revoked", "Invitation revoked"
    MEMBER_JOINED = "member.joined", "Member joined"
    MEMBER_ROLE = "member.role", "Role changed"
    MEMBER_REMOVED = "member.removed", "Member removed"
    MEMBER_LEFT = "member.left", "Member left"
    WORKSPACE_CREATED = "workspace.created", "Workspace created"
    WORKSPACE_RENAMED = "workspace.renamed", "Workspace renamed"
    WORKSPACE_SETTINGS = "workspace.settings", "Settings changed"
    WORKSPACE_VISIBILITY = "workspace.visibility", "Visibility of the workspace changed"
    WORKSPACE_QUOTA = "workspace.quota", "Quota changed"
    WORKSPACE_DELETED = "workspace.deleted", "Workspace deleted"
    EXPORT_REQUESTED = "export.requested", "Archive of the workspace requested"
    EXPORT_DOWNLOADED = "export.downloaded", "Archive of the workspace downloaded"
    EXPORT_DELETED = "export.deleted", "Archive of the workspace deleted"
    WORKSPACE_IMPORTED = "workspace.imported", "Workspace imported from an archive"
    RUN_TRASHED = "run.trashed", "Run moved to the trash"
    RUN_RESTORED = "run.restored", "Run restored"
    RUN_DELETED = "run.deleted", "Run deleted for good"
    RUN_VISIBILITY = "run.visibility", "Visibility of a run changed"
    RUN_LINK_REVOKED = "run.link_revoked", "Link of a run revoked"
    RAW_OUTPUT_REMOVED = "raw_output.removed", "Raw output removed, as the settings say"
    MERGE_MADE = "merge.made", "Names merged"
    MERGE_UNDONE = "merge.undone", "Merge undone"
    SHARE_CREATED = "share.created", "Result set created"
    SHARE_CHANGED = "share.changed", "Result set changed"
    SHARE_VISIBILITY = "share.visibility", "Visibility of a result set changed"
    SHARE_SUPERSEDED = "share.superseded", "Result set superseded"
    SHARE_WITHDRAWN = "share.withdrawn", "Result set withdrawn"
    SHARE_REVOKED = "share.revoked", "Link of a result set revoked"
    VIEW_DELETED = "view.deleted", "Saved view deleted"
    ALERT_RULE_DELETED = "alert_rule.deleted", "Alert rule deleted"
    CHANNEL_CREATED = "channel.created", "Channel created"
    CHANNEL_DELETED = "channel.deleted", "Channel deleted"
    CHANNEL_SECRET = "channel.secret", "Secret of a channel renewed"
    FEED_TOKEN_CREATED = "feed_token.created", "Feed token created"
    FEED_TOKEN_REVOKED = "feed_token.revoked", "Feed token revoked"
    STAFF_ACCESS = "staff.access", "Staff opened the workspace"
    STAFF_MESSAGES = "staff.messages", "Staff read the messages that were not sent"
    STAFF_ACCOUNT = "staff.account", "Staff closed or opened an account"
    STAFF_TAKEDOWN = "staff.takedown", "Staff took down what was public"
    STAFF_RESTORED = "staff.restored", "Staff restored what they had taken down"
    ACCOUNT_EXPORTED = "account.exported", "Data of an account downloaded by its owner"
    ACCOUNT_ERASED = "account.erased", "Account erased by its owner"


class AuditEvent(models.Model):
    """One act: who did what, when, from where. A trigger refuses to change or delete it.

    It holds ids and names of that day and no foreign keys, so that no deletion changes an event.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    at = models.DateTimeField(default=timezone.now, editable=False)
    act = models.CharField(max_length=40)  # an Act
    workspace_id = models.UUIDField(null=True)
    # None and "": the service itself, or a command of its operator.
    actor_id = models.UUIDField(null=True)
    actor_name = models.CharField(max_length=200, default="")
    token_id = models.UUIDField(null=True)
    token_name = models.CharField(max_length=120, default="")
    address = models.GenericIPAddressField(null=True)
    # What was acted on: the name of a token, a person, a run's id, the title of a result set.
    subject = models.CharField(max_length=200, default="")
    subject_id = models.UUIDField(null=True)
    detail = models.JSONField(default=dict)

    class Meta:
        ordering = ["-at", "-pk"]
        indexes = [
            models.Index(fields=["workspace_id", "-at", "-id"], name="audit_of_workspace"),
            models.Index(fields=["workspace_id", "act", "-at", "-id"], name="audit_of_act"),
            # Copied beside the backups once a minute (config/recovery/deletions.py).
            models.Index(
                fields=["at"],
                condition=models.Q(act__in=["account.erased", "run.deleted", "workspace.deleted"]),
                name="audit_of_removals",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.act} {self.subject}"

    @property
    def label(self) -> str:
        """The act in words."""
        return Act(self.act).label


class StaffAccess(models.Model):
    """For how long a member of the staff may read a workspace that is not theirs."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="staff_accesses")
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+")
    reason = models.CharField(max_length=500)
    opened_at = models.DateTimeField(default=timezone.now, editable=False)
    expires_at = models.DateTimeField()

    class Meta:
        ordering = ["-opened_at"]
        verbose_name_plural = "staff accesses"

    def __str__(self) -> str:
        return f"{self.user} may read {self.workspace} until {self.expires_at:%Y-%m-%d %H:%M}"
