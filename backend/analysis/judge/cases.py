"""Each requirement judged for each series of the candidate at each of its loads.

All intervals of one answer hold together at 95 %: a candidate without a change is called regressed
in at most 5 % of answers, however many cases it has. So do the intervals of all answers that a
candidate gets while it is measured again, up to the number of runs that the caller states.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp, expm1
from typing import Literal

from backend.analysis.compare.advice import PART_THE_MODES, as_sentence
from backend.analysis.compare.gathering import Gathered
from backend.analysis.compare.ratios import Yardstick
from backend.analysis.grouping.measures import Measure, trial_values
from backend.analysis.grouping.points import Point
from backend.analysis.grouping.sweep import Sweep
from backend.analysis.judge.comparable import comparable_sample
from backend.analysis.judge.history import History, Level, variation_floor
from backend.analysis.judge.requirements import Requirement
from backend.analysis.query.field import Value
from backend.noise.models import HostNoise
from backend.stats import Ratio
from backend.stats.comparison import Comparison, Floor, Rule, matched_pairs
from backend.stats.replicates import Sample, centre_of, shared_confidence
from backend.stats.sample_size import Advice, least_difference, trials_needed
from backend.stats.sequential import intervals_shared

# From the gravest: the verdict of an answer is the first of these that any of its cases has.
CaseVerdict = Literal["regressed", "not_comparable", "too_noisy", "improved", "unchanged"]
DECIDED: tuple[CaseVerdict, ...] = ("regressed", "improved", "unchanged")


@dataclass(frozen=True, slots=True)
class Case:
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

    @property
    def measure(self) -> Measure:
        """The figure of the candidate."""
        return self.point.metrics[self.requirement.metric.id]

    @property
    def is_estimated(self) -> bool:
        """Whether the verdict rests on an interval; of errors, all attempts were counted."""
        is_limit = self.requirement.limit is not None and self.why is None
        return self.pair is not None or (is_limit and self.requirement.metric.group != "errors")

    @property
    def candidate_runs(self) -> int:
        """How many runs of the candidate have trials with this figure."""
        sample = self.candidate or self.measure.sample
        return 0 if sample is None else len(sample.units.runs)


@dataclass(frozen=True, slots=True)
class FamilySize:
    """How many intervals share the 5 %: `intervals` in each answer, with 1 to `most_runs` runs."""

    intervals: float
    most_runs: int = 1


@dataclass(frozen=True, slots=True)
class TrialCounts:
    """How many trials each side has, in all of its runs.

    `baseline`: None if the candidate is compared with a limit.
    """

    candidate: int
    baseline: int | None = None


@dataclass(frozen=True, slots=True)
class Judged:
    """A case with its verdict. `tells_from`: which change would have been found, a share.
    `too_few`: set where there is no interval, because a side has too few trials. `bounds`: the
    interval of the candidate's figure, where a limit is judged by it."""

    case: Case
    verdict: CaseVerdict
    why: str
    ratio: Ratio | None = None
    tells_from: float | None = None
    advice: Advice | None = None
    too_few: TrialCounts | None = None
    bounds: tuple[float, float] | None = None

    @property
    def is_decided(self) -> bool:
        """Whether an interval decides it, rather than failed requests."""
        return self.case.is_estimated and not self.case.is_failing and self.verdict in DECIDED


@dataclass(frozen=True, slots=True)
class RunNoise:
    """How far runs of the baselines differ in a metric, and where that is from."""

    metric: str
    floor: Floor
    source: str

    @property
    def share(self) -> float | None:
        return None if self.floor.run_sd is None else expm1(self.floor.run_sd)


def list_cases(
    gathered: Gathered, histories: Mapping[str, History], requirements: Sequence[Requirement]
) -> Iterator[Case]:
    """What is to be judged, of the series of the candidate that have a baseline."""
    for sweep in gathered.sweeps:
        history = histories.get(sweep.group.id)
        for point in sweep.points:
            if history is not None and (history.points(point.x) or not history.sweeps):
                for requirement in requirements:
                    yield case_of(gathered, history, (sweep, point), requirement)


def case_of(
    gathered: Gathered, history: History, at: tuple[Sweep, Point], requirement: Requirement
) -> Case:
    """A requirement for a series of the candidate at one of its points."""
    sweep, point = at
    metric = requirement.metric
    if not history.sweeps:
        return Case(requirement, sweep, point, None, None, history.why_none)
    is_failing = point.failing and not all(each.failing for _, each in history.points(point.x))
    why = gathered.entrant(sweep, point).unranked(metric.id)
    if requirement.share is None:
        return Case(requirement, sweep, point, None, None, why, is_failing)
    level = history.level(point.x, metric)
    candidate = comparable_sample(gathered, sweep, point, metric.id)
    if why is None and level is None:
        why = f"{metric.label} of the baseline cannot be compared, or is unknown."
    elif why is None and candidate is None:
        why = f"{metric.label} is zero in some trial, so there is no ratio."
    return Case(requirement, sweep, point, level, candidate, why, is_failing)


def judge_cases(
    cases: Sequence[Case], noises: Sequence[HostNoise], relevant: float, family_size: FamilySize
) -> tuple[list[Judged], list[RunNoise]]:
    """Every case with its verdict, and how far runs of the baselines differ in each metric.

    `noises`: of the hosts.
    """
    families: dict[tuple[str, Value], list[Case]] = defaultdict(list)
    judged = []
    for case in cases:
        if case.pair is None:
            judged.append(_judge_alone(case, family_size))
        else:
            families[case.requirement.text, case.point.x].append(case)
    of_runs = _run_noises([each for family in families.values() for each in family], noises)
    for family in families.values():
        floor = of_runs[family[0].requirement.metric.id].floor
        judged += _judge_family(family, floor, relevant, family_size)
    return judged, list(of_runs.values())


