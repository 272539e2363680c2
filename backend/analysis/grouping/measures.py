"""The figure of a metric at one point: from its trials, with an interval and its kind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import exp, log, log1p
from statistics import median

from msgspec import UNSET, Struct

from backend.analysis import figures
from backend.analysis.query.metrics import THROUGHPUT_METRICS, Metric
from backend.analysis.query.records import LoadedCell, LoadedTrial
from backend.formats.latency_steps import figure_step_us
from backend.formats.model import ERROR_CLASSES
from backend.stats.replicates import Centre, Observation, Sample, estimate, figure_of
from backend.stats.thresholds import LEAST_TRIALS

Values = tuple[float | None, ...]
# The run of a trial, its round, the start of its server, its turn in the run, and when it began.
_Place = tuple[int, int | None, int | None, int | None, float | None]
RANGE = "range of the trials"
# Trials so many times apart have no level in common: their geometric mean lies where none of them
# is, and the interval of three of them reaches far beyond all.
UNLIKE = 10.0
RANGE_OF_UNLIKE = f"{RANGE}, which differ tenfold or more"


class Measure(Struct, frozen=True, gc=False):
    """A figure with its interval, the figure of each trial, and where it comes from.

    `value`: the centre of the trials; the order, the interval and every ratio come from it.
    `low`, `high`: what is shown beside it, as `interval` says. `sample`: the trials as logarithms;
    None if the figure cannot be compared.
    """

    value: float | None
    low: float | None
    high: float | None
    each: Values
    origin: figures.Origin | None
    interval: str | None
    # The same figure over all requests together, where their distribution is stored.
    pooled: float | None = None
    # The smallest step that the load tool prints; a smaller figure is known to be below it.
    step: float | None = None
    sample: Sample | None = None

    @property
    def has_two_modes(self) -> bool:
        """Whether its trials fall into two groups."""
        return self.sample is not None and self.sample.has_two_modes

    @property
    def bounds(self) -> tuple[float | None, float | None]:
        """Between which the figure is: of unlike trials, their range does not say it."""
        if self.interval != RANGE_OF_UNLIKE or self.sample is None:
            return self.low, self.high
        return _bounds(estimate(self.sample))

    def to_record(self) -> figures.Measure:
        # Field by field: `record_of` takes seven times as long, and a comparison has thousands.
        return figures.Measure(
            value=self.value,
            low=self.low,
            high=self.high,
            each=self.each,
            origin=self.origin,
            interval=self.interval,
            pooled=UNSET if self.pooled is None else self.pooled,
            step=UNSET if self.step is None else self.step,
        )


def trial_values(measure: Measure) -> list[float]:
    """The figure of each trial that has one."""
    return [value for value in measure.each if value is not None]


class Trials(Struct, frozen=True, gc=False):
    """The counted trials of a point, and what each of its figures reads of them.

    `are_computed`: whether all latencies are computed from the requests. `tools`: of each trial.
    `has_two_modes`: whether the throughput of a run has two levels.
    """

    trials: tuple[LoadedTrial, ...]
    places: tuple[_Place, ...]
    are_computed: bool
    tools: tuple[str, ...]
    has_two_modes: bool

    @classmethod
    def of(cls, cells: Sequence[LoadedCell], *, has_two_modes: bool) -> Trials:
        """The trials of `cells`, in their order."""
        trials = tuple([trial for cell in cells for trial in cell.trials])
        return cls(
            trials=trials,
            places=tuple([place for cell in cells for place in _places(cell)]),
            are_computed={trial.origin for trial in trials} <= {"computed"},
            tools=tuple([cell.series.tool for cell in cells for _ in cell.trials]),
            has_two_modes=has_two_modes,
        )


def _places(cell: LoadedCell) -> Iterator[_Place]:
    """Where each trial of a cell was measured, as an observation says it.

    Files that were uploaded together are numbered too, in no order of measuring.
    """
    # As an integer: a UUID takes a call to be hashed.
    run, run_began = cell.run.id.int, cell.run.started_at
    run_began_s = None if run_began is None else run_began.timestamp()
    for trial in cell.trials:
        is_in_order = trial.repeat is not None or trial.began_s is not None
        turn = trial.ordinal if is_in_order else None
        began_s = run_began_s if trial.began_s is None else trial.began_s
        yield run, trial.repeat, trial.start, turn, began_s


def measure_of(metric: Metric, trials: Trials, merged_us: Mapping[str, float | None]) -> Measure:
    """The figure of `metric`. `merged_us`: percentiles of all requests together, where known."""
    each = tuple([metric.read(trial) for trial in trials.trials])
    if metric.group == "errors":
        return _failures(metric, each, trials.trials)
    if metric.id == "max":
        return _largest(each, trials)
    if metric.group == "latency":
        return _latency(metric, each, trials, merged_us)
    return _centre(each, trials, origin=_rate_origin(metric, trials.trials))


def _rate_origin(metric: Metric, trials: Sequence[LoadedTrial]) -> figures.Origin:
    """Reported as soon as one trial has the tool's own rate as its throughput."""
    if metric.id not in THROUGHPUT_METRICS:
        return "computed"
    return "reported" if "reported" in [t.throughput_origin for t in trials] else "computed"


def _latency(
    metric: Metric, each: Values, trials: Trials, merged_us: Mapping[str, float | None]
) -> Measure:
    if metric.percentile is None:
        pooled = _mean_of_requests(each, trials.trials) if trials.are_computed else None
    else:
        pooled = merged_us.get(metric.percentile)
    step = _coarsest_step(each, trials)
    return _centre(each, trials, origin=_latency_origin(trials), step=step, pooled=pooled)


