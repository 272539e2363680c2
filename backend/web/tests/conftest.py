import pytest
from django.test import Client

from backend.testing.scenes import make_scene
from backend.web import middleware


@pytest.fixture(autouse=True)
def _own_storage(own_storage):
    """Each test has its own."""


@pytest.fixture(autouse=True)
def _answers_about_accounts_at_once(monkeypatch):
    monkeypatch.setattr(middleware, "ACCOUNT_ANSWER_S", 0.001)


@pytest.fixture
def scene(db):
    return make_scene()


@pytest.fixture
def owner(scene):
    client = Client()
    client.force_login(scene.own.user)
    return client


@pytest.fixture
def stranger(db):
    return Client()
