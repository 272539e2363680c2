"""What the variables of databases make of DATABASES."""

import pytest

from backend.config import environment as env
from backend.config.databases import databases


@pytest.fixture(autouse=True)
def _own_variables(monkeypatch):
    monkeypatch.setattr(env, "VARIABLES", {})
    monkeypatch.setenv("DATABASE_URL", "postgresql://ada@primary/loadsheet?sslmode=require")
    monkeypatch.delenv("READ_DATABASE_URL", raising=False)


def test_one_database_has_timeouts_and_prepared_statements():
    (primary,) = databases().values()

    assert primary["HOST"] == "primary"
    assert primary["OPTIONS"]["sslmode"] == "require"
    assert "statement_timeout=30s" in primary["OPTIONS"]["options"]
    assert primary["OPTIONS"]["prepare_threshold"] == 3


def test_a_replica_is_described_as_the_primary_and_given_up_soon(monkeypatch):
    monkeypatch.setenv("READ_DATABASE_URL", "postgresql://ada@replica/loadsheet?connect_timeout=9")
    described = databases()

    assert described["replica"]["HOST"] == "replica"
    assert described["replica"]["OPTIONS"]["connect_timeout"] == "9"
    assert described["replica"]["OPTIONS"]["options"] == described["default"]["OPTIONS"]["options"]
    monkeypatch.setenv("READ_DATABASE_URL", "postgresql://ada@replica/loadsheet")
    assert databases()["replica"]["OPTIONS"]["connect_timeout"] == "2"
