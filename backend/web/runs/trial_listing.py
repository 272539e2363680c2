"""Which trials and load points the page of a run lists: all, or those of a page of a large run."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.core.paginator import Page, Paginator

from backend.links import query_string

# A trial takes 7 KB of the page, in four tables.
TRIALS_PER_PAGE = 200
LOAD_POINTS_PER_PAGE = 200


@dataclass(frozen=True, slots=True)
class TrialPages:
    """The page of trials that is shown, and where the others are.

    `point`: a trial of the load point that was asked for. `everything`: the trials of the run.
    """

    page: Page[dict[str, Any]]
    point: Mapping[str, Any] | None
    everything: int

    @property
    def links(self) -> list[tuple[str, str]]:
        """The text and the query of each page; no query where pages are left out."""
        numbers = self.page.paginator.get_elided_page_range(self.page.number)
        return [
            (str(number), self.query_of(number) if isinstance(number, int) else "")
            for number in numbers
        ]

    def query_of(self, number: int) -> str:
        """The query of this page of the same trials."""
        point = {} if self.point is None else {"point": self.point["cell"]}
        return "?" + query_string({**point, "page": str(number)}.items())

    @property
    def before(self) -> str:
        """The query of the page before; empty if there is none."""
        return self.query_of(self.page.number - 1) if self.page.has_previous() else ""

    @property
    def after(self) -> str:
        """The query of the next page; empty if there is none."""
        return self.query_of(self.page.number + 1) if self.page.has_next() else ""


@dataclass(frozen=True, slots=True)
class TrialListing:
    """The trials that a page lists, in order. `pages`: None where these are all."""

    trials: Sequence[dict[str, Any]]
    pages: TrialPages | None = None
    # As it was asked for; `list_load_points` reads it.
    load_point_page: str | None = None


def list_trials(trials: Sequence[dict[str, Any]], asked: Mapping[str, str]) -> TrialListing:
    """What the page lists of these trials of a run, as `describe_run` has them.

    `asked`: the query. `page` is a number, `point` the id of a load point whose trials are listed
    alone, `trial` the id of a trial that shall be listed. What the run does not have is left out of
    account: a correction gives load points other ids. `points`: a number of a page of load points.
    """
    points = asked.get("points")
    if len(trials) <= TRIALS_PER_PAGE:
        return TrialListing(trials, load_point_page=points)
    of_point = [trial for trial in trials if trial["cell"] == asked.get("point")]
    paginator = Paginator(of_point or trials, TRIALS_PER_PAGE)
    number = _page_with(of_point or trials, asked.get("trial")) or asked.get("page")
    page = paginator.get_page(number)
    point = of_point[0] if of_point else None
    return TrialListing(list(page), TrialPages(page, point, len(trials)), points)


def list_load_points(rows: Sequence[dict[str, Any]], number: str | None) -> Page[dict[str, Any]]:
    """The rows of the summary on the page of this number."""
    return Paginator(rows, LOAD_POINTS_PER_PAGE).get_page(number)


def _page_with(trials: Sequence[Mapping[str, Any]], trial_id: str | None) -> int | None:
    for place, trial in enumerate(trials if trial_id else ()):
        if trial["id"] == trial_id:
            return place // TRIALS_PER_PAGE + 1
    return None


def place_of_trial(trial_id: UUID | str, listed: Collection[str]) -> str:
    """Where the page of a run has a trial, as a relative link. `listed`: ids of those it lists."""
    return f"{'' if str(trial_id) in listed else f'?trial={trial_id}'}#trial-{trial_id}"
