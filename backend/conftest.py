"""Marks the tests that need a database, so that `scripts/test --unit` can leave them out."""

import pytest

DATABASE = {"db", "transactional_db", "live_server"}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.get_closest_marker("django_db") or not DATABASE.isdisjoint(
            getattr(item, "fixturenames", ())
        ):
            item.add_marker("database")
