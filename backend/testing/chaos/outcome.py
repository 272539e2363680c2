"""What came of all uploads: the ledger of the senders against the tables of the service."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import psycopg

from backend.testing.chaos.senders import Ledger

READ_WITHIN_S = 60.0
NAMED = 5

UPLOADS = "SELECT id::text, state, attempts, faults, reason FROM ingest_upload"
ARTEFACTS = "SELECT upload_id::text, sha256 FROM ingest_artefact"
RUNS = "SELECT id::text FROM runs_run"
TRIALS = "SELECT run_id::text, count(*) FROM runs_trial GROUP BY run_id"
WAITING = "SELECT count(*) FROM ingest_upload WHERE state IN ('received', 'parsing')"
READ = "SELECT count(*) FROM ingest_upload WHERE state = 'parsed'"


@dataclass(slots=True)
class Outcome:
    """Figures of a whole run; `problems` names the first of each kind."""

    uploads: int
    accepted: int = 0
    read: int = 0
    failed: int = 0
    lost: int = 0
    doubled: int = 0
    again: int = 0
    most_attempts: int = 0
    passing_faults: int = 0
    # Seconds from the last fault, with what was sent after it; None if some were not read in
    # time.
    last_read_s: float | None = None
    problems: list[str] = field(default_factory=list)

    @property
    def promises(self) -> dict[str, bool]:
        """Of the counts: what is wrong otherwise, and whether it is kept."""
        return {
            f"{self.uploads - self.accepted} uploads were never accepted": self.accepted
            == self.uploads,
            f"{self.lost} uploads are lost": self.lost == 0,
            f"{self.doubled} runs or trials are doubled": self.doubled == 0,
            f"{self.failed} good uploads failed": self.failed == 0,
        }

    @property
    def broken_promises(self) -> list[str]:
        """Empty where everything holds."""
        in_time = self.last_read_s is not None and self.last_read_s <= READ_WITHIN_S
        late = f"the last upload was read {self.delay} after the last fault"
        return broken({**self.promises, late: in_time})

    @property
    def delay(self) -> str:
        return "not in time" if self.last_read_s is None else f"{self.last_read_s:.1f} s"


def broken(promises: Mapping[str, bool]) -> list[str]:
    """What is wrong by those that are not kept."""
    return [sentence for sentence, is_kept in promises.items() if not is_kept]


def count_outcome(tables: Tables, ledger: Ledger) -> Outcome:
    """Compares ids and SHA-256 of what was accepted with what is there; raises psycopg.Error."""
    connection, accepted = tables.connection(), ledger.accepted
    rows = {row[0]: row[1:] for row in connection.execute(UPLOADS)}
    outcome = Outcome(ledger.uploads, accepted=len(accepted))
    states = Counter(row[0] for row in rows.values())
    outcome.read = states["parsed"]
    outcome.failed = states["failed"] + states["quarantined"]
    outcome.again = sum(row[1] > 1 for row in rows.values())
    outcome.most_attempts = max((row[1] for row in rows.values()), default=0)
    outcome.passing_faults = sum(row[2] for row in rows.values())
    losses = list(_losses(connection, accepted, rows))
    doubles = list(_doubles(connection, accepted))
    outcome.lost, outcome.doubled = len(losses), len(doubles)
    failures = [
        f"{id_} {state}: {reason}"
        for id_, (state, _, _, reason) in rows.items()
        if state in ("failed", "quarantined")
    ]
    outcome.problems = [*failures[:NAMED], *losses[:NAMED], *doubles[:NAMED]]
    return outcome


def _losses(
    connection: psycopg.Connection[Any], accepted: dict[str, str], rows: dict[str, Any]
) -> Iterator[str]:
    """Accepted and not there, there with other bytes, or read without a run."""
    stored = dict(connection.execute(ARTEFACTS).fetchall())
    runs = {row[0] for row in connection.execute(RUNS)}
    for id_, sha256 in accepted.items():
        if id_ not in rows:
            yield f"{id_} was accepted and has no row"
        elif stored.get(id_) != sha256:
            yield f"{id_} has other bytes than were sent"
        elif rows[id_][0] == "parsed" and id_ not in runs:
            yield f"{id_} was read and has no run"
        elif rows[id_][0] in ("received", "parsing"):
            yield f"{id_} was not read in time: {rows[id_][0]}, {rows[id_][3]}"


def _doubles(connection: psycopg.Connection[Any], accepted: dict[str, str]) -> Iterator[str]:
    """Runs of no upload, and runs with more trials than the one that was sent."""
    for (id_,) in connection.execute(RUNS):
        if id_ not in accepted:
            yield f"run {id_} has no accepted upload"
    for id_, trials in connection.execute(TRIALS):
        if trials != 1:
            yield f"run {id_} has {trials} trials of 1"


class Tables:
    """The database of a site, asked again and again although it is killed."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._connection: psycopg.Connection[Any] | None = None

    def number(self, query: str) -> int | None:
        """The answer of a query for one number; None while the database is away."""
        try:
            row = self.connection().execute(query).fetchone()
        except psycopg.Error:
            self.close()
            return None
        return int(row[0]) if row else None

    def connection(self) -> psycopg.Connection[Any]:
        """Raises psycopg.Error."""
        if self._connection is None or self._connection.closed:
            self._connection = psycopg.connect(self._url, autocommit=True, connect_timeout=5)
        return self._connection

    def close(self) -> None:
        if self._connection is not None:
            with contextlib.suppress(psycopg.Error):
                self._connection.close()
        self._connection = None
