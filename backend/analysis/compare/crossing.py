"""Where curves over loads cross: the loads at which another series is ahead of the leader.

A sentence about several loads holds at all of them together in 95 % of pages: its intervals share
the error of the page with whatever else the panel asks (Šidák; see `Panel.families`).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import log1p

from backend.analysis.compare.design import NamedRatio
from backend.analysis.compare.entrant import Entrant
from backend.analysis.compare.other_loads import OtherLoad
from backend.analysis.compare.ranking import Ranking, is_tie
from backend.analysis.compare.ratio_texts import factor_text
from backend.analysis.compare.ratios import Yardstick
from backend.analysis.grouping.sweep import Sweep, load_of
from backend.analysis.query.field import number_text
from backend.analysis.query.units import at_place

# Series whose leads a sentence names.
MOST_NAMED = 2


@dataclass(frozen=True, slots=True)
class LeadAt:
    """Beyond noise and threshold, the first of `claim` is ahead of the second at a load.

    `place`: of the load among all loads of the panel.
    """

    claim: NamedRatio
    load: float
    place: int


@dataclass(frozen=True, slots=True)
class Crossing:
    """`leads`: by load. `axis`: that the loads are on."""

    leads: tuple[LeadAt, ...]
    axis: str

    def text(self, *, names_both: bool) -> str:
        """`caddy is ahead of nginx at 1 to 64 connections (1.04× to 1.44×)`.

        Beside the name of the leader, without `names_both`: `caddy is ahead at 1 connection`.
        """
        by_pair: dict[tuple[str, str], list[LeadAt]] = {}
        for lead in self.leads:
            by_pair.setdefault(lead.claim[1:], []).append(lead)
        named = list(by_pair.items())[:MOST_NAMED]
        texts = [self._text(pair, leads, names_both=names_both) for pair, leads in named]
        more = len(self.leads) - sum(len(leads) for _, leads in named)
        loads = "1 more load" if more == 1 else f"{more} more loads"
        return ", ".join([*texts, *([f"other series at {loads}"] if more else [])])

    def _text(self, pair: tuple[str, str], leads: Sequence[LeadAt], *, names_both: bool) -> str:
        ahead, behind = pair
        where = at_place(_listed(list(_stretches(leads))), self.axis)
        if not names_both:
            return f"{ahead} is ahead {where}"
        ratios = sorted(lead.claim.ratio.value or 1.0 for lead in leads)
        texts = dict.fromkeys(f"{factor_text(ratio)}×" for ratio in (ratios[0], ratios[-1]))
        return f"{ahead} is ahead of {behind} {where} ({' to '.join(texts)})"


def _stretches(leads: Iterable[LeadAt]) -> Iterator[str]:
    """`1 to 64` of three neighbouring loads or more, `512` of a single one."""
    for _, run in groupby(enumerate(leads), key=lambda pair: pair[1].place - pair[0]):
        loads = [number_text(lead.load) for _, lead in run]
        yield from [f"{loads[0]} to {loads[-1]}"] if len(loads) > 2 else loads


def _listed(texts: Sequence[str]) -> str:
    """`1, 8 and 512`"""
    *first, last = texts
    return " and ".join(filter(None, (", ".join(first), last)))


def find_crossing(
    others: Sequence[OtherLoad],
    sweeps: Sequence[Sweep],
    ranking: Ranking,
    yardstick: Yardstick,
    *,
    axis: str,
) -> Crossing | None:
    """At which other loads another series is ahead of the leader; of a tie, also where the leader
    is ahead. None if nothing is ahead there.

    Only what is beyond noise and threshold counts, as in the ranking.
    """
    if not others:
        return None
    loads = sorted({load_of(point) for sweep in sweeps for point in sweep.points})
    leads = tuple(
        LeadAt(claim, other.load, place=loads.index(other.load))
        for other in others
        if (claim := _claim_at(other, ranking, yardstick)) is not None
    )
    return Crossing(leads, axis) if leads else None


def _claim_at(other: OtherLoad, ranking: Ranking, yardstick: Yardstick) -> NamedRatio | None:
    """Who is ahead of whom at a load; None if nobody certainly is."""
    tied = _tied(ranking)
    # No interval is beyond the threshold where the figures are not: most loads need no intervals.
    if not any(_is_beyond(other, rival, tied, ranking.metric, yardstick) for rival in other.rivals):
        return None
    compared = other.against(ranking.metric, yardstick)
    ahead = [(rival, each) for rival, each in compared if each.verdict == "improved"]
    sign = 1 if yardstick.better == "higher" else -1
    if ahead:
        best, comparison = max(ahead, key=lambda pair: sign * pair[1].value)
        return NamedRatio(yardstick.ratio(comparison), best.label, other.leader.label)
    for rival, comparison in compared:
        if rival.series == tied and comparison.verdict == "regressed":
            ratio = yardstick.ratio(comparison.inverse())
            return NamedRatio(ratio, other.leader.label, rival.label)
    return None


def _tied(ranking: Ranking) -> str | None:
    """The series that the first is level with at the ranked load, or too noisy to tell from."""
    contest = ranking.contest
    if contest is None or not is_tie(contest.ratio):
        return None
    return contest.other.entrant.series


def _is_beyond(
    other: OtherLoad, rival: Entrant, tied: str | None, metric: str, yardstick: Yardstick
) -> bool:
    """Whether the figure of a rival is better by more than the threshold; of the one that is tied
    at the ranked load, also worse."""
    own, sample = other.leader.sample(metric), rival.sample(metric)
    if own is None or sample is None:
        return False
    gain = sample.units.centre - own.units.centre
    if yardstick.better == "lower":
        gain = -gain
    return (abs(gain) if rival.series == tied else gain) > log1p(yardstick.relevant)
