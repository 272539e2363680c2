"""The library, loaded once for all tests of the package and rolled back after them."""

import pytest
from django.db import transaction

from backend.library.loading import load_library


@pytest.fixture(scope="package")
def library(django_db_setup, django_db_blocker):
    """What the first loading answers."""
    with django_db_blocker.unblock(), transaction.atomic():
        yield load_library()
        transaction.set_rollback(True)
