"""Rows that are gone afterwards: after a request, after a module, and whatever ends connections."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.conf import settings
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, transaction

from backend.storage import storage


@contextmanager
def taken_back() -> Iterator[None]:
    """What happens inside is undone, so that one world serves every request."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


@contextmanager
def kept_for_a_module(folder: Path) -> Iterator[None]:
    """For a fixture of a module: its rows are undone and its artefacts lie in the folder.

    Each test is rolled back to what the fixture made. The database must be unblocked.
    """
    with pytest.MonkeyPatch.context() as patched, taken_back():
        patched.setattr(settings, "DATA_DIR", folder)
        storage.cache_clear()
        yield
    storage.cache_clear()


@contextmanager
def connection_kept_open() -> Iterator[None]:
    """No request ends the connection: a test has one, in a transaction."""
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    try:
        yield
    finally:
        for signal in signals:
            signal.connect(close_old_connections)
