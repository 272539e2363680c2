"""Heartbeats: worker and beat say every few seconds that they run, the canary that hints arrive.

They are rows of the database, so that they go on while the broker is away. The canary is a task
that beat sends through the broker and a worker runs: a worker may run and take no tasks.
"""

import logging
import socket
import threading
import time
from typing import Any

from celery import shared_task
from celery.signals import worker_ready, worker_shutting_down
from django.db import DatabaseError, connection

log = logging.getLogger(__name__)

INTERVAL_S = 10.0
WORKER, BEAT, CANARY = "worker", "beat", "canary"
# Of the service that makes backups; not every site has one.
BACKUP = "backup"
# After this many seconds of silence a part counts as missing. The canary is sent every 30 s and
# waits until a reader ends its shift of 30 s and the upload that it then reads.
SILENT_AFTER_S = {WORKER: 60, BEAT: 60, CANARY: 100}
CHECKED_AFTER_S = {**SILENT_AFTER_S, BACKUP: 60}
WARNINGS = {
    WORKER: "no worker runs: uploads are received and not read",
    BEAT: "beat does not run: leftovers are not swept",
    CANARY: "the broker or the workers take no tasks, or all workers are busy",
}
# How far ahead of the database's clock a heartbeat may lie. After the clock was set back, rows of
# live processes are written again within seconds; rows of dead ones stay ahead and would count.
AHEAD_S = 5
# Rows of machines that are gone.
KEPT = "1 day"
# Without a model: beat loads no apps of Django.
_RECORD = (
    "INSERT INTO config_heartbeat (name, at) VALUES (%s, now())"
    " ON CONFLICT (name) DO UPDATE SET at = excluded.at"
)


def record(part: str) -> None:
    """Store a heartbeat; without the database it is logged, once for each failure."""
    try:
        with connection.cursor() as cursor:
            cursor.execute(_RECORD, [name_of(part)])
    except DatabaseError:
        log.warning("heartbeat_not_stored", extra={"part": part}, exc_info=True)


def name_of(part: str) -> str:
    """Every machine has its own row of a part; the canary is one for all."""
    return part if part == CANARY else f"{part}@{socket.gethostname()}"[:160]


def ages() -> dict[str, float | None]:
    """Seconds since each part was last heard of anywhere; None is never. Raises DatabaseError.

    Rows that lie ahead do not count.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT split_part(name, '@', 1), extract(epoch FROM min(now() - at))::float8"
            " FROM config_heartbeat WHERE at <= now() + make_interval(secs => %s) GROUP BY 1",
            [AHEAD_S],
        )
        heard: dict[str, float] = dict(cursor.fetchall())
    return {part: heard.get(part) for part in SILENT_AFTER_S}


def warning(part: str, age_s: float | None) -> str | None:
    """A sentence where the part is silent for too long."""
    if age_s is not None and age_s <= SILENT_AFTER_S[part]:
        return None
    return WARNINGS[part]


def sweep() -> None:
    """Forget machines that are gone."""
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM config_heartbeat WHERE at < now() - %s::interval", [KEPT])


@shared_task(name="config.canary")  # type: ignore[untyped-decorator]
def canary() -> None:
    """Show that a task came through the broker to a worker."""
    record(CANARY)
    sweep()


_is_ending = threading.Event()


@worker_ready.connect  # type: ignore[untyped-decorator]
def start_worker_heartbeat(**_: Any) -> None:
    """A thread of the worker's own process, so that it goes on while the broker is away."""
    start_thread(WORKER)


@worker_shutting_down.connect  # type: ignore[untyped-decorator]
def end_worker_heartbeat(**_: Any) -> None:
    _is_ending.set()


def start_thread(part: str) -> None:
    """Record the part's heartbeats until the process ends."""
    threading.Thread(target=_beat, args=[part], name="heartbeat", daemon=True).start()


def _beat(part: str) -> None:
    while not _is_ending.is_set():
        record(part)
        # Readers are forked from this process and must not inherit an open connection.
        connection.close()
        _is_ending.wait(INTERVAL_S)


class Pulse:
    """Records a heartbeat when it is asked to, at most every INTERVAL_S.

    The connection is closed meanwhile: the process has no other use for it.
    """

    def __init__(self, part: str) -> None:
        self.part = part
        self._due_at = 0.0

    def tick(self) -> None:
        if time.monotonic() < self._due_at:
            return
        self._due_at = time.monotonic() + INTERVAL_S
        record(self.part)
        connection.close()


def check(part: str, database_url: str) -> str | None:
    """For a health check: why this machine's part counts as missing, else None.

    Asks the database itself, for Django takes a second of processor time to start.
    """
    import psycopg

    query = "SELECT extract(epoch FROM now() - at)::float8 FROM config_heartbeat WHERE name = %s"
    with psycopg.connect(database_url, connect_timeout=5) as database:
        row = database.execute(query, [name_of(part)]).fetchone()
    if row is None:
        return f"{name_of(part)} has never sent a heartbeat"
    age_s: float = row[0]
    if age_s < -AHEAD_S:
        return (
            f"{name_of(part)}: {-age_s:.0f} s ahead of the database's clock, so its age is unknown"
        )
    return f"{name_of(part)}: {age_s:.0f} s ago" if age_s > CHECKED_AFTER_S[part] else None
