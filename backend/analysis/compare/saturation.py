"""The saturation point of each sweep: the load above which throughput does not rise."""

from collections.abc import Sequence
from dataclasses import dataclass

from backend.analysis import figures
from backend.analysis.compare.advice import PART_THE_MODES, as_sentence
from backend.analysis.compare.reasons import Harm, Reason
from backend.analysis.grouping.measures import trial_values
from backend.analysis.grouping.points import Point, plain_load
from backend.analysis.grouping.sweep import (
    Sweep,
    join_series,
    load_of,
    throughput_at,
    unmeasured,
)
from backend.analysis.query.units import at_load, load_number, load_text, rate_text
from backend.stats.knee import Knee, Load, find_knee
from backend.stats.thresholds import HIGH_ERROR_RATE, LEAST_LOADS, LEAST_TRIALS, percent

FAILING = f"above {percent(HIGH_ERROR_RATE)} failures"
FEW_TRIALS = f"of fewer than {LEAST_TRIALS} trials"


@dataclass(frozen=True, slots=True)
class SaturationRow:
    """A row of `knees` in the figures, with what its sentence needs."""

    sweep: Sweep
    knee: Knee
    why: str
    # Whether noise, or a load that only other series were measured at, could hide a rise.
    is_doubtful: bool = False
    # Whether the trials of a load fall into two groups.
    has_two_modes: bool = False

    @property
    def remedy(self) -> str:
        """What would decide where the saturation point is, in a sentence."""
        if self.has_two_modes:
            return as_sentence(PART_THE_MODES)
        return "Measure more trials at every load, and all series at the same loads."

    def to_record(self) -> figures.Knee:
        return figures.Knee(
            series=self.sweep.group.id,
            x=plain_load(self.knee.x),
            throughput=throughput_at(self.sweep, self.knee.x),
            why=self.why,
        )


def find_saturation_points(
    sweeps: Sequence[Sweep], *, axis: str, relevant: float, loads: Sequence[float] = ()
) -> list[SaturationRow]:
    """The rows of `knees` in the figures: where more load brings no more throughput.

    Points with many failures do not count (answering less is no throughput), nor do those of too
    few trials. `loads`: every load that any of the series was measured at.
    """
    return [_find_saturation_point(sweep, axis, relevant, loads) for sweep in sweeps]


def _find_saturation_point(
    sweep: Sweep, axis: str, relevant: float, loads: Sequence[float]
) -> SaturationRow:
    answered = [point for point in sweep.points if not point.failing]
    counted = _counted_loads(answered)
    knee = find_knee(counted, relevant=relevant)
    own_loads = {load_of(point) for point in sweep.points}
    next_load = _next_load(counted, knee.x)
    foreign_loads = unmeasured([x for x in loads if x not in own_loads], knee.x, next_load)
    has_two_modes = any(point.metrics["throughput"].has_two_modes for point in answered)
    why = explain_saturation(
        knee, axis, relevant, (next_load, foreign_loads), has_two_modes=has_two_modes
    )
    if knee.highest is not None:
        why += _left_out_text(len(sweep.points) - len(answered), FAILING)
        why += _left_out_text(len(answered) - len(counted), FEW_TRIALS)
    is_doubtful = bool(foreign_loads) or (knee.excess or 0) > relevant
    return SaturationRow(sweep, knee, why, is_doubtful, has_two_modes)


def _counted_loads(points: Sequence[Point]) -> list[Load]:
    loads = [_load(point) for point in points]
    return [load for load in loads if len(load.throughput) >= LEAST_TRIALS]


def _load(point: Point) -> Load:
    measure = point.metrics["throughput"]
    return Load(load_of(point), tuple(trial_values(measure)), measure.sample)


def _next_load(loads: Sequence[Load], x: float | None) -> float | None:
    """The lowest load above `x`."""
    return None if x is None else min((load.x for load in loads if load.x > x), default=None)


def _left_out_text(count: int, reason: str) -> str:
    return f" ({count} load{'' if count == 1 else 's'} {reason} not counted)" if count else ""


