"""A database with the tables of the service, for a bench that works with rows."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from backend.config.recovery.embedded import Postgres, Valkey
from backend.testing.offline import set_up_offline
from backend.testing.template_database import migrate

# What a bench writes ends with it.
NOT_DURABLE = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


@contextmanager
def own_tables() -> Iterator[None]:
    """Set Django up on a database of its own. Once in a process, before the first model."""
    with tempfile.TemporaryDirectory(prefix="loadsheet-bench-") as folder:
        data = Path(folder)
        # As root, PostgreSQL runs as another user.
        data.chmod(0o755)
        services = [Postgres(data, settings=NOT_DURABLE), Valkey(data)]
        try:
            for service in services:
                service.start(data / "service.log")
            postgres, valkey = services
            os.environ |= {"DATABASE_URL": postgres.url, "REDIS_URL": valkey.url}
            os.environ |= {"DATA_DIR": str(data / "files")}
            set_up_offline()
            migrate(postgres.url)
            yield
        finally:
            for service in reversed(services):
                service.stop()
