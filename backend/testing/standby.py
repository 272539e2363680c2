"""A streaming replica of a PostgreSQL of ours."""

import secrets
import shutil
from pathlib import Path

from backend.config.recovery.embedded import EmbeddedFailed, Postgres

# PostgreSQL starts no replica that allows fewer than its primary; scripts/run_tests.py allows 500.
MOST_CONNECTIONS = "500"


class Standby(Postgres):
    """Copies the primary at its first start, and follows it from then on.

    A slot keeps the WAL that it has not received: a checkpoint removes all other WAL, also while
    this starts. Whoever stops it for good drops that slot of the primary. Each has another name:
    several processes of the tests share the primary.
    """

    def __init__(self, data_dir: Path, *, primary_sockets: str) -> None:
        super().__init__(data_dir, settings={"max_connections": MOST_CONNECTIONS})
        self._primary_sockets = primary_sockets
        self.slot = f"standby_{secrets.token_hex(4)}"

    def _initialise(self) -> None:
        command = ["pg_basebackup", "--host", self._primary_sockets, "--username", "loadsheet"]
        command += ["--pgdata", str(self.data), "--write-recovery-conf", "--checkpoint=fast"]
        command += ["--create-slot", f"--slot={self.slot}"]
        done = self.account.run([str(self.bin / command[0]), *command[1:]])
        if done.returncode:
            shutil.rmtree(self.data, ignore_errors=True)
            raise EmbeddedFailed(f"pg_basebackup failed: {done.stderr[-300:].strip()}")
