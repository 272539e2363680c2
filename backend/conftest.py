"""The databases of the tests, and which tests need one: `scripts/test --unit` leaves them out."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from pytest_django.fixtures import Settings

from backend.testing.template_database import make_template, template_name

# A busy machine must fail no test.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

# Also of a test with a fixture of its module only: each reaches the database through one of these.
DATABASE = {"db", "transactional_db", "live_server", "django_db_setup"}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.get_closest_marker("django_db") or not DATABASE.isdisjoint(
            getattr(item, "fixturenames", ())
        ):
            item.add_marker("database")


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None) -> None:
    """Each of several processes copies the tables that the first of them made."""
    from django.db import connection

    if (template := template_name()) is not None:
        make_template(os.environ["DATABASE_URL"], template)
        connection.settings_dict["TEST"]["TEMPLATE"] = template


@pytest.fixture
def own_storage(settings: Settings, tmp_path: Path) -> Iterator[None]:
    """Artefacts of this test lie in a folder of its own."""
    from backend.config.health import storage_probe
    from backend.storage import storage

    storage_probe.forget()
    settings.DATA_DIR = tmp_path
    storage.cache_clear()
    yield
    storage.cache_clear()


@pytest.fixture
def small_files_as_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small artefacts are files too, as large ones are: for tests of files and their disk."""
    monkeypatch.setattr("backend.ingest.receiving.receive.ROWS_BYTES", 0)