def _coarsest_step(each: Values, trials: Trials) -> float | None:
    """The coarsest step that a trial's figure was printed in, in µs; None if none is known."""
    steps = [
        trial.latency_step_us
        if trial.origin == "computed"
        else figure_step_us(tool, trial.latency_step_us, value)
        for value, trial, tool in zip(each, trials.trials, trials.tools, strict=True)
        if value is not None and trial.latency_step_us
    ]
    return max(steps, default=None)


def _latency_origin(trials: Trials) -> figures.Origin:
    return "computed" if trials.are_computed else "reported"


def _centre(
    each: Values,
    trials: Trials,
    *,
    origin: figures.Origin,
    step: float | None = None,
    pooled: float | None = None,
) -> Measure:
    """The centre of the trials with its interval."""
    values = [value for value in each if value is not None]
    if not values:
        return Measure(None, None, None, each, None, None, pooled, step)
    if min(values) <= 0:
        return _with_zeros(each, values, origin, step, pooled)
    observations = [
        Observation(log(value), *place)
        for value, place in zip(each, trials.places, strict=True)
        if value is not None
    ]
    sample = Sample(
        tuple(observations), step=half_step(values, step), has_two_modes=trials.has_two_modes
    )
    centre = estimate(sample)
    low, high, interval = shown_interval(centre, values)
    return Measure(
        value=figure_of(centre.value),
        low=low,
        high=high,
        each=each,
        origin=origin,
        interval=interval,
        pooled=pooled,
        step=step,
        sample=sample,
    )


def shown_interval(
    centre: Centre, values: Sequence[float]
) -> tuple[float | None, float | None, str | None]:
    """Its ends and its name: of unlike trials their range, unless the interval is narrower."""
    low, high = _bounds(centre)
    least, most = min(values), max(values)
    is_narrower = low is not None and high is not None and high * least < most * low
    if most >= UNLIKE * least and not is_narrower:
        return least, most, RANGE_OF_UNLIKE
    return low, high, interval_name(centre)


def _bounds(centre: Centre) -> tuple[float, float] | tuple[None, None]:
    if centre.low is None or centre.high is None:
        return None, None
    return exp(centre.low), exp(centre.high)


def half_step(values: Sequence[float], step: float | None) -> float:
    """Half a step of the tool as a logarithm, downwards, where it is larger: all trials may be
    rounded in the same direction.
    """
    if step is None:
        return 0.0
    # A printed figure is a step at least; one that is computed may be smaller.
    return -log1p(-step / 2 / max(min(values), step))


def interval_name(centre: Centre) -> str | None:
    """What an interval covers: other trials of the same run, or other runs; of rounded figures,
    in more than 95 %."""
    if centre.low is None:
        return None
    within = "this run" if centre.runs == 1 else f"these {centre.runs} runs"
    name = f"over {centre.runs} runs" if centre.scope == "runs" else f"within {within}"
    return f"95 % interval {name}{', widened for rounding' if centre.is_widened else ''}"


def _with_zeros(
    each: Values,
    values: Sequence[float],
    origin: figures.Origin,
    step: float | None,
    pooled: float | None,
) -> Measure:
    """A figure that the load tool rounded to zero in some trial: it has no logarithm, no ratio."""
    has_range = len(values) >= LEAST_TRIALS
    return Measure(
        value=median(values),
        low=min(values) if has_range else None,
        high=max(values) + (step or 0.0) if has_range else None,
        each=each,
        origin=origin,
        interval=RANGE if has_range else None,
        pooled=pooled,
        step=step,
    )


def _mean_of_requests(each: Values, trials: Sequence[LoadedTrial]) -> float | None:
    """The mean over all requests, in µs; None if a trial does not say how many it had."""
    weighted_us, total = 0.0, 0
    for mean_us, trial in zip(each, trials, strict=True):
        if mean_us is None or trial.requests_completed is None:
            return None
        weighted_us += mean_us * trial.requests_completed
        total += trial.requests_completed
    return weighted_us / total if total else None


def _largest(each: Values, trials: Trials) -> Measure:
    """The largest of all requests. It grows with their number, so it has no interval or ratio."""
    values = [value for value in each if value is not None]
    if not values:
        return Measure(None, None, None, each, None, None)
    return Measure(max(values), None, None, each, _latency_origin(trials), None)


def _failures(metric: Metric, each: Values, trials: Sequence[LoadedTrial]) -> Measure:
    """Failed attempts of all attempts: rates are pooled by their counts, never averaged."""
    values = [value for value in each if value is not None]
    has_range = len(values) >= LEAST_TRIALS
    class_ = metric.id.removeprefix("error_")
    return Measure(
        value=_failed_share(trials) if class_ == "rate" else class_shares(trials)[class_],
        low=min(values) if has_range else None,
        high=max(values) if has_range else None,
        each=each,
        origin="computed" if values else None,
        interval=RANGE if has_range else None,
    )


def _failed_share(trials: Sequence[LoadedTrial]) -> float | None:
    counts = [count for trial in trials if (count := trial.attempts) is not None]
    total = sum(made for _, made in counts)
    return sum(failed for failed, _ in counts) / total if total else None


def class_shares(trials: Sequence[LoadedTrial]) -> dict[str, float | None]:
    """The share of attempts that failed, by class; None if a trial does not tell."""
    counts = [trial.attempts for trial in trials]
    made = sum([attempts[1] for attempts in counts if attempts is not None])
    if not made or None in counts:
        return dict.fromkeys(ERROR_CLASSES)
    errors = [trial.errors for trial in trials]
    return {
        class_: _class_share([own.get(class_) for own in errors], made) for class_ in ERROR_CLASSES
    }


def _class_share(counts: Sequence[int | None], made: int) -> float | None:
    return None if None in counts else min(1.0, sum(filter(None, counts)) / made)
