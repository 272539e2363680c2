"""Points of several cells: their histograms are merged, and the percentiles are kept.

A cell's histogram never changes (reading an upload again makes new cells), so what was merged for
a set of cells stays true, for every reader who may see them. Each process keeps its own.
"""

import threading
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backend.analysis.loading.rows import fetch_curves, fetch_histograms
from backend.analysis.query.records import LoadedCell
from backend.stats import Histogram
from backend.stats.histogram import percentile_curve, stored_percentiles

# The ids of the cells that meet in one point.
Pool = frozenset[uuid.UUID]
Percentiles = Mapping[str, float | None]
Curve = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Merged:
    """What the histogram of a pool says: {"50": µs, …}, and its curve to draw."""

    percentiles_us: Percentiles
    curve: Curve


def pool_of(cells: Iterable[LoadedCell]) -> Pool:
    """The key of the pool of these cells; their order does not matter."""
    return frozenset(cell.id for cell in cells)


# About three kilobytes each, where five cells meet.
MAX_KEPT = 3_000
_kept: dict[Pool, Merged] = {}
_lock = threading.Lock()


def merged_percentiles(points: Iterable[Sequence[LoadedCell]]) -> dict[Pool, Percentiles]:
    """{"50": µs, …} over every trial of each point of several cells, all with a histogram.

    One statement for what is not kept yet, none when everything is.
    """
    pools = [pool_of(cells) for cells in points if len(cells) > 1 and _merges(cells)]
    return {pool: merged.percentiles_us for pool, merged in _merged(pools).items()}


def curves(points: Iterable[Sequence[LoadedCell]]) -> dict[Pool, Curve]:
    """The percentile curve over every trial of each point that has all histograms."""
    pools = [pool_of(cells) for cells in points if _merges(cells)]
    stored = fetch_curves([cell_id for pool in pools if len(pool) == 1 for cell_id in pool])
    by_pool: dict[Pool, Curve] = {frozenset({cell_id}): curve for cell_id, curve in stored.items()}
    merged = _merged([pool for pool in pools if pool not in by_pool])
    return by_pool | {pool: histogram.curve for pool, histogram in merged.items()}


def _merges(cells: Sequence[LoadedCell]) -> bool:
    return all(cell.percentiles_us for cell in cells)


def _merged(pools: Sequence[Pool]) -> dict[Pool, Merged]:
    cached = {pool: merged for pool in pools if (merged := _kept.get(pool)) is not None}
    missing = [pool for pool in pools if pool not in cached]
    stored = fetch_histograms([cell_id for pool in missing for cell_id in pool])
    fresh = {pool: _merge(pool, stored) for pool in missing if pool <= stored.keys()}
    _keep(fresh)
    return cached | fresh


def _merge(pool: Pool, stored: Mapping[uuid.UUID, bytes]) -> Merged:
    whole = Histogram.merge_all(Histogram.decode(stored[cell_id]) for cell_id in pool)
    curve = {"count": whole.count, "points": percentile_curve(whole)}
    return Merged(stored_percentiles(whole), curve)


def _keep(fresh: Mapping[Pool, Merged]) -> None:
    """Remember, and forget the oldest when there are too many."""
    with _lock:
        _kept.update(fresh)
        for pool in list(_kept)[: max(0, len(_kept) - MAX_KEPT)]:
            del _kept[pool]


def forget() -> None:
    """Keep nothing any more; the next comparison merges again."""
    with _lock:
        _kept.clear()
