"""The service's real processes on the database of the tests, to be killed and started again."""

import os
from pathlib import Path

from django.db import connection

from backend.testing.empty_tables import OF_A_MACHINE
from backend.testing.scale.machines import Machine


def make_machine(name: str, data_dir: Path, **variables: str) -> Machine:
    """A machine on the database of this test; others may have the same folder for their data."""
    database = connection.settings_dict
    url = f"postgresql://{database['USER']}@/{database['NAME']}?host={database['HOST']}"
    own = {"DATABASE_URL": url, "PGAPPNAME": OF_A_MACHINE, "ALLOWED_HOSTS": "127.0.0.1"}
    environment = {**os.environ, **own, **variables}
    return Machine(name, data_dir, environment, data=data_dir)
