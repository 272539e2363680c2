"""How two series were measured, as far as the interval of their ratio does not allow for it.

An interval is of chance alone. It cannot allow for another start of the server where starts are not
repeated, nor for a machine that drifts where one series was measured before the other.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from math import comb
from typing import Literal, NamedTuple, get_args

from msgspec import Struct
from msgspec.structs import replace

from backend.stats.contrast import Sides
from backend.stats.replicates import Observation, Sample, Units

# An order that chance alone gives at most once in so many is taken for that of the plan.
LEAST_ORDERS = 10
# Longer between two series, the machine and its neighbours may have changed.
LONG_GAP_S = 3600.0

# few: fewer than three starts of a server · unknown: how many is unknown
Starts = Literal["few", "unknown"]
# apart: one server after the other · fixed: in turn, and always in the same order
Order = Literal["apart", "fixed"]
# From the worst.
_STARTS: tuple[Starts, ...] = get_args(Starts)
_ORDERS: tuple[Order, ...] = get_args(Order)
_Trials = Sequence[Observation]


class Design(Struct, frozen=True, gc=False):
    """What the interval of a ratio does not allow for; None where it need not, or it is unknown.

    `gap_s`: the time between the trials of the two series, where it is long.
    """

    starts: Starts | None = None
    order: Order | None = None
    gap_s: float | None = None


SOUND = Design()


def design_of(pairs: Iterable[Sides]) -> Design:
    """The design of one comparison, or the worst of each of several."""
    designs = [_design(sides) for sides in pairs]
    starts, orders = {each.starts for each in designs}, {each.order for each in designs}
    return Design(
        starts=next((word for word in _STARTS if word in starts), None),
        order=next((word for word in _ORDERS if word in orders), None),
        gap_s=max([each.gap_s for each in designs if each.gap_s is not None], default=None),
    )


def design_of_levels(*levels: Sequence[Sample]) -> Design:
    """The design of two levels of a trend: each has several positions, with starts of their own."""
    sides = [tuple(trial for each in level for trial in each.observations) for level in levels]
    if not all(sides):
        return SOUND
    first, second = (Sample(trials).units for trials in sides)
    return replace(_design(Sides(first, second, None)), starts=None)


def _design(sides: Sides) -> Design:
    first, second = sides.first, sides.second
    has_shared_runs = first.runs == second.runs
    return Design(
        # Between runs, the interval allows for what runs differ by: each has starts of its own.
        starts=starts_of(first, second) if sides.scope != "runs" else None,
        order=_order(first, second) if has_shared_runs else None,
        gap_s=None if first.unit == second.unit == "run" else _gap_s(first, second),
    )


def starts_of(*series: Units) -> Starts | None:
    """Why the intervals of the series do not cover other starts; None if they do."""
    single = [each for each in series if not each.covers_starts]
    if not single:
        return None
    return "unknown" if any(each.starts is None for each in single) else "few"


def _order(first: Units, second: Units) -> Order | None:
    """Whether one of the two always came first, in runs that measured both."""
    pairs = [_in_order(trials, second.trials[run]) for run, trials in first.trials.items()]
    known = [pair for pair in pairs if pair is not None]
    if len(known) < len(pairs):
        return None
    if _came_apart(known):
        return "apart"
    return "fixed" if _came_in_fixed_order(known) else None


class _Turn(NamedTuple):
    """A trial in the order in which its run measured, and its round."""

    place: float
    round: Hashable


_Turns = Sequence[_Turn]


def _in_order(first: _Trials, second: _Trials) -> tuple[_Turns, _Turns] | None:
    """The trials of two series in a run, by the times at which they began if each has its own, else
    by their numbers; None if the order is unknown."""
    trials = (*first, *second)
    times = {trial.began_s for trial in trials}
    is_timed = None not in times and len(times) == len(trials)
    turns = [
        _Turn(place, trial.round)
        for trial in trials
        if (place := trial.began_s if is_timed else trial.turn) is not None
    ]
    if len(turns) < len(trials):
        return None
    return turns[: len(first)], turns[len(first) :]


def _came_apart(pairs: Iterable[tuple[_Turns, _Turns]]) -> bool:
    """Whether in each run all trials of the same series came before those of the other.

    One order in C(a + b, a) is so, of a and b trials.
    """
    are_first, orders = set(), 1
    for one, other in pairs:
        turns, other_turns = ([turn.place for turn in side] for side in (one, other))
        if max(turns) < min(other_turns):
            are_first.add(True)
        elif max(other_turns) < min(turns):
            are_first.add(False)
        else:
            return False
        orders *= comb(len(turns) + len(other_turns), len(turns))
    return len(are_first) == 1 and orders >= 2 * LEAST_ORDERS


def _came_in_fixed_order(pairs: Iterable[tuple[_Turns, _Turns]]) -> bool:
    """Whether one of the two came first in every round of both."""
    are_first, rounds = set(), 0
    for one, other in pairs:
        places, other_places = (
            {turn.round: turn.place for turn in side if turn.round is not None}
            for side in (one, other)
        )
        shared = places.keys() & other_places.keys()
        are_first |= {places[round_] < other_places[round_] for round_ in shared}
        rounds += len(shared)
    return len(are_first) == 1 and 2**rounds >= 2 * LEAST_ORDERS


def _gap_s(first: Units, second: Units) -> float | None:
    """From the last trial of one to the first of the other; None if it is short or unknown."""
    begins, other_begins = _begins_s(first), _begins_s(second)
    if not begins or not other_begins:
        return None
    gap_s = max(min(begins), min(other_begins)) - min(max(begins), max(other_begins))
    return gap_s if gap_s >= LONG_GAP_S else None


def _begins_s(side: Units) -> list[float]:
    return [
        trial.began_s
        for trials in side.trials.values()
        for trial in trials
        if trial.began_s is not None
    ]
