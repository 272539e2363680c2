"""What the variables of databases make of DATABASES."""

import pytest
from django.core.exceptions import ImproperlyConfigured

from backend.config.environment import environment as env
from backend.config.environment.databases import databases


@pytest.fixture(autouse=True)
def _own_variables(monkeypatch):
    monkeypatch.setattr(env, "VARIABLES", {})
    monkeypatch.setenv("DATABASE_URL", "postgresql://ada@primary/loadsheet?sslmode=require")
    for name in ("READ_DATABASE_URL", "DATABASE_POOLER"):
        monkeypatch.delenv(name, raising=False)


def test_one_database_has_timeouts_prepared_statements_and_cursors():
    (primary,) = databases().values()

    assert primary["HOST"] == "primary"
    assert primary["OPTIONS"]["sslmode"] == "require"
    assert "statement_timeout=30s" in primary["OPTIONS"]["options"]
    assert primary["OPTIONS"]["prepare_threshold"] == 3
    assert not primary["DISABLE_SERVER_SIDE_CURSORS"]


def test_a_replica_is_described_as_the_primary_and_given_up_soon(monkeypatch):
    monkeypatch.setenv("READ_DATABASE_URL", "postgresql://ada@replica/loadsheet?connect_timeout=9")
    described = databases()

    assert described["replica"]["HOST"] == "replica"
    assert described["replica"]["OPTIONS"]["connect_timeout"] == "9"
    assert described["replica"]["OPTIONS"]["options"] == described["default"]["OPTIONS"]["options"]
    monkeypatch.setenv("READ_DATABASE_URL", "postgresql://ada@replica/loadsheet")
    assert databases()["replica"]["OPTIONS"]["connect_timeout"] == "2"


def test_nothing_that_a_session_keeps_is_asked_of_a_pooler(monkeypatch):
    monkeypatch.setenv("DATABASE_POOLER", "transaction")
    monkeypatch.setenv("READ_DATABASE_URL", "postgresql://ada@replica/loadsheet")

    for described in databases().values():
        assert described["DISABLE_SERVER_SIDE_CURSORS"]
        assert described["OPTIONS"]["prepare_threshold"] is None
        assert "options" not in described["OPTIONS"]


def test_another_mode_of_a_pooler_is_refused(monkeypatch):
    monkeypatch.setenv("DATABASE_POOLER", "statement")

    with pytest.raises(ImproperlyConfigured, match="DATABASE_POOLER is 'statement', expected none"):
        databases()
