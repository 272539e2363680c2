"""The public result sets that everyone sees on the front page."""

from __future__ import annotations

from dataclasses import dataclass

from django.core.cache import cache
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from backend.sharing.edits import EditRefused
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


def find_showcase() -> Exhibit | None:
    """The comparison on the front page: the latest featured set, else the first that was public.

    So publishing another set never replaces it.
    """
    rows = _readable().order_by(F("featured_at").desc(nulls_last=True), "created_at", "pk")
    row = rows.first()
    return None if row is None else Exhibit(row, _finding(row))


def list_exhibits(limit: int, *, without: Exhibit | None = None) -> list[Exhibit]:
    """The newest public result sets but `without`, at most `limit`."""
    rows = _readable().order_by("-created_at", "-pk")
    if without is not None:
        rows = rows.exclude(pk=without.result_set.pk)
    return [Exhibit(row, _finding(row)) for row in rows[:limit]]


def feature(result_set: ResultSet) -> None:
    """Show the result set on the front page. Raises EditRefused for one that not everyone sees."""
    if not _readable().filter(pk=result_set.pk).exists():
        raise EditRefused(
            "The front page shows a result set that is public, frozen and neither superseded, "
            "expired nor withdrawn. This one is not."
        )
    ResultSet.objects.filter(pk=result_set.pk).update(featured_at=timezone.now())


def feature_if_none_is(result_set: ResultSet) -> None:
    """Show the result set on the front page, unless one was chosen."""
    if not _readable().exclude(featured_at=None).exists():
        feature(result_set)


def stop_featuring(result_set: ResultSet) -> None:
    """The front page shows the set that was chosen before, or the first that was public."""
    ResultSet.objects.filter(pk=result_set.pk).update(featured_at=None)


def _readable() -> QuerySet[ResultSet]:
    """The public result sets that are frozen and current, without their bytes.

    A live one is left out: strangers would make the service compute it.
    """
    is_readable = Q(expires_at=None) | Q(expires_at__gt=timezone.now())
    return ResultSet.objects.filter(
        is_readable,
        kind=Kind.FROZEN,
        visibility=Visibility.PUBLIC,
        withdrawn_at=None,
        superseded_by=None,
    ).defer("snapshot")


def _finding(result_set: ResultSet) -> str:
    """The finding in the snapshot, whose bytes never change; read once a day."""
    key = f"finding:{result_set.sha256}"
    finding: str | None = cache.get(key)
    if finding is None:
        finding = str(result_set.frozen_snapshot()["figures"]["finding"])
        cache.set(key, finding, FINDING_KEPT_S)
    return finding