def explain_saturation(
    knee: Knee,
    axis: str,
    relevant: float,
    gap: tuple[float | None, Sequence[float]],
    *,
    has_two_modes: bool,
) -> str:
    """The sentence beside a saturation point, or in its place.

    `relevant`: the least gain that counts. `gap`: the next load of this sweep above the saturation
    point, and the loads in between at which only other series were measured. `has_two_modes`:
    whether the trials of a load fall into two groups.
    """
    if knee.highest is None:
        trials = f"at least {LEAST_TRIALS} trials"
        return f"A saturation point needs at least {LEAST_LOADS} loads of {trials}"
    if knee.outcome == "rising":
        highest = f"the highest load of {LEAST_TRIALS} trials or more"
        return f"Throughput still rises {at_load(knee.highest, axis)}, {highest}"
    if knee.x is None:
        load = load_text(knee.perhaps or knee.highest, axis)
        return f"Too noisy to say whether throughput rises above {load}"
    parts = [_beyond(knee, relevant), *_gaps(knee.above, knee.x, gap, axis)]
    if (knee.excess or 0) > relevant:
        more = "more trials would show whether it rises"
        parts.append(PART_THE_MODES if has_two_modes else more)
    return "; ".join(parts)


def _gaps(
    below: float | None, x: float, gap: tuple[float | None, Sequence[float]], axis: str
) -> list[str]:
    """The gaps around the saturation point, where nothing was measured: it may be in one."""
    after, others = gap
    where = "" if after is None else f"between {load_number(x)} and {load_text(after, axis)}"
    if where and others:
        where += f" (other series were at {' / '.join(map(load_number, others[:3]))})"
    if below is None:
        lowest = "this is the lowest measured load, so throughput may saturate below it"
        return [lowest, *([f"nothing was measured {where}"] if others else [])]
    text = f"nothing was measured between {load_number(below)} and {load_number(x)}"
    return [f"{text}, nor {where}" if where else text]


def _beyond(knee: Knee, relevant: float) -> str:
    """How much more load may bring, as far as the trials tell."""
    excess = knee.excess or 0
    gain = f"{float(f'{excess * 100:.2g}'):g} %"
    if excess == 0:
        return "Above this load, throughput does not rise"
    if excess <= relevant:
        return f"Above this load, throughput rises by at most {gain}"
    return f"Above this load, no rise was measured, but noise could hide up to {gain}"


def saturation_headline(rows: Sequence[SaturationRow], *, axis: str) -> str:
    """`nginx saturates at 64 connections (12,000 requests/s); caddy: …`, the fastest first.

    Three series; the rest is counted. Several series without a saturation point share a sentence.
    """
    if not rows:
        return "No series was measured over several loads, so there is no saturation point"
    ordered = sorted(rows, key=lambda row: -(throughput_at(row.sweep, row.knee.x) or 0))
    found = [row for row in ordered if row.knee.x is not None]
    without = [row for row in ordered if row.knee.x is None]
    texts = [join_series([_knee_text(row, axis) for row in found]), *_open_texts(without, axis)]
    text = "; ".join(filter(None, texts))
    # The sentence of a single series begins with its name.
    return text if found or len(without) == 1 else text[:1].upper() + text[1:]


def _open_texts(rows: Sequence[SaturationRow], axis: str) -> list[str]:
    """What keeps series from having a saturation point."""
    if len(rows) == 1:
        return [_knee_text(rows[0], axis)]
    labels = [row.sweep.group.label for row in rows if row.knee.outcome == "rising"]
    few = sum(row.knee.outcome == "few" for row in rows)
    noisy = len(rows) - len(labels) - few
    named = join_series(labels, ", ")
    return [
        *([f"throughput still rises at the highest load of {named}"] if labels else []),
        *([f"too noisy to say for {noisy} series"] if noisy else []),
        *([f"too few loads or trials to say for {few} series"] if few else []),
    ]


def saturation_doubts(rows: Sequence[SaturationRow]) -> list[Reason]:
    """The series whose saturation point is open, and what would decide it."""
    return [
        Reason(f"the saturation point of {row.sweep.group.label} is open", row.remedy, Harm.HIDES)
        for row in rows
        if row.is_doubtful or (row.knee.x is None and row.knee.outcome != "rising")
    ]


def _knee_text(row: SaturationRow, axis: str) -> str:
    label, knee = row.sweep.group.label, row.knee
    if knee.x is None:
        return f"{label}: {row.why[0].lower()}{row.why[1:]}"
    rate = throughput_at(row.sweep, knee.x)
    most = "" if rate is None else f" ({rate_text(rate)})"
    verb = "seems to saturate" if row.is_doubtful else "saturates"
    return f"{label} {verb} {at_load(knee.x, axis)}{most}"
