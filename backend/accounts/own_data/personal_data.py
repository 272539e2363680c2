"""What refers to a person in every table: what an export has, and what erasing the account does.

Two tables decide: RELATIONS for columns that refer to an account, TEXTS for columns that can hold a
person's name or address. A test asks the models, so a new column fails it until it is decided.

What was written in a workspace belongs to it, and others may have changed it since. Of a workspace
that the person is no member of any more, the export has no such texts.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Any

from django.apps import apps
from django.db.models import (
    BooleanField,
    Exists,
    ExpressionWrapper,
    Model,
    OuterRef,
    Q,
    QuerySet,
    Value,
)
from django.utils import timezone

from backend.accounts.models import AuditEvent, Membership, User

# The version of the export: raised when a key is renamed or goes.
VERSION = 1
CHUNK = 1_000


class OnErasure(Enum):
    """What becomes of a row that refers to the erased account."""

    GOES = "deleted"
    FORGETS = "kept without the name"


GOES, FORGETS = OnErasure.GOES, OnErasure.FORGETS


@dataclass(frozen=True, slots=True)
class Relation:
    """A column that refers to an account. `key`: of its rows in the export, empty for none.

    `columns`: those of the export; secrets are not among them. `texts`: those of the columns that
    only a member of the row's workspace gets; for others they are null.
    """

    column: str
    erasure: OnErasure
    key: str
    columns: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()

    @property
    def model(self) -> type[Model]:
        app, model, _ = self.column.split(".")
        return apps.get_model(app, model)

    @property
    def label(self) -> str:
        """The rows in words."""
        return self.key.replace("_", " ")

    @property
    def field(self) -> str:
        return self.column.split(".")[2]

    @property
    def workspace(self) -> str:
        """The path to the workspace of a row; empty where rows are of none."""
        names = {field.name for field in self.model._meta.fields}
        paths = {"workspace": "workspace", "run": "run__workspace", "alert": "alert__workspace"}
        return next((path for name, path in paths.items() if name in names), "")

    def rows_of(self, user: User) -> QuerySet[Any]:
        """The rows that refer to the account, also those in the trash."""
        return self.model._base_manager.filter(**{self.field: user}).order_by("pk")


# The address may be another one by now, so only members get it.
_SLUG = "workspace__slug"
_WORKSPACE = ("workspace_id", _SLUG)
_TOKEN = ("id", "kind", "name", *_WORKSPACE, "scopes", "networks", "created_at")
_TOKEN_ENDS = ("expires_at", "revoked_at", "used_at")
_INVITATION = ("id", *_WORKSPACE, "role", "created_at", "used_at")
_INVITATION_SENT = (*_INVITATION, "email", "revoked_at")
_ADDRESS = ("email", "verified", "primary")
RELATIONS = (
    Relation("account.EmailAddress.user", GOES, "email_addresses", _ADDRESS),
    Relation(
        "mfa.Authenticator.user", GOES, "second_factors", ("type", "created_at", "last_used_at")
    ),
    Relation(
        "usersessions.UserSession.user",
        GOES,
        "sessions",
        ("ip", "user_agent", "created_at", "last_seen_at"),
    ),
    Relation("accounts.Membership.user", GOES, "memberships", (*_WORKSPACE, "role")),
    Relation("accounts.Token.user", GOES, "tokens", (*_TOKEN, *_TOKEN_ENDS), ("name",)),
    Relation(
        "feeds.FeedToken.user",
        GOES,
        "feed_tokens",
        ("id", *_WORKSPACE, "name", "created_at", "used_at"),
        ("name",),
    ),
    Relation(
        "accounts.Invitation.made_by",
        GOES,
        "invitations_sent",
        _INVITATION_SENT,
        ("email",),
    ),
    Relation("accounts.Invitation.used_by", FORGETS, "invitations_used", _INVITATION),
    Relation(
        "accounts.WorkspaceLink.made_by",
        FORGETS,
        "workspace_links",
        ("id", *_WORKSPACE, "created_at", "revoked_at"),
    ),
    Relation(
        "accounts.StaffAccess.user",
        GOES,
        "staff_accesses",
        ("id", *_WORKSPACE, "reason", "opened_at", "expires_at"),
    ),
    Relation(
        "accounts.Takedown.by", FORGETS, "takedowns", ("id", "kind", "thing_id", "reason", "at")
    ),
    Relation("accounts.Takedown.lifted_by", FORGETS, "takedowns_lifted", ("id", "lifted_at")),
    Relation("accounts.Report.closed_by", FORGETS, "reports_closed", ("id", "kind", "closed_at")),
    Relation("accounts.User_groups.user", GOES, "", ()),
    Relation("accounts.User_user_permissions.user", GOES, "", ()),
    Relation("admin.LogEntry.user", GOES, "staff_log", ("action_time", "object_repr")),
    Relation(
        "ingest.Upload.author",
        FORGETS,
        "uploads",
        ("id", *_WORKSPACE, "state", "received_at"),
    ),
    Relation(
        "runs.Run.author",
        FORGETS,
        "runs",
        ("id", *_WORKSPACE, "started_at", "recorded_at", "labels", "notes"),
        ("labels", "notes"),
    ),
    Relation("runs.Run.trashed_by", FORGETS, "runs_trashed", ("id", *_WORKSPACE, "trashed_at")),
    Relation(
        "runs.Correction.author",
        FORGETS,
        "corrections",
        ("id", "run", "field", "value", "made_at"),
        ("value",),
    ),
    Relation(
        "runs.Correction.undone_by", FORGETS, "corrections_undone", ("id", "run", "undone_at")
    ),
    Relation(
        "runs.Dismissal.author",
        FORGETS,
        "dismissals",
        ("run", "check_id", "reason", "dismissed_at"),
        ("reason",),
    ),
    Relation(
        "runs.Dismissal.undone_by", FORGETS, "dismissals_undone", ("run", "check_id", "undone_at")
    ),
    Relation(
        "runs.FormerName.author",
        FORGETS,
        "renames",
        (*_WORKSPACE, "kind", "former", "current", "renamed_at"),
        ("former", "current"),
    ),
    Relation(
        "runs.Merge.author",
        FORGETS,
        "merges",
        ("id", *_WORKSPACE, "kind", "source", "target", "merged_at"),
        ("source", "target"),
    ),
    Relation("runs.Merge.undone_by", FORGETS, "merges_undone", ("id", "undone_at")),
    Relation(
        "sharing.ResultSet.author",
        FORGETS,
        "result_sets",
        ("id", "link", *_WORKSPACE, "title", "notes", "query", "visibility", "created_at"),
        # Who has the link reads the result set.
        ("link", "title", "notes", "query"),
    ),
    Relation(
        "sharing.SavedView.author",
        FORGETS,
        "saved_views",
        ("id", *_WORKSPACE, "name", "query", "created_at"),
        ("name", "query"),
    ),
    Relation(
        "deliveries.Channel.author",
        FORGETS,
        "channels",
        ("id", *_WORKSPACE, "kind", "name", "created_at"),
        ("name",),
    ),
    Relation(
        "alerts.AlertRule.author",
        FORGETS,
        "alert_rules",
        ("id", *_WORKSPACE, "name", "kind", "created_at"),
        ("name",),
    ),
    Relation(
        "alerts.AlertChange.by",
        FORGETS,
        "alert_answers",
        ("alert", "state", "note", "at"),
        ("note",),
    ),
    Relation(
        "transfer.Export.author",
        FORGETS,
        "workspace_archives",
        ("id", *_WORKSPACE, "requested_at", "finished_at"),
    ),
)
# Columns with a person's name or address, and what erasing the account does with them.
TEXTS = {
    "accounts.User.username": "deleted with the account",
    "accounts.User.first_name": "deleted with the account",
    "accounts.User.last_name": "deleted with the account",
    "accounts.User.email": "deleted with the account",
    "account.EmailAddress.email": "deleted with the account",
    "usersessions.UserSession.ip": "deleted with the account",
    "usersessions.UserSession.user_agent": "deleted with the account",
    "accounts.Invitation.email": "invitations to the person are deleted",
    "accounts.HeldMessage.to": "mails to the person are deleted",
    "accounts.HeldMessage.subject": "mails about invitations by the person are deleted",
    "accounts.Report.email": "emptied",
    "accounts.AuditEvent.actor_name": "replaced",
    "accounts.AuditEvent.subject": "replaced where it is the person",
    "accounts.AuditEvent.detail": "replaced where it is who invited",
    "accounts.AuditEvent.address": "emptied where the person acted",
    "accounts.AuditEvent.token_name": "names a token, not a person",
    "alerts.AlertChange.by_name": "replaced",
    "api.CreationKey.sender": "kept answers to the person are deleted",
    "deliveries.Channel.address": "channels that mail the person are deleted",
    "admin.LogEntry.object_repr": "entries about the account are deleted",
    "auth.Group.name": "no group names a person",
}
_ACCOUNT = ("id", "username", "first_name", "last_name", "email", "date_joined", "last_login")
_EVENT = ("at", "act", "workspace_id", "token_name", "address", "subject", "detail")
_TEXTS_OF_EVENT = ("token_name", "subject", "detail")


def exported_keys() -> list[str]:
    """The keys of the export, in their order."""
    return ["version", "exported_at", "account", *(section.key for section in _sections(User()))]


@dataclass(frozen=True, slots=True)
class _Section:
    """Rows of the export, each with `is_readable`: whether the person gets its `texts`."""

    key: str
    rows: QuerySet[Any]
    columns: tuple[str, ...]
    texts: frozenset[str]


def _sections(user: User) -> Iterator[_Section]:
    for relation in RELATIONS:
        if relation.key:
            path = relation.workspace
            is_readable = _is_member(user, path) if path else Value(value=True)
            rows = relation.rows_of(user).annotate(is_readable=is_readable)
            texts = frozenset({*relation.texts, _SLUG})
            yield _Section(relation.key, rows, relation.columns, texts)
    events = AuditEvent.objects.filter(actor_id=user.pk).order_by("pk")
    # Those of no workspace are about the account alone.
    may_read = Q(workspace_id=None) | Q(_is_member(user, "workspace_id"))
    rows = events.annotate(is_readable=ExpressionWrapper(may_read, BooleanField()))
    yield _Section("audit_events", rows, _EVENT, frozenset(_TEXTS_OF_EVENT))


def _is_member(user: User, workspace: str) -> Exists:
    members = Membership.objects.filter(user=user.pk, workspace__deleted_at=None)
    return Exists(members.filter(workspace=OuterRef(workspace)))


def export_of(user: User) -> Iterator[tuple[str, Any]]:
    """By its key, each part of the export: a value, or an iterator over rows."""
    yield "version", VERSION
    yield "exported_at", timezone.now()
    yield "account", {name: getattr(user, name) for name in _ACCOUNT}
    for section in _sections(user):
        yield section.key, _rows_by_chunks(section)


def _rows_by_chunks(section: _Section) -> Iterator[dict[str, Any]]:
    """A statement for each chunk: no cursor stays open while the reader is slow."""
    last: Any = None
    while True:
        left = section.rows if last is None else section.rows.filter(pk__gt=last)
        chunk = list(left.values("pk", "is_readable", *section.columns)[:CHUNK])
        for row in chunk:
            last = row["pk"]
            hidden = frozenset() if row["is_readable"] else section.texts
            yield {
                _name_of(column): None if column in hidden else row[column]
                for column in section.columns
            }
        if len(chunk) < CHUNK:
            return


def _name_of(column: str) -> str:
    """`workspace__slug` is told as `workspace`."""
    return column.removesuffix("__slug")


def plain(value: Any) -> str:
    """How JSON tells what it has no type for."""
    return value.isoformat() if isinstance(value, datetime) else str(value)
