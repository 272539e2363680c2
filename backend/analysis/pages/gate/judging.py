"""Each requirement judged for each series of the candidate at each of its loads.

All intervals of one answer hold together at 95 %: a build without a change is called regressed in
at most 5 % of answers, however many rows it has.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp, expm1

from backend.analysis.compare.advice import PART_THE_MODES, as_sentence
from backend.analysis.compare.gathering import Gathered
from backend.analysis.compare.ratios import Yardstick
from backend.analysis.grouping.measures import trial_values
from backend.analysis.grouping.points import Point
from backend.analysis.grouping.sweep import Sweep
from backend.analysis.pages.gate.answer import GateNoise, GateVerdict
from backend.analysis.pages.gate.history import History, Level, variation_floor
from backend.analysis.pages.gate.requirements import Requirement
from backend.analysis.pages.pair.answer import PairFigure
from backend.analysis.pages.pair.judging import comparable_sample, figure_of_measure
from backend.analysis.query.field import Value
from backend.stats import Ratio
from backend.stats.comparison import Comparison, Floor, Rule, matched_pairs
from backend.stats.replicates import Sample, estimate
from backend.stats.sample_size import Advice, trials_needed


@dataclass(frozen=True, slots=True)
class Contest:
    """A requirement for a series at a load. `why`: why it cannot be judged by a ratio."""

    requirement: Requirement
    sweep: Sweep
    point: Point
    level: Level | None
    candidate: Sample | None
    why: str | None = None
    # More requests fail than did in the baseline, too many for any other figure to count.
    is_failing: bool = False

    @property
    def pair(self) -> tuple[Sample, Sample] | None:
        """The trials of both sides, where they can be compared."""
        if self.level is None or self.candidate is None or self.why is not None:
            return None
        return self.level.sample, self.candidate


@dataclass(frozen=True, slots=True)
class TrialCounts:
    """How many trials each side has, in all of its runs.

    `baseline`: None if the candidate is compared with a limit.
    """

    candidate: int
    baseline: int | None = None


@dataclass(frozen=True, slots=True)
class Judged:
    """A contest with its verdict. `tells_from`: the smallest change that could be told, a share.
    `too_few`: set where there is no interval, because a side has too few trials."""

    contest: Contest
    verdict: GateVerdict
    why: str
    ratio: Ratio | None = None
    tells_from: float | None = None
    advice: Advice | None = None
    too_few: TrialCounts | None = None

    @property
    def baseline(self) -> PairFigure | None:
        level = self.contest.level
        return None if level is None else figure_of(level.sample)

    @property
    def candidate(self) -> PairFigure:
        return figure_of_measure(self.contest.point.metrics[self.contest.requirement.metric.id])


def figure_of(sample: Sample) -> PairFigure:
    """The centre of a sample with its interval, in the unit of the metric."""
    centre = estimate(sample)
    low, high = centre.low, centre.high
    return PairFigure(
        value=exp(centre.value),
        low=None if low is None else exp(low),
        high=None if high is None else exp(high),
        step=None,
    )


def list_contests(
    gathered: Gathered, histories: Mapping[str, History], requirements: Sequence[Requirement]
) -> Iterator[Contest]:
    """What is to be judged, of the series of the candidate that have a baseline."""
    for sweep in gathered.sweeps:
        history = histories.get(sweep.group.id)
        for point in sweep.points:
            if history is not None and (history.points(point.x) or not history.sweeps):
                for requirement in requirements:
                    yield _contest(gathered, history, (sweep, point), requirement)


def _contest(
    gathered: Gathered, history: History, at: tuple[Sweep, Point], requirement: Requirement
) -> Contest:
    sweep, point = at
    metric = requirement.metric
    if not history.sweeps:
        reason = as_sentence("; ".join(history.comparability.reasons))
        return Contest(requirement, sweep, point, None, None, reason)
    is_failing = point.failing and not all(each.failing for _, each in history.points(point.x))
    why = gathered.entrant(sweep, point).unranked(metric.id)
    if requirement.share is None:
        return Contest(requirement, sweep, point, None, None, why, is_failing)
    level = history.level(point.x, metric)
    candidate = comparable_sample(gathered, sweep, point, metric.id)
    if why is None and level is None:
        why = f"{metric.label} of the baseline cannot be compared, or is unknown."
    elif why is None and candidate is None:
        why = f"{metric.label} is zero in some trial, so there is no ratio."
    return Contest(requirement, sweep, point, level, candidate, why, is_failing)


def judge_contests(
    contests: Sequence[Contest],
    histories: Mapping[str, History],
    relevant: float,
    compared: int,
) -> tuple[list[Judged], list[GateNoise]]:
    """Every contest with its verdict, and how far runs of the baseline differ in each metric.

    `compared`: how many ratios the answer has in all; their intervals hold together.
    """
    families: dict[tuple[str, Value], list[Contest]] = defaultdict(list)
    judged = []
    for contest in contests:
        if contest.pair is None:
            judged.append(_judge_alone(contest))
        else:
            families[contest.requirement.text, contest.point.x].append(contest)
    floors = _floors([each for family in families.values() for each in family], histories)
    for family in families.values():
        floor, _ = floors[family[0].requirement.metric.id]
        judged += _judge_family(family, floor, relevant, compared)
    return judged, [_noise(metric, *floor) for metric, floor in floors.items()]


def _floors(
    contests: Sequence[Contest], histories: Mapping[str, History]
) -> dict[str, tuple[Floor, str]]:
    """What the history says of the noise of each metric, and where that is from."""
    places: dict[str, list[Contest]] = defaultdict(list)
    for contest in contests:
        places[contest.requirement.metric.id].append(contest)
    return {
        metric: variation_floor(
            histories,
            of_metric[0].requirement.metric,
            dict.fromkeys((each.sweep.group.id, each.point.x) for each in of_metric),
        )
        for metric, of_metric in places.items()
    }


def _noise(metric: str, floor: Floor, source: str) -> GateNoise:
    share = None if floor.run_sd is None else expm1(floor.run_sd)
    return GateNoise(metric=metric, share=share, source=source, comparisons=floor.run_freedom)  # type: ignore[arg-type]


def _judge_family(
    family: Sequence[Contest], floor: Floor, relevant: float, compared: int
) -> Iterator[Judged]:
    """The contests of one requirement at one load, each beside the noise of the others."""
    requirement, pairs = family[0].requirement, [each.pair for each in family if each.pair]
    rule = Rule(requirement.metric.better, expm1(requirement.tolerance))
    comparisons = matched_pairs(pairs, rule, floor=floor, families=compared)
    for contest, comparison in zip(family, comparisons, strict=True):
        yield _judge_comparison(contest, comparison, relevant)


def _judge_comparison(contest: Contest, comparison: Comparison, relevant: float) -> Judged:
    requirement = contest.requirement
    better = requirement.metric.better
    ratio = Yardstick(better, relevant).ratio(comparison)
    if contest.is_failing:
        return Judged(contest, "regressed", contest.why or "", ratio)
    precision = comparison.precision
    if comparison.low is None or comparison.high is None or precision is None:
        return Judged(contest, "too_noisy", "", ratio, too_few=_trial_counts(contest))
    # The interval of the change for the worse.
    worse = (comparison.low, comparison.high)
    if not requirement.is_lower_better:
        worse = (-comparison.high, -comparison.low)
    tells_from = expm1(precision.half_width)
    if worse[0] > requirement.tolerance:
        return Judged(contest, "regressed", "", ratio, tells_from)
    if worse[1] <= requirement.tolerance:
        verdict, _ = Rule(better, relevant).verdict(comparison.low, comparison.high)
        is_gain = verdict == "improved"
        return Judged(contest, "improved" if is_gain else "unchanged", "", ratio, tells_from)
    why, advice = _advise(comparison, requirement)
    return Judged(contest, "too_noisy", why, ratio, tells_from, advice)


def _trial_counts(contest: Contest) -> TrialCounts | None:
    if contest.pair is None:
        return None
    baseline, candidate = contest.pair
    return TrialCounts(candidate=candidate.units.n, baseline=baseline.units.n)


def _advise(comparison: Comparison, requirement: Requirement) -> tuple[str, Advice | None]:
    """What would settle it: in a sentence, or a number of runs or trials."""
    if comparison.has_two_modes:
        return as_sentence(PART_THE_MODES), None
    return "", trials_needed(comparison, relevant=expm1(requirement.tolerance))


def _judge_alone(contest: Contest) -> Judged:
    """A contest without a ratio: a limit, or a figure that may not be compared."""
    requirement = contest.requirement
    if contest.is_failing and requirement.metric.group != "errors":
        return Judged(contest, "regressed", contest.why or "")
    if contest.why is not None:
        return Judged(contest, "not_comparable", contest.why)
    measure = contest.point.metrics[requirement.metric.id]
    if requirement.limit is None or measure.value is None:
        return Judged(contest, "not_comparable", f"{requirement.metric.label} is unknown.")
    low, high = measure.low, measure.high
    if requirement.metric.group == "errors":
        # All attempts were counted: there is nothing to estimate.
        low = high = measure.value
    if low is None or high is None:
        counts = TrialCounts(candidate=len(trial_values(measure)))
        return Judged(contest, "too_noisy", "", too_few=counts)
    return Judged(contest, _against_limit(requirement, low, high), "")


def _against_limit(requirement: Requirement, low: float, high: float) -> GateVerdict:
    limit = requirement.limit or 0.0
    nearest, farthest = (high, low) if requirement.is_lower_better else (low, high)
    is_kept = nearest <= limit if requirement.is_lower_better else nearest >= limit
    is_broken = farthest > limit if requirement.is_lower_better else farthest < limit
    if is_kept:
        return "unchanged"
    return "regressed" if is_broken else "too_noisy"
