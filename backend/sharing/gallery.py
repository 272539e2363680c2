"""The public result sets that everyone sees on the front page."""

from dataclasses import dataclass
from uuid import UUID

from django.core.cache import caches
from django.db.models import QuerySet
from django.utils import timezone

from backend.analysis.figures import Figures
from backend.analysis.kept_figures import read_figures
from backend.sharing.edits import EditRefused
from backend.sharing.models import Kind, ResultSet

KEPT_S = 24 * 3600
# Of the oldest result sets, so many are looked at for one that ranks its series.
LOOKED_AT = 12


@dataclass(frozen=True, slots=True)
class Exhibit:
    """A public result set with what it found."""

    result_set: ResultSet
    finding: str
    is_comparable: bool

    @property
    def is_titled(self) -> bool:
        """Whether its title says something other than its finding."""
        return not self.finding.startswith(self.result_set.title.removesuffix(" …"))


def find_showcase(preferred: UUID | None = None) -> Exhibit | None:
    """The comparison on the front page: the latest featured set, else the one with the link
    `preferred`, else the oldest whose series are comparable, else the oldest.

    So no set takes its place because it is new.
    """
    featured = _readable().exclude(featured_at=None).order_by("-featured_at", "pk").first()
    if featured is not None:
        return _exhibit(featured)
    chosen = None if preferred is None else _readable().filter(link=preferred).first()
    if chosen is not None:
        return _exhibit(chosen)
    oldest = [_exhibit(row) for row in _readable().order_by("created_at", "pk")[:LOOKED_AT]]
    return next((each for each in oldest if each.is_comparable), next(iter(oldest), None))


def list_exhibits(limit: int, *, without: Exhibit | None = None) -> list[Exhibit]:
    """The newest public result sets but `without`, at most `limit`."""
    rows = _readable().order_by("-created_at", "-pk")
    if without is not None:
        rows = rows.exclude(pk=without.result_set.pk)
    return [_exhibit(row) for row in rows[:limit]]


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
    """The front page shows the set that was chosen before, or else as `find_showcase` says."""
    ResultSet.objects.filter(pk=result_set.pk).update(featured_at=None)


def _readable() -> QuerySet[ResultSet]:
    """The public result sets that are frozen and current, without their bytes.

    A live one is left out: strangers would make the service compute it.
    """
    current = ResultSet.objects.public().filter(kind=Kind.FROZEN, superseded_by=None)
    return current.defer("snapshot")


def _exhibit(result_set: ResultSet) -> Exhibit:
    """With what its snapshot says, whose bytes never change; they are read once a day."""
    key = f"exhibit:{result_set.sha256}"
    kept: tuple[str, bool] | None = caches["process"].get(key)
    if kept is None:
        kept = _found(read_figures(result_set.frozen_snapshot()["figures"]))
        caches["process"].set(key, kept, KEPT_S)
    return Exhibit(result_set, *kept)


def _found(figures: Figures) -> tuple[str, bool]:
    """What a reader learns, and whether the series are comparable."""
    return figures.finding, figures.outcome.status != "not_comparable"
