"""Comparisons on a streaming replica, where it has all that the primary has of their workspaces.

A workspace's version is raised in the transaction that changes its data. So a replica that shows
the version of the primary shows all the data of that version, however far it lags elsewhere, and
viewers always see what they stored a moment ago. Where the replica is behind, or does not answer,
the primary computes.
"""

import logging
import time
import uuid
from collections.abc import Callable, Mapping

from django.db import Error, connections

from backend import counters
from backend.accounts.models import Workspace
from backend.runs.database.read_router import REPLICA, reading_replica, repeatable_read

log = logging.getLogger(__name__)

# Of workspaces: their `data_version`.
Versions = Mapping[uuid.UUID, int]

COUNTER = "comparisons_computed"
# For so long a replica is left alone that has failed.
PAUSE_S = 10.0
_failed_at = float("-inf")


def compute_near(versions: Versions, compute: Callable[[], bytes]) -> bytes:
    """What `compute` returns, read on the replica if that has these versions, else on the primary.

    `compute` only reads. Raises what it raises.
    """
    is_worth_asking = REPLICA in connections.settings and time.monotonic() > _failed_at + PAUSE_S
    answer = _on_replica(versions, compute) if is_worth_asking else None
    counters.count(COUNTER, "primary" if answer is None else REPLICA)
    return compute() if answer is None else answer


def _on_replica(versions: Versions, compute: Callable[[], bytes]) -> bytes | None:
    """None if the replica is behind or fails."""
    global _failed_at  # noqa: PLW0603  one for the process
    try:
        with reading_replica(), repeatable_read():
            rows = Workspace.objects.filter(pk__in=list(versions))
            is_as_far = dict(rows.values_list("pk", "data_version")) == versions
            return compute() if is_as_far else None
    except Error:
        # Also where it was read for so long that the replica could not follow the primary.
        log.warning("replica_failed", exc_info=True)
        _failed_at = time.monotonic()
        connections[REPLICA].close()
        return None
