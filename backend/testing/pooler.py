"""PgBouncer in transaction mode before a PostgreSQL of ours, for `scripts/test --pooler`."""

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import psycopg
import pytest

from backend.config.environment.databases import TIMEOUTS
from backend.config.recovery.embedded import EmbeddedFailed, Postgres, ends_with_parent

IS_POOLED = os.environ.get("DATABASE_POOLER", "none") != "none"
# pg_dump, CREATE DATABASE and settings that last need a session of their own.
needs_session = pytest.mark.skipif(
    IS_POOLED, reason="a pooler in transaction mode gives no session"
)
# Fewer than the processes of the tests hold open, so that sessions are shared.
SESSIONS = 6
START_TIMEOUT_S = 30
_CONFIGURATION = """
[databases]
* = host={sockets} user=loadsheet connect_query='{settings}'
[pgbouncer]
pool_mode = transaction
auth_type = any
listen_addr =
listen_port = 5432
unix_socket_dir = {folder}
max_client_conn = 500
default_pool_size = {sessions}
"""


def find_program() -> str | None:
    """Debian keeps it where only root's PATH looks."""
    return shutil.which("pgbouncer", path=os.pathsep.join([os.environ["PATH"], "/usr/sbin"]))


class Pooler:
    """PgBouncer on a socket in a folder of its own, run by the user that PostgreSQL runs as."""

    def __init__(self, postgres: Postgres) -> None:
        self._postgres = postgres
        self.folder = postgres.sockets.with_name(f"{postgres.sockets.name}-pool")
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"postgresql://loadsheet@/loadsheet?host={self.folder}"

    def start(self, log: Path) -> None:
        """Start it and wait until it answers; raises EmbeddedFailed."""
        program = find_program()
        if program is None:
            raise EmbeddedFailed("PgBouncer is not installed: apt-get install pgbouncer")
        account = self._postgres.account
        self.folder.mkdir(mode=0o700, exist_ok=True)
        configuration = self.folder / "pgbouncer.ini"
        configuration.write_text(
            _CONFIGURATION.format(
                sockets=self._postgres.sockets,
                settings=settings_as_sql(),
                folder=self.folder,
                sessions=SESSIONS,
            )
        )
        if account.uid is not None:
            for place in (self.folder, configuration):
                os.chown(place, account.uid, account.gid or 0)
        with log.open("ab") as out:
            self.process = subprocess.Popen(
                [program, str(configuration)],
                stdout=out,
                stderr=out,
                user=account.uid,
                group=account.gid,
                extra_groups=None if account.uid is None else [],
                preexec_fn=ends_with_parent(signal.SIGTERM),  # noqa: PLW1509  exec follows at once
            )
        self._wait(log)

    def _wait(self, log: Path) -> None:
        deadline = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < deadline:
            try:
                psycopg.connect(self.url, connect_timeout=5).close()
            except psycopg.OperationalError:
                time.sleep(0.1)
            else:
                return
        raise EmbeddedFailed(f"PgBouncer did not start; the reason is at the end of {log}.")

    def stop(self) -> None:
        if self.process is not None:
            self.process.terminate()
            self.process.wait(timeout=30)
        shutil.rmtree(self.folder, ignore_errors=True)


def settings_as_sql() -> str:
    """The timeouts that a session without a pooler asks for itself."""
    named = (word.split("=") for word in TIMEOUTS.split() if "=" in word)
    return "; ".join(f"SET {name} = ''{value}''" for name, value in named)
