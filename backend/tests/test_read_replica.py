"""Comparisons on a real streaming replica: never older than what was stored before."""

import json
import time

import psycopg
import pytest
from django.conf import settings
from django.db import connection, connections

from backend.analysis.compare.comparison import compare_as_json
from backend.analysis.loading.facets import facets
from backend.analysis.loading.response_cache import get_or_compute_json
from backend.analysis.query.compare_query import CompareQuery
from backend.runs.database import replica
from backend.runs.database.read_router import REPLICA
from backend.testing.rows import CellSpec, make_run, make_workspace
from backend.testing.standby import Standby
from backend.testing.supervised import open_folder

pytestmark = [
    pytest.mark.processes,
    pytest.mark.django_db(transaction=True, databases=["default", REPLICA]),
]
PATIENCE_S = 60


@pytest.fixture(scope="module", autouse=True)
def standby(django_db_setup):
    """The replica, as the only change to the settings."""
    if settings.DATABASES["default"].get("DISABLE_SERVER_SIDE_CURSORS"):
        pytest.skip("a pooler in transaction mode passes no replication on")
    with open_folder("loadsheet-standby-") as folder:
        server = Standby(folder, primary_sockets=connection.settings_dict["HOST"])
        server.start(folder / "log")
        connections.settings[REPLICA] = {
            **connections.settings["default"],
            "HOST": str(server.sockets),
            # Nothing is emptied there after a test.
            "TEST": {**connections.settings["default"]["TEST"], "MIRROR": "default"},
        }
        yield server
        del connections[REPLICA]
        del connections.settings[REPLICA]
        server.stop()
        drop_slot(connection.settings_dict["HOST"], server.slot)


def drop_slot(primary_sockets, slot):
    """Once the primary has noticed that the replica is gone."""
    deadline = time.monotonic() + PATIENCE_S
    with psycopg.connect(
        host=primary_sockets, user="loadsheet", dbname="postgres", autocommit=True
    ) as primary:
        while True:
            try:
                primary.execute("SELECT pg_drop_replication_slot(%s)", [slot])
                return
            except psycopg.errors.ObjectInUse:
                assert time.monotonic() < deadline
                time.sleep(0.02)


@pytest.fixture
def read_from(monkeypatch):
    """The database of each comparison that was computed."""
    monkeypatch.setattr(replica, "_failed_at", float("-inf"))
    databases = []
    monkeypatch.setattr(
        replica.counters, "count", lambda _, database, **__: databases.append(database)
    )
    return databases


def ask(lab, *, text=""):
    """How many trials a comparison over the workspace shows."""
    answer = json.loads(
        compare_as_json(CompareQuery.parse(text), workspace_ids=[lab.pk], viewer="viewer")
    )
    return sum(point["trials"] for series in answer["series"] for point in series["points"])


def wait_until_followed(server, lab):
    lab.refresh_from_db()
    query = "SELECT data_version FROM accounts_workspace WHERE id = %s"
    deadline = time.monotonic() + PATIENCE_S
    with on(server) as there:
        while there.execute(query, [lab.pk]).fetchone() != (lab.data_version,):
            assert time.monotonic() < deadline
            time.sleep(0.02)


def on(server):
    name = connection.settings_dict["NAME"]
    return psycopg.connect(host=str(server.sockets), user="loadsheet", dbname=name, autocommit=True)


def test_the_replica_answers_once_it_has_the_run(standby, read_from):
    lab = make_workspace("lab")
    make_run(lab, CellSpec())
    wait_until_followed(standby, lab)

    assert ask(lab) == 3
    assert read_from == [REPLICA]


def test_the_replica_counts_as_the_primary_does(standby, read_from):
    lab = make_workspace("lab")
    make_run(lab, CellSpec(), CellSpec("async"))
    wait_until_followed(standby, lab)
    query = CompareQuery.parse("server=async")

    def compute():
        return json.dumps(facets(query, workspace_ids=[lab.pk]), default=str).encode()

    counted = get_or_compute_json("facets of a test", query, [lab.pk], compute, viewer="viewer")

    assert read_from == [REPLICA]
    assert counted == compute()


def test_what_the_replica_does_not_have_yet_is_read_from_the_primary(standby, read_from):
    lab = make_workspace("lab")
    make_run(lab, CellSpec())
    wait_until_followed(standby, lab)
    with on(standby) as there:
        there.execute("SELECT pg_wal_replay_pause()")
        try:
            make_run(lab, CellSpec("new", rates=(500.0, 510.0)))
            assert ask(lab, text="server=new") == 2
        finally:
            there.execute("SELECT pg_wal_replay_resume()")
    assert read_from == ["primary"]
    wait_until_followed(standby, lab)

    assert ask(lab, text="server=new&metric=p99") == 2
    assert read_from == ["primary", REPLICA]


def test_a_replica_that_fails_is_left_alone_for_a_while(standby, read_from, monkeypatch):
    lab = make_workspace("lab")
    make_run(lab, CellSpec())
    wait_until_followed(standby, lab)
    connections[REPLICA].close()
    monkeypatch.setitem(connections[REPLICA].settings_dict, "HOST", "/nonexistent")

    assert ask(lab) == 3
    assert ask(lab, text="metric=p99") == 3
    assert read_from == ["primary", "primary"]
    assert replica._failed_at > time.monotonic() - replica.PAUSE_S


def test_two_processes_of_the_tests_have_a_replica_each(standby):
    """The tests of this file may be dealt to several processes, which share a primary."""
    with open_folder("loadsheet-standby-") as folder:
        other = Standby(folder, primary_sockets=connection.settings_dict["HOST"])
        other.start(folder / "log")
        other.stop()
        drop_slot(connection.settings_dict["HOST"], other.slot)
    assert other.slot != standby.slot
