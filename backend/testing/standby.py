"""A streaming replica of a PostgreSQL of ours."""

from __future__ import annotations

import shutil
from pathlib import Path

from backend.config.embedded import EmbeddedFailed, Postgres


class Standby(Postgres):
    """Copies the primary at its first start, and follows it from then on."""

    def __init__(self, data_dir: Path, *, primary_sockets: str) -> None:
        super().__init__(data_dir)
        self._primary_sockets = primary_sockets

    def _initialise(self) -> None:
        command = ["pg_basebackup", "--host", self._primary_sockets, "--username", "loadsheet"]
        command += ["--pgdata", str(self.data), "--write-recovery-conf", "--checkpoint=fast"]
        done = self.account.run([str(self.bin / command[0]), *command[1:]])
        if done.returncode:
            shutil.rmtree(self.data, ignore_errors=True)
            raise EmbeddedFailed(f"pg_basebackup failed: {done.stderr[-300:].strip()}")
