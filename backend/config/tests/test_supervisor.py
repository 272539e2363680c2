"""Whatever scripts/start runs is started again when it is killed, and ends with it."""

import re
import signal
import threading
import time
import urllib.request
from pathlib import Path

import psutil
import psycopg
import pytest

from backend.config.recovery import embedded
from backend.config.recovery.embedded import Postgres, free_port
from backend.config.site import supervisor
from backend.config.site.site import Site
from backend.config.site.site_folder import SiteFolder, StartFailed
from backend.testing.supervised import (
    PATIENCE_S,
    SupervisedSite,
    fill,
    open_folder,
    small_disk,
    still_running,
)
from backend.testing.template_cluster import copy_cluster

pytestmark = pytest.mark.processes
CHILDREN = ("web", "worker", "beat", "postgres", "valkey")


def eventually(answer, reason):
    """The first true value of `answer()`."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if value := answer():
            return value
        time.sleep(0.1)
    raise AssertionError(f"not within {PATIENCE_S} s: {reason}")


@pytest.fixture
def folder():
    with open_folder() as place:
        yield place


@pytest.fixture(scope="module")
def site():
    with open_folder() as folder:
        yield from run_site(folder)


def run_site(folder):
    supervisor = SupervisedSite(folder / "data", free_port())
    try:
        supervisor.wait()
        yield supervisor
    finally:
        supervisor.stop()


def test_processes_know_where_the_database_is(site):
    """They look at its disk."""
    environment = eventually(lambda: site.child("web"), "web runs").environ()

    assert (Path(environment["DATABASE_DIR"]) / "postgres" / "PG_VERSION").exists()


@pytest.mark.parametrize("name", CHILDREN)
def test_a_killed_child_is_started_again_and_the_others_stay(site, name):
    killed = eventually(lambda: site.child(name), f"{name} runs")
    others = {child.pid for child in site.children()} - {killed.pid}

    killed.send_signal(signal.SIGKILL)

    def is_back():
        running = {child.pid for child in site.children()}
        return len(running) == len(others) + 1 and killed.pid not in running

    eventually(is_back, f"{name} is started again")
    assert others < {child.pid for child in site.children()}
    eventually(lambda: site.answer("/readyz"), "the site is ready")
    line = re.findall(rf"Starting {name[:3]}\S* again in .*", site.output.read_text())[-1]
    assert "was ended by SIGKILL" in line
    assert str(site.data / "logs") in line


def test_a_request_waits_while_every_web_process_is_started_again(site):
    for web in site.processes("web"):
        web.send_signal(signal.SIGKILL)

    # The supervisor holds the socket: the connection is taken, not refused.
    with urllib.request.urlopen(f"http://127.0.0.1:{site.port}/livez", timeout=PATIENCE_S) as live:
        assert live.status == 200


def test_every_part_is_heard_of_and_the_canary_comes_through(site):
    def is_complete():
        lines = site.answer("/readyz").splitlines()
        return len(lines) == 4 and all(line.endswith(" s ago") for line in lines[1:])

    eventually(is_complete, "worker, beat and canary are heard of")


@pytest.fixture
def disk(folder):
    with small_disk(folder, 512 << 20) as place:
        if place is None:
            pytest.skip("only root may mount a small disk")
        yield place


def test_a_full_disk_ends_no_site_and_keeps_none_from_starting(disk):
    own = {"LEAST_FREE_BYTES": str(64 << 20)}
    copy_cluster(disk)
    first = SupervisedSite(disk, free_port(), own)
    try:
        first.wait()
        reserve = disk / "reserve"
        eventually(reserve.exists, "the reserve is taken")
        fill(disk / "filler")
        eventually(lambda: not reserve.exists(), "the reserve is given up")

        # Once: a database that stopped gets the other reserve, and needs it itself to start.
        fill(disk / "filler")

        def is_refusing():
            # A worker that stores no heartbeat for long makes it a refusal.
            return "uploads are refused" in first.any_answer("/readyz")

        eventually(is_refusing, "the database answers beside a full disk")
        eventually(lambda: "Sign in" in first.answer("/accounts/login/"), "pages can be read")
        assert first.process.poll() is None
    finally:
        assert first.stop() == 0

    second = SupervisedSite(disk, first.port, own)
    try:
        second.wait()
        assert "uploads are refused" in second.any_answer("/readyz")
        assert "Sign in" in second.answer("/accounts/login/")
        (disk / "filler").unlink()
        eventually(lambda: "uploads are refused" not in second.answer("/readyz"), "room again")
        eventually(reserve.exists, "the reserve is taken again")
    finally:
        assert second.stop() == 0


def test_a_killed_supervisor_takes_its_children_along_and_starts_again(folder):
    port = free_port()
    copy_cluster(folder / "data")
    first = SupervisedSite(folder / "data", port)
    first.wait()
    children = psutil.Process(first.process.pid).children(recursive=True)

    first.process.kill()
    first.process.wait()
    second = SupervisedSite(folder / "data", port)
    try:
        second.wait()
        assert still_running(children) == []
    finally:
        assert second.stop() == 0
    assert not psutil.pid_exists(second.process.pid)


def test_a_database_that_a_killed_start_left_and_that_does_not_stop_is_ended(folder, monkeypatch):
    monkeypatch.setattr(embedded, "LEFTOVER_TIMEOUT_S", 0.2)
    first = Postgres(folder / "data")
    first.start(folder / "postgres.log")
    # It takes no signal but the last one.
    first.process.send_signal(signal.SIGSTOP)
    reaper = threading.Thread(target=first.process.wait)
    reaper.start()
    second = Postgres(folder / "data")
    try:
        second.start(folder / "postgres.log")
        reaper.join()
        assert first.process.returncode == -signal.SIGKILL
    finally:
        second.stop()


def test_a_step_of_the_start_outlives_the_kill_of_the_database(folder):
    started = Site(free_port(), folder / "data")
    started.folder.prepare()
    postgres = Postgres(started.folder.path)
    started._serve("postgres", postgres)
    tries = []

    def step():
        tries.append(1)
        if len(tries) == 1:
            postgres.process.kill()
            postgres.process.wait()
        try:
            psycopg.connect(postgres.url).close()
        except psycopg.Error as error:
            raise StartFailed(str(error)) from None

    try:
        started.attempt(step)
        assert len(tries) == 2
    finally:
        started.stop()


def test_without_a_link_for_the_first_account_the_site_runs(monkeypatch, capsys):
    class Broken:
        folder = SiteFolder(Path())

        def attempt(self, step):
            raise StartFailed("manage.py first_owner_link failed: no connection")

    supervisor.show_first_owner_link(Broken())
    assert "`manage.py first_owner_link` prints the link." in capsys.readouterr().out
