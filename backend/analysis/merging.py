"""Percentiles of points that several cells share: histograms merged at the request, and kept.

A cell's histogram never changes (reading an upload again makes new cells), so what was merged for
a set of cells stays true, for every reader who may see them. Each process keeps its own.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterable, Mapping, Sequence

from backend.analysis.cells import load_histograms
from backend.analysis.facts import CellFact
from backend.analysis.metrics import PERCENTILE_KEYS
from backend.analysis.points import Pool, pool_of
from backend.stats import Histogram

Percentiles = Mapping[str, float | None]

# About half a kilobyte each, where five cells meet.
MAX_KEPT = 10_000
_kept: dict[Pool, Percentiles] = {}
_lock = threading.Lock()


def merged_percentiles(points: Iterable[Sequence[CellFact]]) -> dict[Pool, Percentiles]:
    """{"50": µs, …} over every trial of each point of several cells, all with a histogram.

    One statement for what is not kept yet, none when everything is.
    """
    pools = [pool_of(cells) for cells in points if _merges(cells)]
    known = {pool: kept for pool in pools if (kept := _kept.get(pool)) is not None}
    missing = [pool for pool in pools if pool not in known]
    stored = load_histograms([cell_id for pool in missing for cell_id in pool])
    fresh = {pool: _merged(pool, stored) for pool in missing if pool <= stored.keys()}
    _keep(fresh)
    return known | fresh


def _merges(cells: Sequence[CellFact]) -> bool:
    return len(cells) > 1 and all(cell.percentiles_us for cell in cells)


def _merged(pool: Pool, stored: Mapping[uuid.UUID, bytes]) -> Percentiles:
    whole = Histogram.merge_all(Histogram.decode(stored[cell_id]) for cell_id in pool)
    found = whole.percentiles([float(key) for key in PERCENTILE_KEYS])
    return dict(zip(PERCENTILE_KEYS, found, strict=True))


def _keep(fresh: Mapping[Pool, Percentiles]) -> None:
    """Remember, and forget the oldest when there are too many."""
    with _lock:
        _kept.update(fresh)
        for pool in list(_kept)[: max(0, len(_kept) - MAX_KEPT)]:
            del _kept[pool]


def forget() -> None:
    """Keep nothing any more; the next comparison merges anew."""
    with _lock:
        _kept.clear()
