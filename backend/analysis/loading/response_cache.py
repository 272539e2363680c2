"""Answers that are kept for as long as nothing they show has changed.

Kept under the query and the data version of every workspace it is over: a workspace's version is
raised in the transaction that changes its data, so an answer is right or is not found.
"""

import hashlib
import logging
import uuid
from collections.abc import Callable, Sequence

import zstandard
from django.core.cache import caches

from backend import __version__
from backend.analysis.loading.series_cache import load_settings
from backend.analysis.loading.viewer_slots import comparison_slot
from backend.analysis.query.compare_query import CompareQuery
from backend.broker import ANSWERS
from backend.runs.database.replica import Versions, compute_near

log = logging.getLogger(__name__)

KEPT_S = 3600
MAX_KEPT_BYTES = 4 << 20


def get_or_compute_json(
    kind: str,
    query: CompareQuery,
    workspace_ids: Sequence[uuid.UUID],
    compute: Callable[[], bytes],
    *,
    viewer: str,
) -> bytes:
    """The JSON that `compute()` gives for this query; the cached one while it is valid.

    It is computed in a slot of `viewer`. Raises TooManyComparisons and AnswersBusy.
    """
    versions = {each.id: each.data_version for each in load_settings(workspace_ids)}
    key = _key(kind, query, versions)
    if (kept := _unpacked(_get(key))) is not None:
        return kept
    with comparison_slot(viewer):
        fresh = compute_near(versions, compute)
    # The checksum is what tells damaged bytes that can be unpacked all the same.
    _put(key, zstandard.ZstdCompressor(1, write_checksum=True).compress(fresh))
    return fresh


def get_or_compute_bytes(key: str, compute: Callable[[], bytes]) -> bytes:
    """The bytes under `key`, which names all that they depend on; where none are kept, computed."""
    if (cached := _get(key)) is not None:
        return cached
    fresh = compute()
    _put(key, fresh)
    return fresh


def _key(kind: str, query: CompareQuery, versions: Versions) -> str:
    listed = [f"{workspace_id}={version}" for workspace_id, version in versions.items()]
    text = "\n".join((__version__, kind, query.canonical(), *listed))
    return f"answer-zstd:{hashlib.sha256(text.encode()).hexdigest()}"


def _get(key: str) -> bytes | None:
    stored: bytes | None = ANSWERS.call(lambda: caches["answers"].get(key), otherwise=None)
    return stored


def _unpacked(packed: bytes | None) -> bytes | None:
    """None if nothing is kept, or if what is kept was damaged."""
    if packed is None:
        return None
    try:
        return zstandard.decompress(packed)
    # MemoryError: the head, which says how much it unpacks to, was damaged.
    except (zstandard.ZstdError, MemoryError):
        log.warning("kept_answer_damaged")
        return None


def _put(key: str, packed: bytes) -> None:
    if len(packed) <= MAX_KEPT_BYTES:
        ANSWERS.call(lambda: caches["answers"].set(key, packed, KEPT_S), otherwise=None)
