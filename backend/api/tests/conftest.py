import pytest
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections

from backend.accounts import throttle
from backend.ingest.storage import storage
from backend.testing.scenes import make_scene


@pytest.fixture(autouse=True)
def _artefacts_in_a_folder_of_the_test(settings, tmp_path):
    settings.DATA_DIR = tmp_path
    storage.cache_clear()
    yield
    storage.cache_clear()


@pytest.fixture
def scene(db):
    return make_scene()


@pytest.fixture
def _no_sender_has_to_wait(settings, monkeypatch):
    """A refusal for the rate comes before the body is looked at."""
    for name in ("REQUESTS", "UPLOADS", "PREVIEWS", "LEAK_REPORTS", "LINK_MISSES"):
        setattr(settings, f"{name}_PER_MINUTE", 1_000_000)
    monkeypatch.setattr(throttle, "INVITATIONS_PER_HOUR", 1_000_000)


@pytest.fixture
def application():
    """The service as the web server calls it, inside the transaction of the test."""
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    yield get_wsgi_application()
    for signal in signals:
        signal.connect(close_old_connections)
