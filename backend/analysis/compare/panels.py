"""The panels of a comparison: each judges and ranks its own series."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from backend.analysis import figures
from backend.analysis.compare.beside import Beside, find_beside, metrics_beside
from backend.analysis.compare.beyond import rows_beyond
from backend.analysis.compare.capacity import highest_load_under
from backend.analysis.compare.comparability import (
    Comparability,
    judge_comparability,
    of_unknown_load,
)
from backend.analysis.compare.crossing import Crossing, find_crossing
from backend.analysis.compare.design import NamedRatio
from backend.analysis.compare.gathering import Gathered, places_of, points_of
from backend.analysis.compare.headline import (
    Headline,
    better_text,
    explain_no_points,
    explain_no_ranking,
    write_headline,
)
from backend.analysis.compare.other_loads import OtherLoad, find_other_loads
from backend.analysis.compare.ranking import Ranking, is_tie, rank
from backend.analysis.compare.ratios import Yardstick
from backend.analysis.compare.reasons import Reason
from backend.analysis.compare.version_changes import (
    VersionChanges,
    are_versions,
    find_version_changes,
)
from backend.analysis.grouping.fired_checks import Fired, collect_fired_checks, count_trials
from backend.analysis.grouping.points import Point
from backend.analysis.grouping.shared_checks import check_sweeps
from backend.analysis.grouping.sweep import Sweep
from backend.analysis.query.field import Value, most_shared, text_of
from backend.stats import Ratio

LEADS = " leads"
RANKED_ANYWAY = "Not comparable, but ranked anyway"
_GRAVITY: tuple[figures.Status, ...] = ("comparable", "caveats", "not_comparable")


@dataclass(frozen=True, slots=True)
class Judgement:
    """Whether some series may be compared, and the checks that fired on them.

    `name`: of the panel or workload that they are of; None if there is one panel.
    """

    name: str | None
    sweeps: tuple[Sweep, ...]
    fired: tuple[Fired, ...]
    comparability: Comparability


@dataclass(frozen=True, slots=True)
class Panel:
    """Series that are compared with each other at one place on the axis.

    `ranking`: None if they may not be compared or nothing was measured at `place`. `beside`:
    what another metric says of the leader. `crossing`: the other loads at which others lead.
    `changes`: the changes between the versions of one server, where these are the series.
    `others`: the leader at its other loads. `families`: how many families of intervals share the
    error of the page, if all panels ask as much as this one.
    """

    judgement: Judgement
    place: Value
    ranking: Ranking | None
    headline: Headline
    beside: Beside | None = None
    crossing: Crossing | None = None
    changes: VersionChanges | None = None
    others: tuple[OtherLoad, ...] = ()
    families: int = 1

    @property
    def claims(self) -> list[NamedRatio]:
        """Every ratio that the headline tells: the level of trust and its reasons are of these."""
        contests = () if self.ranking is None else self.ranking.told
        leads = () if self.crossing is None else self.crossing.leads
        others = (each for each in (self.beside, *leads, self.changes) if each is not None)
        return [each.claim for each in (*contests, *others)]

    def leader_text(self) -> str:
        """Who is ahead, in a few words."""
        contest = None if self.ranking is None else self.ranking.contest
        if contest is None:
            return self._alone_text()
        a, b = contest.leader.entrant.label, contest.other.entrant.label
        if self.changes is not None and is_tie(contest.ratio):
            return self.changes.short
        better = "" if self.beside is None else f", but {better_text(self.beside)}"
        if contest.ratio.verdict == "inconclusive":
            lack = "too few trials" if contest.ratio.low is None else "too noisy"
            return f"{lack} to rank{better}"
        if contest.ratio.verdict == "unchanged":
            return f"{a} and {b} are level{better}"
        elsewhere = "" if self.crossing is None else f", but {self.crossing.text(names_both=False)}"
        return f"{a}{LEADS}{better}{elsewhere}"

    def _alone_text(self) -> str:
        """`only nginx 1.27 was measured`, or keeps the limit; else that nothing is ranked."""
        if self.ranking is None or len(self.ranking.ranked) != 1:
            return "not ranked"
        label = self.ranking.ranked[0].entrant.label
        if len(self.ranking.rows) == 1:
            return f"only {label} was measured"
        is_chosen_by_limit = not self.ranking.unknown_limits and all(
            row.over_limit for row in self.ranking.rows[1:]
        )
        if not is_chosen_by_limit:
            return "not ranked"
        doubt = ", but not for certain" if any(row.limit_doubt for row in self.ranking.rows) else ""
        return f"only {label} keeps the limit{doubt}"

    @property
    def decided(self) -> Ratio | None:
        """The ratio of the leader, where noise does not hide it."""
        contest = None if self.ranking is None else self.ranking.contest
        return None if contest is None or contest.ratio.verdict == "inconclusive" else contest.ratio

    @property
    def name(self) -> str | None:
        return self.judgement.name

    @property
    def comparability(self) -> Comparability:
        return self.judgement.comparability

    def to_record(self) -> figures.Panel:
        return figures.Panel(
            value=self.name or "",
            series=[sweep.group.id for sweep in self.judgement.sweeps],
            finding=self.headline.text,
            outcome=self.comparability.to_record(),
            ranking=None if self.ranking is None else self.ranking.to_record(),
        )

    def told(self) -> str:
        """The headline under the panel's name, unless it begins with that name."""
        text = self.headline.text
        is_named = text == self.name or text.startswith(f"{self.name} ")
        return text if is_named else f"{self.name}: {text}"


