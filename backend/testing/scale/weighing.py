"""What a trial weighs in tables, in indexes and in the bucket, by what its load tool wrote."""

import json
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

import httpx

from backend.testing.chaos.outcome import WAITING, Tables
from backend.testing.chaos.senders import make_measurement
from backend.testing.reports import WRK, make_envelope, make_trial
from backend.testing.scale.machines import Cluster, start_all
from backend.testing.waiting import wait_until

SERVERS, POINTS, REPEATS = 3, 8, 5
TRIALS = SERVERS * POINTS * REPEATS
LIMIT_S = 600.0
_SIZES = """
SELECT sum(pg_table_size(oid))::bigint, sum(pg_indexes_size(oid))::bigint FROM pg_class
WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
"""


@dataclass(frozen=True, slots=True)
class Weight:
    """Bytes that so many trials added."""

    kind: str
    trials: int
    table_bytes: int
    index_bytes: int
    object_bytes: int

    @property
    def line(self) -> str:
        """For people: GB of a million trials of the kind."""
        tables, indexes, objects = (
            f"{size / self.trials / 1000:.2f}"
            for size in (self.table_bytes, self.index_bytes, self.object_bytes)
        )
        return (
            f"a million trials, {self.kind}: {tables} GB in tables, {indexes} GB in indexes, "
            f"{objects} GB in the bucket"
        )


def weigh(cluster: Cluster) -> Sequence[Weight]:
    """Runs of 3 servers × 8 load points × 5 repeats, of each kind. Raises TimeoutError."""
    web, worker = cluster.machine("web-of-weights"), cluster.machine("worker-of-weights")
    start_all([web], [worker], readers=2)
    tables = Tables(cluster.postgres.url)
    weights = []
    with httpx.Client(
        base_url=web.url, headers={"authorization": f"Bearer {cluster.token}"}, timeout=120
    ) as client:
        for kind, (tool, runs, text) in KINDS.items():
            before = _sizes(cluster, tables)
            for run in range(runs):
                _send(client, tool, [text(run * TRIALS + number) for number in range(TRIALS)])
            if not wait_until(lambda: tables.number(WAITING) == 0, LIMIT_S):
                raise TimeoutError(f"runs were not read in {LIMIT_S:g} s")
            pairs = zip(before, _sizes(cluster, tables), strict=True)
            weights.append(Weight(kind, runs * TRIALS, *(last - first for first, last in pairs)))
    tables.close()
    return weights


def _report_of_wrk(number: int) -> bytes:
    return f"{WRK}\ntrial {number}\n".encode()


def _lines_of_vegeta(number: int) -> bytes:
    # Each 25th measurement has every one of its 8,000 requests.
    return make_measurement(number * 25, seed=2).text


# The load tool, how many runs, and the text of each trial.
KINDS: dict[str, tuple[str, int, Callable[[int], bytes]]] = {
    "a printed report each (wrk, 0.6 KB)": ("wrk", 8, _report_of_wrk),
    "every request of 8,000 each (vegeta, 1.7 MB)": ("vegeta", 1, _lines_of_vegeta),
}


def _send(client: httpx.Client, tool: str, texts: Sequence[bytes]) -> None:
    trials = []
    places = product(range(SERVERS), range(POINTS), range(REPEATS))
    for number, (server, point, repeat) in enumerate(places):
        trial = make_trial(number, repeat=repeat)
        trial["server"] = {"name": f"server {server}", "version": "1"}
        trial["load"] = {"tool": tool, "loop": "closed", "connections": 2**point}
        trials.append(trial)
    envelope = {**make_envelope(0), "id": str(uuid.uuid4()), "trials": trials}
    files = [("file", (f"{number}.txt", text)) for number, text in enumerate(texts)]
    answer = client.post("/api/v1/uploads", data={"envelope": json.dumps(envelope)}, files=files)
    answer.raise_for_status()


def _sizes(cluster: Cluster, tables: Tables) -> tuple[int, int, int]:
    """Of all tables, of all indexes, and of the bucket, in bytes."""
    row = tables.connection().execute(_SIZES).fetchone()
    assert row is not None
    return int(row[0]), int(row[1]), cluster.s3.stored()[1]
