"""Which series of one side is compared with which of the other."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product

from backend.analysis.grouping.sweep import Sweep

Key = Callable[[Sweep], Hashable]


@dataclass(frozen=True, slots=True)
class Matched:
    """Series of both sides that belong together, and those that are alone."""

    pairs: tuple[tuple[Sweep, Sweep], ...]
    only_a: tuple[Sweep, ...]
    only_b: tuple[Sweep, ...]


def match_series(a: Sequence[Sweep], b: Sequence[Sweep]) -> Matched:
    """Pairs in the order of `a`: equal series first, then those that share less and less.

    Two series are a pair where what they share names one of each side. A pair has one workload or
    one path, and one server by name, unless each side has a single server.
    """
    pairs: dict[int, tuple[Sweep, Sweep]] = {}
    rest_a, rest_b = dict(enumerate(a)), dict(enumerate(b))
    for read in _keys(have_one_server=len(_servers(a)) == len(_servers(b)) == 1):
        for at_a, at_b in _unique_matches(rest_a, rest_b, read):
            pairs[at_a] = (rest_a.pop(at_a), rest_b.pop(at_b))
    in_order = tuple(pairs[at] for at in sorted(pairs))
    return Matched(in_order, tuple(rest_a.values()), tuple(rest_b.values()))


def _servers(sweeps: Sequence[Sweep]) -> set[str]:
    return {sweep.group.first.server.name for sweep in sweeps}


def _keys(*, have_one_server: bool) -> Iterator[Key]:
    """What two series may share: the workload counts most, then the server, then the conditions."""
    servers = (*_SERVERS, *((_ANY,) if have_one_server else ()))
    yield lambda sweep: sweep.group.id
    for parts in product(_WORKLOADS, servers, _CONDITIONS, _LOADS):
        yield partial(_read_all, parts)


def _read_all(parts: Sequence[Key], sweep: Sweep) -> Hashable:
    """None if a part is unknown: it is shared with nothing."""
    values = tuple(read(sweep) for read in parts)
    return None if None in values else values


def _tool_and_hosts(sweep: Sweep) -> Hashable:
    series = sweep.group.first.series
    return series.tool, *((host and host.id) for host in (series.server_host, series.client_host))


_ANY: Key = lambda sweep: "any"  # noqa: E731
_WORKLOADS: tuple[Key, ...] = (
    lambda sweep: sweep.group.first.workload.id,
    lambda sweep: (sweep.group.first.workload.name, sweep.group.first.workload.path),
    lambda sweep: sweep.group.first.workload.path,
    lambda sweep: sweep.group.first.workload.name,
)
_SERVERS: tuple[Key, ...] = (
    lambda sweep: sweep.group.first.server.id,
    lambda sweep: sweep.group.first.server.name,
)
_CONDITIONS: tuple[Key, ...] = (
    _tool_and_hosts,
    lambda sweep: sweep.group.first.series.tool,
    _ANY,
)
_LOADS: tuple[Key, ...] = (lambda sweep: tuple(point.x for point in sweep.points), _ANY)


def _unique_matches(
    a: Mapping[int, Sweep], b: Mapping[int, Sweep], read: Key
) -> list[tuple[int, int]]:
    """Positions in `a` and `b` of the series that alone have their key on both sides."""
    by_key_a, by_key_b = _by_key(a, read), _by_key(b, read)
    return [
        (positions[0], others[0])
        for key, positions in by_key_a.items()
        if len(positions) == len(others := by_key_b.get(key, [])) == 1
        and _have_one_path(a[positions[0]], b[others[0]])
    ]


def _have_one_path(a: Sweep, b: Sweep) -> bool:
    """A path that is unknown contradicts none."""
    paths = {sweep.group.first.workload.path for sweep in (a, b)}
    return len(paths - {None}) < 2


def _by_key(sweeps: Mapping[int, Sweep], read: Key) -> dict[Hashable, list[int]]:
    positions: dict[Hashable, list[int]] = defaultdict(list)
    for at, sweep in sweeps.items():
        if (key := read(sweep)) is not None:
            positions[key].append(at)
    return positions
