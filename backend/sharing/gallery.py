"""The public result sets that everyone sees on the front page."""

from __future__ import annotations

from dataclasses import dataclass

from django.core.cache import cache
from django.db.models import Q
from django.utils import timezone

from backend.sharing.models import Kind, ResultSet, Visibility

FINDING_KEPT_S = 24 * 3600


@dataclass(frozen=True, slots=True)
class Exhibit:
    """A public result set with the sentence that it found."""

    result_set: ResultSet
    finding: str

    @property
    def is_titled(self) -> bool:
        """Whether its title says something other than its finding."""
        return not self.finding.startswith(self.result_set.title.removesuffix(" …"))


def list_exhibits(limit: int) -> list[Exhibit]:
    """The newest public result sets that are frozen and current, at most `limit`.

    A live one is left out: strangers would make the service compute it.
    """
    is_readable = Q(expires_at=None) | Q(expires_at__gt=timezone.now())
    rows = ResultSet.objects.filter(
        is_readable,
        kind=Kind.FROZEN,
        visibility=Visibility.PUBLIC,
        withdrawn_at=None,
        superseded_by=None,
    ).order_by("-created_at", "-pk")
    return [Exhibit(row, _finding(row)) for row in rows.defer("snapshot")[:limit]]


def _finding(result_set: ResultSet) -> str:
    """The finding in the snapshot, whose bytes never change; read once a day."""
    key = f"finding:{result_set.sha256}"
    finding: str | None = cache.get(key)
    if finding is None:
        finding = str(result_set.frozen_snapshot()["figures"]["finding"])
        cache.set(key, finding, FINDING_KEPT_S)
    return finding
