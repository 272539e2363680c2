"""A series of one side held against a series of the other: comparability, and ratios by load."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp

from backend.analysis import figures
from backend.analysis.compare.gathering import Gathered
from backend.analysis.compare.panels import Judgement
from backend.analysis.compare.ratio_texts import ratio_text
from backend.analysis.grouping.measures import Measure, shown_interval
from backend.analysis.grouping.points import Point, place_of
from backend.analysis.grouping.sweep import Sweep
from backend.analysis.judge.comparable import comparable_sample, judge_pair
from backend.analysis.judge.history import Level
from backend.analysis.pages.pair.answer import PairFigure, PairRow
from backend.analysis.pages.pair.sides import Side
from backend.analysis.query.field import Value, ordered
from backend.analysis.query.metrics import CORE
from backend.analysis.record import record_of
from backend.stats import Ratio
from backend.stats.replicates import Sample, estimate

# Of a pair, at a load point, of a metric.
Key = tuple[int, Value, str]


@dataclass(frozen=True, slots=True)
class JudgedPair:
    """Two series, whether they may be compared, and b ÷ a where they may."""

    a: Sweep
    b: Sweep
    judgement: Judgement
    # By load point and metric.
    ratios: Mapping[tuple[Value, str], Ratio]

    @property
    def label(self) -> str:
        """The name of both where it is one, else the name of each."""
        names = dict.fromkeys((self.a.group.label, self.b.group.label))
        return " and ".join(names)

    @property
    def places(self) -> list[Value]:
        """The load points of either side, in their order."""
        return ordered({point.x for sweep in (self.a, self.b) for point in sweep.points})

    @property
    def highest_shared(self) -> Value:
        """The highest load point with a ratio of throughput; None if there is none."""
        shared = [x for x in self.places if (x, "throughput") in self.ratios]
        return shared[-1] if shared else None

    def rows(self) -> list[PairRow]:
        return [self._row(x, metric) for x in self.places for metric in CORE]

    def _row(self, x: Value, metric: str) -> PairRow:
        ratio = self.ratios.get((x, metric))
        return PairRow(
            x=place_of(x),
            metric=metric,
            a=_figure(self.a.at(x), metric),
            b=_figure(self.b.at(x), metric),
            ratio=None if ratio is None else record_of(figures.Ratio, ratio),
            text=None if ratio is None else ratio_text(ratio),
        )


def _figure(point: Point | None, metric: str) -> PairFigure | None:
    return None if point is None else figure_of_measure(point.metrics[metric])


def figure_of_measure(measure: Measure) -> PairFigure:
    return PairFigure(
        value=measure.value,
        low=measure.low,
        high=measure.high,
        interval=measure.interval,
        step=measure.step,
    )


def figure_of_level(level: Level) -> PairFigure:
    """The centre of a baseline with its interval, in the unit of the metric."""
    centre = estimate(level.sample)
    values = [exp(each.value) for each in level.sample.observations]
    low, high, interval = shown_interval(centre, values)
    return PairFigure(value=exp(centre.value), low=low, high=high, interval=interval, step=None)


def judge_pairs(a: Side, b: Side, pairs: Sequence[tuple[Sweep, Sweep]]) -> list[JudgedPair]:
    """Each pair of series judged, with the ratios of its load points."""
    judgements = [judge_pair(a.gathered, b.gathered, pair) for pair in pairs]
    ratios = _ratios(a.gathered, b.gathered, pairs, judgements)
    return [
        JudgedPair(*pair, judgement, own)
        for pair, judgement, own in zip(pairs, judgements, ratios, strict=True)
    ]


def _ratios(
    a: Gathered,
    b: Gathered,
    pairs: Sequence[tuple[Sweep, Sweep]],
    judgements: Sequence[Judgement],
) -> list[dict[tuple[Value, str], Ratio]]:
    """By pair: b ÷ a by load point and metric. One load and metric are one family of intervals."""
    families: dict[tuple[Value, str], dict[int, tuple[Sample, Sample]]] = defaultdict(dict)
    for number, (pair, judgement) in enumerate(zip(pairs, judgements, strict=True)):
        if not judgement.comparability.allows_ranking or a.grouping.x != b.grouping.x:
            continue
        for key, samples in _samples(a, b, pair):
            families[key][number] = samples
    ratios: list[dict[tuple[Value, str], Ratio]] = [{} for _ in pairs]
    for (x, metric), samples_of in families.items():
        yardstick = replace(a, noises=(*a.noises, *b.noises)).yardstick(metric=metric)
        for number, ratio in zip(
            samples_of, yardstick.matched(list(samples_of.values())), strict=True
        ):
            ratios[number][x, metric] = ratio
    return ratios


def _samples(
    a: Gathered, b: Gathered, pair: tuple[Sweep, Sweep]
) -> list[tuple[tuple[Value, str], tuple[Sample, Sample]]]:
    """The trials of both sides by load point and metric, where they may be compared."""
    samples = []
    for point_a in pair[0].points:
        point_b = pair[1].at(point_a.x)
        if point_b is None:
            continue
        for metric in CORE:
            own = comparable_sample(a, pair[0], point_a, metric)
            other = comparable_sample(b, pair[1], point_b, metric)
            if own is not None and other is not None:
                samples.append(((point_a.x, metric), (own, other)))
    return samples