def judge_panels(gathered: Gathered) -> list[Panel]:
    """The panels in the order of their first series; one without series if there is nothing."""
    judgements = judge_series(gathered)
    yardstick = gathered.yardstick(families=len(judgements))
    return [_panel(gathered, judgement, yardstick) for judgement in judgements]


def judge_series(gathered: Gathered) -> list[Judgement]:
    """Whether the series of each panel may be compared, in the order of panels."""
    sweeps_by_panel = _part(gathered.sweeps, lambda sweep: sweep.group.panel) or {None: ()}
    return [_judge(gathered, name, sweeps) for name, sweeps in sweeps_by_panel.items()]


def judge_workloads(gathered: Gathered) -> dict[str, Judgement]:
    """The series of each workload, judged apart from the other workloads."""
    sweeps_by_workload = _part(gathered.sweeps, lambda sweep: sweep.group.first.workload.name)
    return {name: _judge(gathered, name, sweeps) for name, sweeps in sweeps_by_workload.items()}


def _part(sweeps: Sequence[Sweep], read: Callable[[Sweep], Any]) -> dict[Any, tuple[Sweep, ...]]:
    parts: dict[Any, list[Sweep]] = defaultdict(list)
    for sweep in sweeps:
        parts[read(sweep)].append(sweep)
    return {key: tuple(part) for key, part in parts.items()}


def _judge(gathered: Gathered, name: str | None, sweeps: tuple[Sweep, ...]) -> Judgement:
    points = points_of(sweeps)
    fired = collect_fired_checks(points, check_sweeps(sweeps), gathered.dismissals)
    comparability = judge_comparability(
        [sweep.group for sweep in sweeps],
        fired,
        trials=count_trials(points),
        grouping=gathered.grouping,
        must_match=gathered.demands.must_match,
        override=gathered.query.override,
    )
    if not sweeps and gathered.grouping.x_is_load and _has_unplaced(gathered):
        comparability = of_unknown_load()
    return Judgement(name, sweeps, tuple(fired), comparability)


def _has_unplaced(gathered: Gathered) -> bool:
    return any(row.x is None for row in gathered.not_read)


def _panel(gathered: Gathered, judgement: Judgement, yardstick: Yardstick) -> Panel:
    place = _ranking_place(gathered, judgement.sweeps)
    ranking = _ranking(gathered, judgement, place, yardstick)
    if ranking is None:
        return Panel(judgement, place, None, _headline(gathered, judgement, None, None))
    if gathered.beyond:
        beyond = rows_beyond(gathered, judgement.sweeps, judgement.name, place)
        ranking = replace(ranking, beyond=beyond)
    others = find_other_loads(gathered, judgement.sweeps, ranking)
    families = yardstick.families * _questions(judgement.sweeps, ranking, others)
    shared = partial(gathered.yardstick, families=families)
    beside, axis = find_beside(ranking, shared), gathered.grouping.x
    crossing = find_crossing(others, judgement.sweeps, ranking, shared(), axis=axis)
    changes = find_version_changes(judgement.sweeps, ranking, shared(), axis=axis)
    if crossing is not None or (beside is not None and beside.is_opposed):
        ranking = ranking.held_to(shared())
    headline = _headline(gathered, judgement, ranking, beside)
    if crossing is not None:
        headline = headline.followed(crossing.text(names_both=True))
    if changes is not None:
        contest = ranking.contest
        headline = changes.beside(headline, is_tie=contest is None or is_tie(contest.ratio))
    return Panel(judgement, place, ranking, headline, beside, crossing, changes, others, families)


def _questions(sweeps: Sequence[Sweep], ranking: Ranking, others: Sequence[OtherLoad]) -> int:
    """How many families of intervals a panel asks for: who leads, by which other metrics, at which
    other loads, and between which versions."""
    loads = sum(1 for other in others if other.rivals)
    return 1 + len(metrics_beside(ranking.metric)) + loads + are_versions(sweeps)


