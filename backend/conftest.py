"""Marks the tests that need a database, so that `scripts/test --unit` can leave them out."""

from typing import cast

import pytest
from django.conf import settings as django_settings
from hypothesis import settings

# A busy machine must fail no test.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

DATABASE = {"db", "transactional_db", "live_server"}


def pytest_configure(config: pytest.Config) -> None:
    """What processes of the tests must not share, because each has a database of its own: kept
    answers, which one forgets for all, and artefacts, which one removes that it has no row of."""
    worker = getattr(config, "workerinput", {}).get("workerid", "")
    answers = cast("dict[str, str]", django_settings.CACHES["answers"])
    answers["KEY_PREFIX"] += worker
    django_settings.DATA_DIR /= worker
    django_settings.DATA_DIR.mkdir(parents=True, exist_ok=True)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.get_closest_marker("django_db") or not DATABASE.isdisjoint(
            getattr(item, "fixturenames", ())
        ):
            item.add_marker("database")
