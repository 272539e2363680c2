"""Changes of a figure over versions or days: where each series got better or worse, in words."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import exp, log
from statistics import fmean

from backend.analysis import figures
from backend.analysis.compare.advice import PART_THE_MODES, as_sentence
from backend.analysis.compare.design import NamedRatio
from backend.analysis.compare.entrant import Entrant
from backend.analysis.compare.headline import Headline, write_difference
from backend.analysis.compare.ratio_texts import ratio_text
from backend.analysis.compare.ratios import Yardstick
from backend.analysis.compare.reasons import Harm, Reason
from backend.analysis.grouping.grouping import TrendAxis as Axis
from backend.analysis.grouping.measures import trial_values
from backend.analysis.grouping.sweep import join_series
from backend.analysis.query.field import text_of
from backend.analysis.query.metrics import Metric
from backend.analysis.query.units import figure_text
from backend.noise.sentences import share_text
from backend.stats import Ratio
from backend.stats.changes import LEAST_POSITIONS, MOST_NAMED, Change, find_changes, least_change
from backend.stats.design import design_of_levels
from backend.stats.replicates import Sample
from backend.stats.thresholds import percent

_WITH: dict[Axis, str] = {"version": "with version", "date": "on"}
# Runs at different times differ by a drift too, which may look like a change.
_TO_BE_SURE: dict[Axis, str] = {
    "version": "measure the versions before and after the change in one run",
    "date": "repeat the measurement from before the change",
}
_IN_ONE: dict[Axis, str] = {"version": "in one version", "date": "on one date"}
_MANY: dict[Axis, str] = {"version": "versions", "date": "dates"}
_MISSED = f"and even one of {percent(MOST_NAMED)} might be missed"


# So many versions are compared with each other: they show no trend.
PAIR = 2


@dataclass(frozen=True, slots=True)
class Track:
    """A series over the x axis, in its order: at each x the values of its trials.

    An x where the figure is unknown or not ranked (too many failed requests, or a latency at an
    unmet rate) has no values, and is passed over.
    """

    series: str
    label: str
    values: Sequence[tuple[str | float, Sequence[float]]]
    # Whether the trials of a place fall into two groups.
    has_two_modes: bool = False
    # The trials at each place that can be compared, in the order of the axis.
    samples: Sequence[tuple[str | float, Sample]] = ()

    @property
    def known(self) -> int:
        return sum(1 for _, trials in self.values if trials)

    @property
    def has_zeros(self) -> bool:
        """Whether some trial's figure is 0, so that it has no ratio to another."""
        return any(min(trials, default=1.0) <= 0 for _, trials in self.values)

    @property
    def is_pair(self) -> bool:
        """Whether it has two places that can be compared, and no other."""
        return self.known == len(self.samples) == PAIR


def track_of(
    series: str, label: str, by_x: Iterable[tuple[str | float | None, Entrant]], metric: str
) -> Track:
    """The track of a series, given what is measured at each x in their order."""
    places = [(x, each) for x, each in by_x if x is not None]
    values = [
        (x, () if each.unranked(metric) else tuple(trial_values(each.measure(metric))))
        for x, each in places
    ]
    samples = tuple(
        (x, sample) for x, each in places if (sample := each.sample(metric)) is not None
    )
    has_two_modes = any(each.measure(metric).has_two_modes for _, each in places)
    return Track(series, label, values, has_two_modes, samples)


@dataclass(frozen=True, slots=True)
class LevelChange:
    """A change of a series, and the ratio of its level since to its level before."""

    record: figures.Change
    claim: NamedRatio


@dataclass(frozen=True, slots=True)
class VersionPair:
    """A server of which two versions were measured: `ratio` is the newer ÷ the older."""

    track: Track
    older: str
    newer: str
    ratio: Ratio

    @property
    def claim(self) -> NamedRatio:
        return NamedRatio(self.ratio, f"{self.track.label} {self.newer}", self.older)

    def headline(self, metric: Metric, relevant: float) -> Headline:
        """`nginx (at 64 connections): 1.28 serves 1.10× [1.08, 1.12] the requests of 1.27`"""
        told = NamedRatio(self.ratio, self.newer, self.older)
        return write_difference(told, metric.id, "", relevant).prefixed(self.track.label)


