"""What the baseline of a series says: its runs since its last change, and how far they differ."""

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import exp
from statistics import fmean
from typing import NamedTuple
from uuid import UUID

from msgspec import structs

from backend.analysis.compare.advice import as_sentence
from backend.analysis.compare.comparability import Comparability
from backend.analysis.compare.gathering import Gathered, gather
from backend.analysis.compare.ratios import floor_of
from backend.analysis.compare.reasons import Harm, Reason
from backend.analysis.grouping.points import Point
from backend.analysis.grouping.sweep import Sweep
from backend.analysis.judge.comparable import comparable_sample, judge_pair
from backend.analysis.query.compare_query import CompareQuery
from backend.analysis.query.factors import MACHINE
from backend.analysis.query.field import Value
from backend.analysis.query.metrics import Metric
from backend.analysis.query.records import LoadedCell
from backend.noise.estimate import RunMean, run_variation
from backend.noise.models import HostNoise
from backend.runs.tables.happening import happened_at, place_of
from backend.stats.changes import find_changes
from backend.stats.comparison import Floor, Rule
from backend.stats.replicates import Observation, Sample

# Two comparisons between runs: a variation from one alone is mostly chance.
LEAST_FREEDOM = 2


@dataclass(frozen=True, slots=True)
class Level:
    """The trials of a baseline at a load point since its last change. `earlier`: runs before it."""

    sample: Sample
    runs: int
    earlier: int


@dataclass(frozen=True)
class History:
    """The series of a baseline that one series of the candidate is compared with.

    `comparability`: of the candidate with them, or with the newest one where none fits (`sweeps` is
    then empty). `left_out`: how many series do not fit.
    """

    gathered: Gathered
    sweeps: tuple[Sweep, ...]
    comparability: Comparability
    left_out: int = 0

    @property
    def why_none(self) -> str:
        """Why no series fits, in a sentence."""
        return as_sentence("; ".join(self.comparability.reasons))

    def points(self, x: Value) -> list[tuple[Sweep, Point]]:
        """The measured points at a load, one of each series."""
        at = ((sweep, sweep.at(x)) for sweep in self.sweeps)
        return [(sweep, point) for sweep, point in at if point is not None]

    def level(self, x: Value, metric: Metric, runs: Collection[UUID] | None = None) -> Level | None:
        """The trials at a load that count now; None if none may be compared.

        `runs`: those that may count; None: all.
        """
        sample = self.sample(x, metric, runs)
        if sample is None:
            return None
        order = self._run_order()
        return level_of(
            sample, sorted({each.run for each in sample.observations}, key=order), metric
        )

    def sample(
        self, x: Value, metric: Metric, runs: Collection[UUID] | None = None
    ) -> Sample | None:
        """The comparable trials at a load, of all versions together; None where there are none."""
        samples = self._comparable(x, metric)
        trials: Iterable[Observation] = chain.from_iterable(each.observations for each in samples)
        if runs is not None:
            keys = {run.int for run in runs}
            trials = (each for each in trials if each.run in keys)
        observations = tuple(trials)
        if not observations:
            return None
        return Sample(
            observations,
            step=max(sample.step for sample in samples),
            has_two_modes=any(sample.has_two_modes for sample in samples),
        )

    def _comparable(self, x: Value, metric: Metric) -> list[Sample]:
        at = (comparable_sample(self.gathered, *each, metric.id) for each in self.points(x))
        return [sample for sample in at if sample is not None]

    def _run_order(self) -> Callable[[Hashable], int]:
        """The place of a run in time, by the key that its trials name it by."""
        by_time = sorted(self.gathered.runs, key=lambda run: (place_of(run), run.id))
        places = {run.id.int: place for place, run in enumerate(by_time)}
        return lambda run: places.get(run, -1)  # type: ignore[call-overload]


def level_of(sample: Sample, runs: Sequence[Hashable], metric: Metric) -> Level:
    """The trials since the last change of the level. `runs`: all that the sample has, in order."""
    by_run: dict[Hashable, list[Observation]] = {run: [] for run in runs}
    for observation in sample.observations:
        by_run[observation.run].append(observation)
    positions = [[exp(each.value) for each in by_run[run]] for run in runs]
    changes = find_changes(positions, Rule(metric.better))
    first = changes[-1].index if changes else 0
    counted = tuple(each for run in runs[first:] for each in by_run[run])
    return Level(structs.replace(sample, observations=counted), len(runs) - first, first)


def load_history(
    candidate: Gathered,
    sweep: Sweep,
    filters: Mapping[str, Sequence[object]],
    workspace_id: UUID,
    may_differ: Collection[str] = (),
) -> History | None:
    """The baseline of a series of the candidate; None if its runs have no series like it.

    `filters`: the runs of the baseline, and what of them is asked for. `may_differ`: which of
    `MAY_DIFFER` need not be the same: nobody looks at the verdict before it counts.
    """
    gathered = gather_baseline(candidate, sweep, filters, workspace_id)
    return history_in(gathered, candidate, sweep, may_differ)


def gather_baseline(
    candidate: Gathered, sweep: Sweep, filters: Mapping[str, Sequence[object]], workspace_id: UUID
) -> Gathered:
    """What the runs of the baseline say of the server and workload of a series, in the metrics of
    the candidate."""
    first = sweep.group.first
    own = {"server": [first.server.name], "workload": [first.workload.name]}
    query = CompareQuery(metric=candidate.query.metric).with_filters(**{**filters, **own})
    return gather(query, [workspace_id], candidate.more_metrics)


