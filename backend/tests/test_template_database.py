"""The tables of the tests are made by migrations once, however many processes copy them."""

import os
import subprocess

import psycopg
import pytest
from django.db import connection

from backend.testing import template_database
from backend.testing.pooler import IS_POOLED
from backend.testing.template_database import make_template

URL = os.environ["DATABASE_URL"]


@pytest.fixture
def migrations(monkeypatch):
    """Notes the databases that would be migrated; fails for the first of them."""
    migrated = []

    def run(command, *, env, check):
        migrated.append(env["DATABASE_URL"])
        if len(migrated) == 1:
            raise subprocess.CalledProcessError(1, command)

    monkeypatch.setattr(template_database.subprocess, "run", run)
    return migrated


@pytest.mark.django_db
@pytest.mark.skipif(IS_POOLED, reason="a pooler keeps sessions")
def test_a_template_is_made_again_after_a_failure_and_never_twice(migrations):
    name = f"template_{os.getpid()}"
    with pytest.raises(subprocess.CalledProcessError):
        make_template(URL, name)
    make_template(URL, name)
    make_template(URL, name)
    assert len(migrations) == 2
    with psycopg.connect(URL, autocommit=True) as outside:
        outside.execute(f"DROP DATABASE {name}")


@pytest.mark.django_db
def test_a_process_beside_others_has_a_copy():
    is_alone = "PYTEST_XDIST_WORKER" not in os.environ
    assert ("TEMPLATE" in connection.settings_dict["TEST"]) != (is_alone or IS_POOLED)
