"""Which series of the one side is held against which of the other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from backend.analysis.grouping.sweep import Sweep
from backend.analysis.query.records import LoadedCell


@dataclass(frozen=True, slots=True)
class Matched:
    """Series of both sides that belong together, and those that are alone."""

    pairs: tuple[tuple[Sweep, Sweep], ...]
    only_a: tuple[Sweep, ...]
    only_b: tuple[Sweep, ...]


def match_series(a: Sequence[Sweep], b: Sequence[Sweep]) -> Matched:
    """Pairs in the order of `a`: equal series first, then those that share less and less.

    Two series are a pair where what they share names one of each side. The only series of two
    sides are a pair whatever they share.
    """
    pairs: dict[int, tuple[Sweep, Sweep]] = {}
    rest_a, rest_b = dict(enumerate(a)), dict(enumerate(b))
    for read in _KEYS:
        for at_a, at_b in _unique_matches(rest_a, rest_b, read):
            pairs[at_a] = (rest_a.pop(at_a), rest_b.pop(at_b))
    if not pairs and len(rest_a) == len(rest_b) == 1:
        return Matched(((a[0], b[0]),), (), ())
    in_order = tuple(pairs[at] for at in sorted(pairs))
    return Matched(in_order, tuple(rest_a.values()), tuple(rest_b.values()))


def _shared_place(cell: LoadedCell) -> tuple[Hashable, ...]:
    series = cell.series
    hosts = (host and host.id for host in (series.server_host, series.client_host))
    return (cell.workload.name, series.tool, *hosts)


_KEYS: tuple[Callable[[Sweep], Hashable], ...] = (
    lambda sweep: sweep.group.id,
    lambda sweep: (sweep.group.first.server.id, *_shared_place(sweep.group.first)),
    lambda sweep: (sweep.group.first.server.name, *_shared_place(sweep.group.first)),
    lambda sweep: (
        sweep.group.first.server.name,
        sweep.group.first.workload.name,
        sweep.group.first.series.tool,
    ),
    lambda sweep: (sweep.group.first.server.name, sweep.group.first.workload.name),
)


def _unique_matches(
    a: dict[int, Sweep], b: dict[int, Sweep], read: Callable[[Sweep], Hashable]
) -> list[tuple[int, int]]:
    """Positions in `a` and `b` of the series that alone have their key on both sides."""
    by_key_a, by_key_b = _by_key(a, read), _by_key(b, read)
    return [
        (positions[0], by_key_b[key][0])
        for key, positions in by_key_a.items()
        if len(positions) == 1 and len(by_key_b.get(key, ())) == 1
    ]


def _by_key(
    sweeps: dict[int, Sweep], read: Callable[[Sweep], Hashable]
) -> dict[Hashable, list[int]]:
    positions: dict[Hashable, list[int]] = defaultdict(list)
    for at, sweep in sweeps.items():
        positions[read(sweep)].append(at)
    return positions
