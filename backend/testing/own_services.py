"""A plugin of pytest: each of its processes has a folder and a database of Valkey of its own.

Each has a database of PostgreSQL of its own. With one folder for all, the collector of one process
would remove files that only the database of another names. With one database of Valkey, a test that
empties its cache would empty the others', and all would spend the limits of one address.
"""

import os
from collections.abc import MutableMapping
from pathlib import Path

import pytest

# As many as a Valkey has by default.
VALKEY_DATABASES = 16


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests() -> None:
    """Runs before Django reads its settings."""
    separate(os.environ)


def separate(environment: MutableMapping[str, str]) -> None:
    """Change the variables of a process that pytest-xdist started; of another, nothing."""
    worker = environment.get("PYTEST_XDIST_WORKER")
    if worker is None:
        return
    environment["DATA_DIR"] = str(Path(environment["DATA_DIR"]) / worker)
    server, _, _ = environment["REDIS_URL"].rpartition("/")
    number = int(worker.removeprefix("gw")) % VALKEY_DATABASES
    environment["REDIS_URL"] = f"{server}/{number}"
