"""Where curves over loads cross: the loads at which another series is ahead of the leader.

A sentence about several loads holds at all of them together in 95 % of pages: its intervals are
those of as many families as there are loads (Šidák), the ranked load among them.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import log1p

from backend.analysis.compare.design import NamedRatio
from backend.analysis.compare.entrant import Entrant
from backend.analysis.compare.gathering import Gathered
from backend.analysis.compare.ranking import Ranking, is_tie
from backend.analysis.compare.ratio_texts import factor_text
from backend.analysis.compare.ratios import Yardstick
from backend.analysis.grouping.points import Point
from backend.analysis.grouping.sweep import Sweep, load_of
from backend.analysis.query.field import number_text
from backend.analysis.query.metrics import METRICS
from backend.analysis.query.units import at_place
from backend.stats import Ratio

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
    """`leads`: by load. `families`: how many share the error of the page. `is_led`: whether the
    leader leads at the ranked load by intervals of that width too."""

    leads: tuple[LeadAt, ...]
    axis: str
    families: int
    is_led: bool = False

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
    gathered: Gathered, sweeps: Sequence[Sweep], ranking: Ranking, *, panels: int
) -> Crossing | None:
    """At which other loads another series is ahead of the leader; of a tie, also where the leader
    is ahead. None if nothing is ahead there, or the axis is none of loads.

    Only what is beyond noise and threshold counts, as in the ranking.
    """
    if not gathered.grouping.x_is_load or not ranking.ranked:
        return None
    leader = next(s for s in sweeps if s.group.id == ranking.ranked[0].entrant.series)
    held = _held_at(gathered, leader, ranking)
    families = panels * (1 + len(held))
    yardstick = gathered.yardstick(families=families)
    loads = sorted({load_of(point) for sweep in sweeps for point in sweep.points})
    leads = []
    for load, own, rivals in held:
        claim = _claim_at(own, rivals, ranking, yardstick)
        if claim is not None:
            leads.append(LeadAt(claim, load, place=loads.index(load)))
    return Crossing(tuple(leads), gathered.grouping.x, families) if leads else None


def _held_at(
    gathered: Gathered, leader: Sweep, ranking: Ranking
) -> list[tuple[float, Entrant, list[Entrant]]]:
    """The other loads of the leader in their order, with the series that it can be compared with
    there; without those that have none."""
    points = sorted(
        (point for point in leader.points if point.x != ranking.x),
        key=load_of,
    )
    compared = [
        (load_of(point), gathered.entrant(leader, point), _compared_rivals(gathered, leader, point))
        for point in points
    ]
    return [(load, own, rivals) for load, own, rivals in compared if rivals]


def rivals_at(gathered: Gathered, leader: Sweep, point: Point) -> list[Entrant]:
    """The other series of the leader's panel at the load of `point`."""
    return [
        gathered.entrant(sweep, rival)
        for sweep in gathered.sweeps
        if sweep is not leader
        and sweep.group.panel == leader.group.panel
        and (rival := sweep.at(point.x)) is not None
    ]


def ratios_to(
    own: Entrant, rivals: Sequence[Entrant], metric: str, yardstick: Yardstick
) -> list[Ratio] | None:
    """Each rival ÷ `own`; None if one of them has no figure to compare, none for no rivals."""
    base, *others = (each.sample(metric) for each in (own, *rivals))
    samples = [sample for sample in others if sample is not None]
    if base is None or len(samples) < len(others):
        return None
    return yardstick.to_baseline(base, samples) if samples else []


def _compared_rivals(gathered: Gathered, leader: Sweep, point: Point) -> list[Entrant]:
    """The rivals whose figures can be compared with the leader's at this load."""
    metric, own = gathered.query.metric, gathered.entrant(leader, point)
    if not _is_compared(own, metric):
        return []
    return [each for each in rivals_at(gathered, leader, point) if _is_compared(each, metric)]


def _is_compared(entrant: Entrant, metric: str) -> bool:
    return entrant.over_limit is None and entrant.sample(metric) is not None


def _claim_at(
    own: Entrant, rivals: Sequence[Entrant], ranking: Ranking, yardstick: Yardstick
) -> NamedRatio | None:
    """Who is ahead of whom at a load; None if nobody certainly is."""
    metric = ranking.metric
    # Without a centre beyond the threshold no interval is: most loads need no intervals at all.
    if not _is_any_beyond(own, rivals, metric, yardstick.relevant):
        return None
    ratios = ratios_to(own, rivals, metric, yardstick) or []
    pairs = list(zip(rivals, ratios, strict=True))
    ahead = [(rival, ratio) for rival, ratio in pairs if ratio.verdict == "improved"]
    if not ahead:
        return _lead_over_tied(own, pairs, ranking)
    best, ratio = max(ahead, key=lambda pair: _gain(pair[1], metric))
    return NamedRatio(ratio, best.label, own.label)


def _lead_over_tied(
    own: Entrant, pairs: Iterable[tuple[Entrant, Ratio]], ranking: Ranking
) -> NamedRatio | None:
    """That the first is ahead of the series that it is level with at the ranked load, or too noisy
    to tell from; None if it leads there."""
    contest = ranking.contest
    if contest is None or not is_tie(contest.ratio):
        return None
    tied = contest.other.entrant.series
    for rival, ratio in pairs:
        if rival.series == tied and ratio.verdict == "regressed":
            return NamedRatio(ratio.inverse(), own.label, rival.label)
    return None


def _gain(ratio: Ratio, metric: str) -> float:
    """How much better a rival is, to find the best."""
    value = ratio.value or 1.0
    return value if METRICS[metric].better == "higher" else 1 / value


def _is_any_beyond(own: Entrant, rivals: Iterable[Entrant], metric: str, relevant: float) -> bool:
    """Whether a figure itself differs from that of `own` by more than the threshold."""
    base = own.sample(metric)
    samples = (rival.sample(metric) for rival in rivals)
    return base is not None and any(
        abs(sample.units.centre - base.units.centre) > log1p(relevant)
        for sample in samples
        if sample is not None
    )