def _ranking_place(gathered: Gathered, sweeps: Sequence[Sweep]) -> Value:
    """The asked place on the axis; else the best load that keeps the limit; else the last of the
    places that most series share."""
    series_by_place = Counter(point.x for point in points_of(sweeps))
    asked = gathered.query.at
    if asked is not None:
        places = (x for x in series_by_place if x is not None and text_of(x) == asked)
        return next(places, None)
    if (best := _best_under_limit(gathered, sweeps)) is not None:
        return best.x
    return most_shared(series_by_place)


def _best_under_limit(gathered: Gathered, sweeps: Sequence[Sweep]) -> Point | None:
    """Of the highest loads that keep the limit, the one with the most throughput."""
    limit = gathered.query.limit
    if limit is None or not gathered.grouping.x_is_load:
        return None
    points = filter(None, (highest_load_under(sweep, limit) for sweep in sweeps))
    return max(points, key=lambda point: point.metrics["throughput"].value or 0.0, default=None)


def _ranking(
    gathered: Gathered, judgement: Judgement, place: Value, yardstick: Yardstick
) -> Ranking | None:
    if not judgement.comparability.allows_ranking or place is None:
        return None
    entrants = [
        gathered.entrant(sweep, point)
        for sweep in judgement.sweeps
        if (point := sweep.at(place)) is not None
    ]
    if not entrants:
        return None
    return rank(
        place,
        gathered.query.metric,
        entrants,
        baseline=gathered.query.baseline,
        yardstick=yardstick,
    )


def _headline(
    gathered: Gathered, judgement: Judgement, ranking: Ranking | None, beside: Beside | None
) -> Headline:
    """Who is ahead in a panel, or why nothing can be said."""
    comparability, axis = judgement.comparability, gathered.grouping.x
    if not comparability.allows_ranking:
        return explain_no_ranking(comparability)
    if ranking is None:
        return explain_no_points(gathered.query.at or "", axis, places_of(judgement.sweeps))
    headline = write_headline(
        ranking,
        axis=axis,
        relevant=gathered.demands.relevant,
        beside=beside,
        # Several panels would give several pieces of advice. The trust of the answer gives one.
        is_advised=gathered.grouping.facet is None,
    )
    if comparability.overridden:
        headline = headline.prefixed(RANKED_ANYWAY)
    if gathered.query.baseline is not None and ranking.baseline is None:
        name = gathered.baseline_name or "that was asked for"
        headline = headline.followed(f"The baseline {name} is not shown here")
    return headline


def combine(judgements: Sequence[Judgement]) -> Comparability:
    """The gravest status, with the reasons of all; a reason that all share is listed once."""
    verdicts = [judgement.comparability for judgement in judgements]
    # The subject of the comparison is named only if all panels share it.
    subjects = {(verdict.intent, verdict.confounded) for verdict in verdicts}
    intent, confounded = subjects.pop() if len(subjects) == 1 else (None, ())
    return Comparability(
        status=max((verdict.status for verdict in verdicts), key=_GRAVITY.index),
        differing=tuple(dict.fromkeys(id_ for verdict in verdicts for id_ in verdict.differing)),
        because=_joint_reasons(judgements),
        intent=intent,
        confounded=confounded,
        overridden=any(verdict.overridden for verdict in verdicts),
    )


def _joint_reasons(judgements: Sequence[Judgement]) -> tuple[Reason, ...]:
    """Each reason once, under its panel's name unless every panel has it."""
    pairs = [
        (judgement.name, reason)
        for judgement in judgements
        for reason in judgement.comparability.because
    ]
    counts = Counter(reason.text for _, reason in pairs)
    joint = (
        reason if counts[reason.text] == len(judgements) > 1 else replace(reason, panel=name)
        for name, reason in pairs
    )
    return tuple({reason.sentence: reason for reason in joint}.values())


def combine_workloads(workloads: Mapping[str, Judgement]) -> Comparability:
    """The comparability of a table of ratios, which never compares two workloads.

    Where some workloads are withheld and others not, that is a caveat of the table.
    """
    joint = combine(list(workloads.values()))
    statuses = {judgement.comparability.status for judgement in workloads.values()}
    is_partly_withheld = "not_comparable" in statuses and len(statuses) > 1
    if is_partly_withheld and not joint.overridden:
        return replace(joint, status="caveats")
    return joint


def merge_fired_checks(panels: Iterable[Panel]) -> list[Fired]:
    """The checks of all panels, each once."""
    merged: dict[str, Fired] = {}
    for fired in (fired for panel in panels for fired in panel.judgement.fired):
        total = merged.setdefault(fired.check.id, Fired(fired.check))
        total.cells += fired.cells
        total.trials += fired.trials
        total.runs |= fired.runs
        total.dismissed |= fired.dismissed
    return list(merged.values())