def pair_versions(tracks: Sequence[Track], yardstick: Yardstick) -> list[VersionPair]:
    """The tracks of exactly two known versions. All intervals hold together."""
    pairs = [track for track in tracks if track.is_pair]
    sides = [(track.samples[0][1], track.samples[1][1]) for track in pairs]
    return [
        VersionPair(track, str(track.samples[0][0]), str(track.samples[1][0]), ratio)
        for track, ratio in zip(pairs, yardstick.matched(sides) if sides else (), strict=True)
    ]


def join_pairs(pairs: Sequence[VersionPair], metric: Metric, relevant: float) -> Headline:
    """How the versions of each server differ."""
    headlines = [pair.headline(metric, relevant) for pair in pairs]
    if len(headlines) == 1:
        return headlines[0]
    is_open = all(headline.is_open for headline in headlines)
    return Headline(join_series([headline.text for headline in headlines]), is_open=is_open)


def list_changes(
    tracks: Sequence[Track], yardstick: Yardstick, *, metric: Metric, axis: Axis
) -> list[LevelChange]:
    """The significant and relevant changes of each series, in order.

    before, after: the level (geometric mean of the trials) in the metric's unit; ratio: after ÷
    before.
    """
    asked = metric, axis, yardstick.relevant
    return [
        LevelChange(_record(track, change, asked), claim)
        for track in tracks
        for change, claim in _claims(track, yardstick)
    ]


def _claims(track: Track, yardstick: Yardstick) -> Iterator[tuple[Change, NamedRatio]]:
    """Each change with its ratio, which says how the levels before and since were measured."""
    trials = [trials for _, trials in track.values]
    changes = find_changes(trials, yardstick.rule, families=yardstick.families)
    samples = dict(track.samples)
    bounds = [0, *(change.index for change in changes), len(track.values)]
    for change, first, last in zip(changes, bounds[:-2], bounds[2:], strict=True):
        at, known = change.index, [x for x, trials in track.values if trials]
        levels = (
            [samples[x] for x, _ in track.values[low:high] if x in samples]
            for low, high in ((first, at), (at, last))
        )
        ratio = replace(change.ratio, design=design_of_levels(*levels))
        x = track.values[at][0]
        names = [f"{track.label} {text_of(each)}" for each in (x, known[known.index(x) - 1])]
        yield change, NamedRatio(ratio, *names)


def _record(track: Track, change: Change, asked: tuple[Metric, Axis, float]) -> figures.Change:
    metric, axis, relevant = asked
    x = track.values[change.index][0]
    return figures.Change(
        series=track.series,
        x=x,
        before=change.before,
        after=change.after,
        ratio=change.ratio.value,
        low=change.ratio.low,
        high=change.ratio.high,
        verdict=change.ratio.verdict,
        text=change_text(track.label, x, change, metric=metric, axis=axis, relevant=relevant),
    )


def change_text(
    label: str, x: str | float, change: Change, *, metric: Metric, axis: Axis, relevant: float
) -> str:
    """`nginx regressed with version 1.4: latency p99 1.31× [1.2, 1.4], 4 ms before, 5 ms since`

    Where the interval reaches into the threshold, it is a change of uncertain size.
    """
    is_sized = change.ratio.verdict != "size_uncertain"
    verb = change.ratio.verdict if is_sized else "changed"
    doubt = "" if is_sized else f", perhaps by less than {percent(relevant)}"
    before, after = (figure_text(value, metric.unit) for value in (change.before, change.after))
    return (
        f"{label} {verb} {_WITH[axis]} {text_of(x)}: {_name(metric)} "
        f"{ratio_text(change.ratio)}, {before} before, {after} since{doubt}"
    )


def trend_headline(
    changes: Sequence[LevelChange],
    tracks: Sequence[Track],
    yardstick: Yardstick,
    *,
    metric: Metric,
    axis: Axis,
    is_one_run: bool = False,
) -> str:
    """The sentence above the trend: its largest change, else that none was found, and which could
    have been. `is_one_run`: whether all was measured in one run."""
    if changes:
        largest = largest_change(changes)
        more = len(changes) - 1
        rest = f"; {more} more change{'' if more == 1 else 's'}" if more else ""
        check = "" if is_one_run else f". {drift_text(axis)}"
        return f"{largest.record.text}{rest}{check}"
    if (text := _no_trend_text(tracks, metric=metric, axis=axis)) is not None:
        return text
    by_length = sorted(tracks, key=lambda track: -track.known)
    return join_series(
        [_unchanged_text(each, _name(metric), axis, yardstick) for each in by_length]
    )


