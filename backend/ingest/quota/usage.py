"""How much of its limits a workspace uses: for people and programs, before a limit is reached."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from django.db import connection

from backend.accounts.models import Membership
from backend.accounts.workspace.invitations import usable_invitations
from backend.accounts.workspace.quotas import limits_of, service_limits
from backend.ingest.models import State, Upload
from backend.ingest.quota.quota import day_ends_at
from backend.ingest.quota.stored_sums import TODAY, sums_of

# Of a limit: from here on people are warned.
WARNING_SHARE = 0.8
# Limits beyond which something is refused, by their id.
LABELS = {
    "uploads_per_day": "Uploads today",
    "stored_bytes": "Storage",
    "members": "Members and open invitations",
}


@dataclass(frozen=True, slots=True)
class Usage:
    """How much of one limit is used. `beyond`: what happens to more."""

    id: str
    label: str
    unit: str
    used: int
    limit: int
    beyond: str
    # When the count begins again; None for what is used until it is deleted.
    resets_at: datetime | None = None

    @property
    def share(self) -> float:
        """Used ÷ limit; 1 where nothing is allowed."""
        return self.used / self.limit if self.limit else 1.0

    @property
    def percent(self) -> int:
        """The share in whole percent, rounded down: 100 means that the limit is reached."""
        return int(100 * self.share)

    @property
    def state(self) -> Literal["ok", "warning", "full"]:
        """Whether the limit is reached, nearly reached (80 %), or neither."""
        if self.share >= 1:
            return "full"
        return "warning" if self.share >= WARNING_SHARE else "ok"


def usage_of(workspace_id: UUID) -> Sequence[Usage]:
    limits, sums = limits_of(workspace_id), sums_of(workspace_id)
    reading = Upload.objects.filter(workspace=workspace_id, state=State.PARSING)
    # Uploads that are read together have one lease, and count as one.
    reads = reading.values("lease_until").distinct().count()
    return (
        Usage(
            "uploads_per_day",
            LABELS["uploads_per_day"],
            "uploads",
            sums.uploads,
            limits.uploads_per_day,
            "Further uploads get 429 until the next day (UTC).",
            resets_at=day_ends_at(),
        ),
        Usage(
            "stored_bytes",
            LABELS["stored_bytes"],
            "bytes",
            sums.size_bytes,
            limits.stored_bytes,
            "Further uploads get 507 until runs are deleted for good.",
        ),
        Usage(
            "members",
            LABELS["members"],
            "members",
            _members_of(workspace_id),
            limits.members,
            "Nobody else can be invited until a member leaves or an open invitation ends.",
        ),
        Usage(
            "reads",
            "Uploads being read now",
            "uploads",
            reads,
            limits.reads,
            "Further uploads are received, and wait for their turn.",
        ),
    )


def _members_of(workspace_id: UUID) -> int:
    """With those invited, who have a place until the invitation ends (quotas.check_members)."""
    joined = Membership.objects.filter(workspace=workspace_id).count()
    return joined + usable_invitations().filter(workspace=workspace_id).count()


@dataclass(frozen=True, slots=True)
class NearLimit:
    """A workspace that uses 80 % of a limit or more."""

    slug: str
    id: str
    used: int
    limit: int

    @property
    def label(self) -> str:
        """The limit in words."""
        return LABELS[self.id]

    @property
    def is_reached(self) -> bool:
        """Whether more is refused."""
        return self.used >= self.limit


_NEAR_LIMITS = f"""
    WITH sums AS (
        SELECT workspace_id, sum(size_bytes)::bigint AS size_bytes,
            coalesce(sum(uploads) FILTER (WHERE day = {TODAY}), 0)::bigint AS uploads
        FROM ingest_storedbytes GROUP BY workspace_id
    ), joined AS (
        SELECT workspace_id, count(*) AS members FROM (
            SELECT workspace_id FROM accounts_membership
            UNION ALL
            SELECT workspace_id FROM accounts_invitation
            WHERE used_at IS NULL AND revoked_at IS NULL AND expires_at > now()
        ) AS place GROUP BY workspace_id
    )
    SELECT workspace.slug, entry.id, entry.used, entry.most
    FROM accounts_workspace AS workspace
    LEFT JOIN accounts_quota AS quota ON quota.workspace_id = workspace.id
    LEFT JOIN sums ON sums.workspace_id = workspace.id
    LEFT JOIN joined ON joined.workspace_id = workspace.id
    CROSS JOIN LATERAL (VALUES
        ('uploads_per_day', coalesce(sums.uploads, 0), coalesce(quota.uploads_per_day, %s)),
        ('stored_bytes', coalesce(sums.size_bytes, 0), coalesce(quota.stored_bytes, %s)),
        ('members', coalesce(joined.members, 0), coalesce(quota.members, %s))
    ) AS entry (id, used, most)
    WHERE workspace.deleted_at IS NULL AND entry.used >= {WARNING_SHARE} * entry.most
    ORDER BY entry.used::float8 / greatest(entry.most, 1) DESC, workspace.slug, entry.id
    """  # noqa: S608  our own names


def near_limits() -> Sequence[NearLimit]:
    """The workspaces that use 80 % of a limit or more, the fullest first."""
    limits = service_limits()
    values = [limits.uploads_per_day, limits.stored_bytes, limits.members]
    with connection.cursor() as cursor:
        cursor.execute(_NEAR_LIMITS, values)
        return [NearLimit(*row) for row in cursor.fetchall()]
