"""The database of a new site with every table, made once for a run of the tests.

Migrations take more than half of the start of a new site. scripts/test names the folder.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

from backend.config.embedded import Postgres

ROOT = Path(__file__).resolve().parents[2]


def copy_cluster(data: Path) -> None:
    """Give the new data folder of a site its database.

    Raises EmbeddedFailed, and CalledProcessError where a migration fails.
    """
    template = Path(os.environ["SITE_TEMPLATE"])
    with template.with_suffix(".lock").open("ab") as lock:
        # Until the file is closed.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not template.exists():
            _make(template)
    # With the owner: PostgreSQL runs as another user where this one is root.
    command = ["cp", "--archive", str(Postgres(template).data), str(Postgres(data).data)]
    subprocess.run(command, check=True)


def _make(template: Path) -> None:
    half = template.with_suffix(".half")
    server = Postgres(half, settings={"fsync": "off"})
    server.start(half / "postgres.log")
    try:
        subprocess.run(
            [sys.executable, str(ROOT / "manage.py"), "migrate", "--verbosity=0"],
            env={**os.environ, "DATABASE_URL": server.url, "DATABASE_POOLER": "none"},
            check=True,
        )
    finally:
        server.stop()
    half.rename(template)