def history_in(
    gathered: Gathered, candidate: Gathered, sweep: Sweep, may_differ: Collection[str] = ()
) -> History | None:
    """As `load_history`, of a baseline that is `gathered` already."""
    has_same_axis = candidate.grouping.x == gathered.grouping.x
    alike = _most_alike(sweep, gathered.sweeps) if has_same_axis else []
    if not alike:
        return None
    judged = [
        (other, _judge_pair(gathered, candidate, (other, sweep), may_differ)) for other in alike
    ]
    fitting = [(other, each) for other, each in judged if each.allows_ranking]
    _, comparability = max(fitting or judged, key=lambda pair: _newest_run(pair[0]))
    return History(
        gathered=gathered,
        sweeps=tuple(other for other, _ in fitting),
        comparability=comparability,
        left_out=len(judged) - len(fitting),
    )


def _judge_pair(
    gathered: Gathered,
    candidate: Gathered,
    pair: tuple[Sweep, Sweep],
    may_differ: Collection[str],
) -> Comparability:
    """Whether a series of the baseline may be compared with that of the candidate.

    A reader may compare two machines, and sees that they differ; an exit status has no reader.
    """
    # What the caller may allow is asked below, so that the answer names it.
    judged_below = [factor for kept in MAY_DIFFER.values() for factor in kept.factors]
    comparability = judge_pair(gathered, candidate, pair, judged_below).comparability
    if not comparability.allows_ranking:
        return comparability
    baseline, measured = (sweep.group.first for sweep in pair)
    for name, kept in MAY_DIFFER.items():
        if name not in may_differ and kept.read(baseline) != kept.read(measured):
            text = f"{kept.noun} differs: {kept.tell(baseline)}, {kept.tell(measured)}"
            remedy = f"Measure both with one {kept.noun}, or allow it by may_differ={name}."
            reason = Reason(text, remedy, Harm.FORBIDS, choice=f"may_differ={name} allows it")
            return replace(comparability, status="not_comparable", because=(reason,))
    return comparability


def _host_ids(cell: LoadedCell) -> tuple[UUID | None, ...]:
    hosts = (cell.series.server_host, cell.series.client_host)
    return tuple(None if host is None else host.id for host in hosts)


def _host_names(cell: LoadedCell) -> str:
    hosts = (cell.series.server_host, cell.series.client_host)
    names = dict.fromkeys(host.name or "unknown" for host in hosts if host is not None)
    return " with ".join(names) or "unknown"


class _Kept(NamedTuple):
    """What a caller may let differ between a candidate and its baseline: its noun, its value as it
    is compared and as it is told, and the factors of a comparison that are about it."""

    noun: str
    read: Callable[[LoadedCell], Hashable]
    tell: Callable[[LoadedCell], str]
    factors: Collection[str]


def _tool(cell: LoadedCell) -> str:
    return cell.series.tool


MAY_DIFFER = {
    "host": _Kept("host", _host_ids, _host_names, MACHINE),
    "tool": _Kept("load tool", _tool, _tool, ("tool",)),
}


def _newest_run(sweep: Sweep) -> float:
    runs = (cell.run for cell in sweep.group.cells())
    return max(happened_at(run).timestamp() for run in runs)


def _texts(cell: LoadedCell) -> Hashable:
    """What tells its server apart from others of the name, but for the version."""
    return tuple(text for name, text in cell.server.texts.items() if name != "version")


# What a series of the baseline shares with that of the candidate: as much as possible. The version
# is what a build changes.
_SHARED: tuple[Callable[[LoadedCell], Hashable], ...] = (
    lambda cell: (cell.server.settings, _texts(cell), _host_ids(cell)),
    lambda cell: (cell.server.settings, _texts(cell)),
    lambda cell: cell.server.settings,
)


def _most_alike(sweep: Sweep, others: Sequence[Sweep]) -> list[Sweep]:
    """The series that share most with `sweep`; none where several configurations would fit."""
    others = [other for other in others if other.group.held == sweep.group.held]
    for read in _SHARED:
        asked = read(sweep.group.first)
        if alike := [other for other in others if read(other.group.first) == asked]:
            return alike
    settings = {other.group.first.server.settings for other in others}
    return list(others) if len(settings) == 1 else []


def variation_floor(
    metric: Metric, levels: Iterable[tuple[Hashable, Sample]], noises: Sequence[HostNoise]
) -> tuple[Floor, str]:
    """How far runs differ in a metric, pooled over `levels`: the baselines of series at their
    loads; and where that is from. The hosts' own records (`noises`) count for rates."""
    means = [mean for level, sample in levels for mean in _run_means(level, sample)]
    of_hosts = floor_of(noises) if metric.group == "rate" else Floor()
    of_hosts = replace(of_hosts, is_one_history=True)
    variation = run_variation(means)
    if variation is not None and variation.freedom >= LEAST_FREEDOM:
        own = replace(of_hosts, run_sd=variation.sd, run_freedom=variation.freedom)
        return own, "history"
    return of_hosts, "assumed" if of_hosts.run_sd is None else "host"


def _run_means(level: Hashable, sample: Sample) -> Iterator[RunMean]:
    by_run: dict[Hashable, list[float]] = {}
    for observation in sample.observations:
        by_run.setdefault(observation.run, []).append(observation.value)
    for run, values in by_run.items():
        mean = fmean(values)
        squares = sum((value - mean) ** 2 for value in values)
        yield RunMean(level, run, len(values), mean, squares)
