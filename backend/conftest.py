"""Marks the tests that need a database, so that `scripts/test --unit` can leave them out."""

import pytest
from hypothesis import settings

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
