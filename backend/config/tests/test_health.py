"""What /readyz says of each part, and the headers of every answer."""

import os
import re
import subprocess
import sys
import uuid

import pytest
from django.conf import settings as configured
from django.core.management import call_command
from django.db import connection
from django.test import Client

from backend.config.celery import app
from backend.config.models import Heartbeat
from backend.config.processes import clock, heartbeat
from backend.config.tests.health import everything_runs, heard, readyz
from backend.ingest.receiving.hints import DRAIN_TASK
from backend.sharing.drawing_queue import DRAW_TASK

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("own_storage")]


class TestParts:
    def test_are_listed_with_their_ages_and_no_warning(self):
        everything_runs()

        assert readyz() == (
            200,
            ["ready", "worker: 5 s ago", "beat: 5 s ago", "canary: 40 s ago"],
        )

    @pytest.mark.parametrize(
        ("name", "seconds", "words"),
        [
            ("worker@a", 61, "no worker runs"),
            ("beat@a", 61, "beat does not run"),
            ("canary", 101, "take no tasks"),
        ],
    )
    def test_that_are_silent_are_a_warning_and_no_503(self, name, seconds, words):
        everything_runs()
        heard(name, seconds)

        status, lines = readyz()

        assert status == 200
        (warning,) = [line for line in lines if line.startswith("warning: ")]
        assert words in warning

    def test_that_never_ran_are_a_warning(self):
        status, lines = readyz()

        assert status == 200
        assert lines[1] == "worker: never"
        assert sum(line.startswith("warning: ") for line in lines) == 3

    def test_the_youngest_machine_counts(self):
        everything_runs()
        heard("worker@b", 4000)

        assert readyz()[1][1] == "worker: 5 s ago"

    @pytest.mark.parametrize("name", ["worker@a", "beat@a", "canary"])
    def test_that_died_before_the_clock_was_set_back_are_a_warning(self, name):
        everything_runs()
        heard(name, -3600)

        part = name.partition("@")[0]
        assert f"{part}: never" in readyz()[1]
        assert f"warning: {heartbeat.WARNINGS[part]}" in readyz()[1]

    def test_that_lived_when_the_clock_was_set_back_are_heard_again(self):
        everything_runs()
        heard("worker@gone", -3600)
        heard("worker@a", -3600)

        heard("worker@a", 4)

        assert "worker: 4 s ago" in readyz()[1]

    def test_a_clock_may_be_a_little_behind(self):
        everything_runs()
        heard("worker@a", -2)

        assert not any(line.startswith("warning: ") for line in readyz()[1])


class TestHeartbeats:
    def test_are_one_row_for_each_part_and_machine(self):
        for _ in range(2):
            heartbeat.record(heartbeat.WORKER)
            heartbeat.canary()

        names = set(Heartbeat.objects.values_list("name", flat=True))
        assert names == {heartbeat.name_of(heartbeat.WORKER), "canary"}
        assert heartbeat.ages()["worker"] < 60

    def test_of_machines_that_are_gone_are_forgotten(self):
        heard("worker@gone", 2 * 24 * 3600)
        heard("worker@here", 3600)

        heartbeat.canary()

        names = set(Heartbeat.objects.values_list("name", flat=True))
        assert names == {"worker@here", "canary"}

    def test_of_beat_come_with_its_ticks(self, monkeypatch):
        closed = []
        monkeypatch.setattr(heartbeat.connection, "close", lambda: closed.append(True), False)
        monkeypatch.setattr("celery.beat.Scheduler.tick", lambda _: 100.0)
        scheduler = clock.Clock.__new__(clock.Clock)
        scheduler._pulse = heartbeat.Pulse(heartbeat.BEAT)

        assert scheduler.tick() == heartbeat.INTERVAL_S
        assert heartbeat.ages()["beat"] < 60
        assert closed

    def test_the_canary_is_on_the_schedule_under_its_name(self):
        entry = configured.CELERY_BEAT_SCHEDULE["canary"]

        assert entry["task"] == heartbeat.canary.name
        assert entry["schedule"] < heartbeat.SILENT_AFTER_S["canary"]

    def test_no_kind_waits_behind_another(self):
        tasks = (heartbeat.canary.name, DRAIN_TASK, DRAW_TASK)
        queues = [app.amqp.router.route({}, task)["queue"].name for task in tasks]

        assert len(set(queues)) == 3
        assert set(queues) == set(app.amqp.queues.consume_from)


@pytest.mark.django_db(transaction=True)
def test_a_container_asks_for_its_own_heartbeat():
    database = connection.settings_dict
    url = f"postgresql://{database['USER']}@/{database['NAME']}?host={database['HOST']}"

    assert "never" in heartbeat.check(heartbeat.WORKER, url)
    heartbeat.record(heartbeat.WORKER)
    assert heartbeat.check(heartbeat.WORKER, url) is None
    heard(heartbeat.name_of(heartbeat.WORKER), 100)
    assert re.search(r"1[0-9][0-9] s ago", heartbeat.check(heartbeat.WORKER, url))
    heard(heartbeat.name_of(heartbeat.WORKER), -3600)
    assert "s ahead" in heartbeat.check(heartbeat.WORKER, url)
    heard(heartbeat.name_of(heartbeat.WORKER), 100)

    done = subprocess.run(
        [sys.executable, "-m", "backend.config.processes.heartbeat_check", "worker"],
        cwd=configured.BASE_DIR,
        env={**os.environ, "DATABASE_URL": url},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert re.search(r"1[0-9][0-9] s ago", done.stderr)


def test_readyz_warns_where_a_pooler_sets_no_timeouts(monkeypatch):
    monkeypatch.setitem(connection.settings_dict, "DISABLE_SERVER_SIDE_CURSORS", True)
    assert "no time limit" not in Client().get("/readyz").content.decode()
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 0")

    answer = Client().get("/readyz")

    assert answer.status_code == 200
    assert "warning: statements have no time limit" in answer.content.decode()


def test_headers_of_every_response():
    answer = Client().get("/accounts/login/")

    assert "camera=()" in answer["Permissions-Policy"]
    assert answer["Cross-Origin-Resource-Policy"] == "same-origin"


def test_only_what_is_made_for_other_sites_may_be_shown_there():
    link = uuid.uuid4()
    for path in (f"/embed/{link}", f"/s/{link}.png", f"/s/{link}.svg"):
        assert Client().get(path)["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert Client().get(f"/s/{link}")["Cross-Origin-Resource-Policy"] == "same-origin"


@pytest.mark.parametrize("address", ["http://127.0.0.1:8000", "https://bench.example"])
def test_django_finds_nothing_to_fix_in_a_deployment(address):
    # The browser tests of the same process set a variable that no deployment has.
    own = {name: text for name, text in os.environ.items() if name != "DJANGO_ALLOW_ASYNC_UNSAFE"}
    done = subprocess.run(
        [sys.executable, "manage.py", "check", "--deploy", "--fail-level=WARNING"],
        cwd=configured.BASE_DIR,
        env={**own, "PUBLIC_URL": address},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    call_command("check")
