import pytest
from django.core.wsgi import get_wsgi_application

from backend.accounts.limits import limiters
from backend.testing.scenes import make_scene
from backend.testing.transactions import connection_kept_open


@pytest.fixture(autouse=True)
def _own_storage(own_storage):
    """Each test has its own."""


@pytest.fixture
def scene(db):
    return make_scene()


@pytest.fixture
def _no_sender_has_to_wait(settings, monkeypatch):
    """A refusal for the rate comes before the body is looked at."""
    for name in ("REQUESTS", "UPLOADS", "PREVIEWS", "LEAK_REPORTS"):
        setattr(settings, f"{name}_PER_MINUTE", 1_000_000)
    monkeypatch.setattr(limiters, "INVITATIONS_PER_HOUR", 1_000_000)


@pytest.fixture
def application():
    """The service as the web server calls it, inside the transaction of the test."""
    with connection_kept_open():
        yield get_wsgi_application()