def drift_text(axis: Axis) -> str:
    """What to measure, so that runs at different times are not taken for a change."""
    return f"To rule out a drift of the machine, {_TO_BE_SURE[axis]}"


def _no_trend_text(tracks: Sequence[Track], *, metric: Metric, axis: Axis) -> str | None:
    """Why no series has a trend; None if one has two positions."""
    most = max(tracks, key=lambda track: track.known)
    if most.known > 1:
        return None
    if most.known == 0:
        return f"No trend: {_name(metric)} is unknown for every {axis}"
    ((x, level),) = _levels(most) or ((most.values[0][0], None),)
    if len(tracks) > 1 or level is None:
        return f"No trend yet: each series was measured {_IN_ONE[axis]} only"
    figure = figure_text(level, metric.unit)
    return f"No trend yet: {most.label} was measured {_WITH[axis]} {text_of(x)} only, {figure}"


def _unchanged_text(track: Track, name: str, axis: Axis, yardstick: Yardstick) -> str:
    """That no change was found in a series, and which could have been; or that none could be."""
    many = _MANY[axis]
    if track.known < LEAST_POSITIONS:
        return (
            f"{track.label}: too few {many} to find a change ({track.known} of {LEAST_POSITIONS})"
        )
    place = text_of(next(x for x, trials in track.values if trials))
    since = f"since {place} ({track.known} {many})"
    if track.has_zeros:
        return f"{track.label}: no change of {name} can be found {since}, as some figure is 0"
    least = _least_change(track, yardstick)
    if least is None:
        return f"{track.label}: too noisy to find a lasting change of {name} {since}, {_MISSED}"
    return f"{track.label}: no lasting change of {name} of {share_text(least)} or more {since}"


def _least_change(track: Track, yardstick: Yardstick) -> float | None:
    """The smallest change that would have been found; None if noise hides one of `MOST_NAMED`."""
    trials = [trials for _, trials in track.values]
    return least_change(trials, yardstick.rule, families=yardstick.families)


def trend_doubts(
    changes: Sequence[LevelChange], tracks: Sequence[Track], yardstick: Yardstick, *, axis: Axis
) -> list[Reason]:
    """Why the sentence above the trend may not hold. `tracks`: those that are no pair."""
    if changes:
        largest = largest_change(changes)
        if largest.claim.ratio.verdict != "size_uncertain":
            return []
        remedy = "Measure more trials to learn its size."
        if any(track.has_two_modes for track in tracks if track.series == largest.record.series):
            remedy = as_sentence(PART_THE_MODES)
        return [Reason("the change may be too small to matter", remedy, Harm.WARNS)]
    many, long = _MANY[axis], [track for track in tracks if track.known >= LEAST_POSITIONS]
    if tracks and not long:
        remedy = f"Measure at least {LEAST_POSITIONS} {many}."
        return [Reason(f"there are too few {many} to find lasting changes", remedy, Harm.HIDES)]
    return list(filter(None, (_zeros_doubt(long), _noise_doubt(long, yardstick, many))))


def _zeros_doubt(tracks: Iterable[Track]) -> Reason | None:
    labels = [track.label for track in tracks if track.has_zeros]
    if not labels:
        return None
    text = f"some figure of {join_series(labels, ', ')} is 0, so no change can be found"
    return Reason(text, "Choose another metric.", Harm.HIDES)


def _noise_doubt(tracks: Iterable[Track], yardstick: Yardstick, many: str) -> Reason | None:
    labels = [
        track.label
        for track in tracks
        if not track.has_zeros and _least_change(track, yardstick) is None
    ]
    if not labels:
        return None
    text = f"noise hides lasting changes of {join_series(labels, ', ')}"
    return Reason(text, f"Compare the newest of the {many} with the one before.", Harm.HIDES)


def _levels(track: Track) -> list[tuple[str | float, float]]:
    """Each place with the geometric mean of its trials, where these are known and above 0."""
    return [
        (x, exp(fmean(map(log, trials))))
        for x, trials in track.values
        if trials and min(trials) > 0
    ]


def _name(metric: Metric) -> str:
    return metric.label[0].lower() + metric.label[1:]


def largest_change(changes: Sequence[LevelChange]) -> LevelChange:
    """The one with the largest ratio, whether up or down."""
    return max(changes, key=lambda each: abs(log(each.claim.ratio.value or 1.0)))
