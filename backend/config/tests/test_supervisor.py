"""Whatever scripts/start runs is started again when it is killed, and ends with it."""

import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import psutil
import pytest
from django.conf import settings

from backend.config.embedded import free_port

pytestmark = pytest.mark.processes
# How long a slow machine may take; a test passes as soon as it can.
PATIENCE_S = 120
# A word of each child's command line.
PROGRAMS = {
    "web-1": "backend.config.web_server",
    "worker": "worker",
    "beat": "beat",
    "postgres": "postgres",
    "valkey": "valkey",
}


def eventually(answer, reason):
    """The first true value of `answer()`."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if value := answer():
            return value
        time.sleep(0.1)
    raise AssertionError(f"not within {PATIENCE_S} s: {reason}")


class Supervisor:
    """scripts/start on a folder and a port of its own."""

    def __init__(self, data, port):
        self.data, self.port = data, port
        self.output = data.parent / "output"
        names = ("DATABASE_URL", "REDIS_URL", "CACHE_URL", "SECRET_KEY", "TOKEN_PEPPER")
        environment = {name: text for name, text in os.environ.items() if name not in names}
        environment["PYTHONPATH"] = str(settings.BASE_DIR)
        command = [sys.executable, "-m", "backend.config.supervisor", "--no-demo"]
        with self.output.open("ab") as out:
            self.process = subprocess.Popen(
                [*command, "--port", str(port), "--data", str(data)],
                cwd=settings.BASE_DIR,
                env=environment,
                stdout=out,
                stderr=out,
            )

    def wait(self):
        eventually(lambda: "Loadsheet runs at" in self.output.read_text(), "the site runs")

    def children(self):
        return psutil.Process(self.process.pid).children()

    def child(self, name):
        """The first child that runs this program."""
        for child in self.children():
            try:
                if any(PROGRAMS[name] in word for word in child.cmdline()):
                    return child
            except psutil.Error:
                continue
        return None

    def answers(self, path):
        try:
            url = f"http://127.0.0.1:{self.port}{path}"
            with urllib.request.urlopen(url, timeout=10) as answer:
                return answer.status == 200
        except (urllib.error.URLError, OSError):
            return False

    def stop(self):
        self.process.terminate()
        return self.process.wait(timeout=PATIENCE_S)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    # PostgreSQL's user must be able to pass.
    for place in (folder, *folder.parents[:2]):
        place.chmod(0o755)
    supervisor = Supervisor(folder / "data", free_port())
    try:
        supervisor.wait()
        yield supervisor
    finally:
        supervisor.stop()


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_killed_child_is_started_again_and_the_others_stay(site, name):
    killed = eventually(lambda: site.child(name), f"{name} runs")
    others = {child.pid for child in site.children()} - {killed.pid}

    killed.send_signal(signal.SIGKILL)

    def is_back():
        running = {child.pid for child in site.children()}
        return len(running) == len(others) + 1 and killed.pid not in running

    eventually(is_back, f"{name} is started again")
    assert others < {child.pid for child in site.children()}
    eventually(lambda: site.answers("/readyz"), "the site is ready")
    line = re.findall(rf"Starting {name[:3]}\S* again in .*", site.output.read_text())[-1]
    assert "was ended by SIGKILL" in line
    assert str(site.data / "logs") in line


def test_a_request_waits_while_every_web_process_is_started_again(site):
    for child in site.children():
        if PROGRAMS["web-1"] in child.cmdline():
            child.send_signal(signal.SIGKILL)

    # The supervisor holds the socket: the connection is taken, not refused.
    with urllib.request.urlopen(f"http://127.0.0.1:{site.port}/livez", timeout=PATIENCE_S) as live:
        assert live.status == 200


def test_a_killed_supervisor_takes_its_children_along_and_starts_again(tmp_path_factory):
    folder = tmp_path_factory.mktemp("killed")
    for place in (folder, *folder.parents[:2]):
        place.chmod(0o755)
    port = free_port()
    first = Supervisor(folder / "data", port)
    first.wait()
    children = first.children()

    first.process.kill()
    first.process.wait()
    first.output.unlink()
    second = Supervisor(Path(folder / "data"), port)
    try:
        second.wait()
        _, alive = psutil.wait_procs(children, timeout=PATIENCE_S)
        assert alive == []
    finally:
        assert second.stop() == 0
    assert not psutil.pid_exists(second.process.pid)