def _run_noises(cases: Sequence[Case], noises: Sequence[HostNoise]) -> dict[str, RunNoise]:
    """What the baselines say of the noise of each metric."""
    by_metric: dict[str, list[Case]] = defaultdict(list)
    for case in cases:
        by_metric[case.requirement.metric.id].append(case)
    found = {}
    for metric, of_metric in by_metric.items():
        levels = {
            (case.sweep.group.id, case.point.x): case.level.sample
            for case in of_metric
            if case.level is not None
        }
        floor = variation_floor(of_metric[0].requirement.metric, levels.items(), noises)
        found[metric] = RunNoise(metric, *floor)
    return found


def _judge_family(
    family: Sequence[Case], floor: Floor, relevant: float, family_size: FamilySize
) -> Iterator[Judged]:
    """The cases of one requirement at one load, each beside the noise of the others."""
    requirement, pairs = family[0].requirement, [each.pair for each in family if each.pair]
    rule = Rule(requirement.metric.better, expm1(requirement.tolerance))
    comparisons = matched_pairs(
        pairs, rule, floor=floor, families=family_size.intervals, most_runs=family_size.most_runs
    )
    for case, comparison in zip(family, comparisons, strict=True):
        yield _judge_comparison(case, comparison, relevant)


def _judge_comparison(case: Case, comparison: Comparison, relevant: float) -> Judged:
    requirement = case.requirement
    better = requirement.metric.better
    ratio = Yardstick(better, relevant).ratio(comparison)
    if case.is_failing:
        return Judged(case, "regressed", case.why or "", ratio)
    precision = comparison.precision
    if comparison.low is None or comparison.high is None or precision is None:
        return Judged(case, "too_noisy", "", ratio, too_few=_trial_counts(case))
    # The interval of the change for the worse.
    worse = (comparison.low, comparison.high)
    if not requirement.is_lower_better:
        worse = (-comparison.high, -comparison.low)
    tells_from = least_difference(precision)
    if worse[0] > requirement.tolerance:
        return Judged(case, "regressed", "", ratio, tells_from)
    if worse[1] <= requirement.tolerance:
        verdict, _ = Rule(better, relevant).verdict(comparison.low, comparison.high)
        is_gain = verdict == "improved"
        return Judged(case, "improved" if is_gain else "unchanged", "", ratio, tells_from)
    why, advice = _advise(comparison, requirement)
    return Judged(case, "too_noisy", why, ratio, tells_from, advice)


def _trial_counts(case: Case) -> TrialCounts | None:
    if case.pair is None:
        return None
    baseline, candidate = case.pair
    return TrialCounts(candidate=candidate.units.n, baseline=baseline.units.n)


def _advise(comparison: Comparison, requirement: Requirement) -> tuple[str, Advice | None]:
    """What would settle it: in a sentence, or a number of runs or trials."""
    if comparison.has_two_modes:
        return as_sentence(PART_THE_MODES), None
    return "", trials_needed(comparison, relevant=expm1(requirement.tolerance))


def _judge_alone(case: Case, family_size: FamilySize) -> Judged:
    """A case without a ratio: a limit, or a figure that may not be compared."""
    requirement, measure = case.requirement, case.measure
    if case.is_failing and requirement.metric.group != "errors":
        return Judged(case, "regressed", case.why or "")
    if case.why is not None:
        return Judged(case, "not_comparable", case.why)
    if requirement.limit is None or measure.value is None:
        return Judged(case, "not_comparable", f"{requirement.metric.label} is unknown.")
    if not case.is_estimated:
        return Judged(case, _against_limit(requirement, measure.value, measure.value), "")
    return _judge_limit(case, *_interval(case, family_size))


def _judge_limit(case: Case, low: float | None, high: float | None) -> Judged:
    """A limit held against the interval of the candidate's figure."""
    if low is None or high is None:
        counts = TrialCounts(candidate=len(trial_values(case.measure)))
        return Judged(case, "too_noisy", "", too_few=counts)
    verdict = _against_limit(case.requirement, low, high)
    why = _limit_remedy(case.measure) if verdict == "too_noisy" else ""
    return Judged(case, verdict, why, bounds=(low, high))


def _limit_remedy(measure: Measure) -> str:
    """What would tell on which side of a limit a figure is."""
    if measure.has_two_modes:
        return as_sentence(PART_THE_MODES)
    unit = "trial" if measure.sample is None else measure.sample.units.unit
    return f"The interval includes the limit: measure more {unit}s of the candidate."


def _interval(case: Case, family_size: FamilySize) -> tuple[float | None, float | None]:
    """The interval of the candidate's figure, in the unit of the metric."""
    sample = case.measure.sample
    if sample is None:
        return case.measure.low, case.measure.high
    shared = family_size.intervals * intervals_shared(case.candidate_runs, family_size.most_runs)
    centre = centre_of(sample.units, shared_confidence(shared))
    if centre.low is None or centre.high is None:
        return None, None
    return exp(centre.low), exp(centre.high)


def _against_limit(requirement: Requirement, low: float, high: float) -> CaseVerdict:
    limit = requirement.limit or 0.0
    nearest, farthest = (high, low) if requirement.is_lower_better else (low, high)
    is_kept = nearest <= limit if requirement.is_lower_better else nearest >= limit
    is_broken = farthest > limit if requirement.is_lower_better else farthest < limit
    if is_kept:
        return "unchanged"
    return "regressed" if is_broken else "too_noisy"
