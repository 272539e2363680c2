"""Whatever scripts/start runs is started again when it is killed, and ends with it."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
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

    def __init__(self, data, port, **more):
        self.data, self.port = data, port
        self.output = data.parent / f"output-{data.name}"
        names = ("DATABASE_URL", "REDIS_URL", "CACHE_URL", "SECRET_KEY", "TOKEN_PEPPER")
        environment = {name: text for name, text in os.environ.items() if name not in names}
        environment |= {"PYTHONPATH": str(settings.BASE_DIR), **more}
        command = [sys.executable, "-m", "backend.config.supervisor", "--no-demo"]
        with self.output.open("wb") as out:
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

    def answer(self, path):
        """The text of a 200, else an empty one."""
        try:
            url = f"http://127.0.0.1:{self.port}{path}"
            with urllib.request.urlopen(url, timeout=10) as answer:
                return answer.read().decode()
        except (urllib.error.URLError, OSError):
            return ""

    def stop(self):
        self.process.terminate()
        return self.process.wait(timeout=PATIENCE_S)


@contextlib.contextmanager
def open_folder():
    """A folder that PostgreSQL's user may pass, as those of pytest are not."""
    with tempfile.TemporaryDirectory(prefix="loadsheet-site-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture
def folder():
    with open_folder() as place:
        yield place


@pytest.fixture(scope="module")
def site():
    with open_folder() as folder:
        yield from run_site(folder)


def run_site(folder):
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
    eventually(lambda: site.answer("/readyz"), "the site is ready")
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


def test_every_part_is_heard_of_and_the_canary_comes_through(site):
    def is_complete():
        lines = site.answer("/readyz").splitlines()
        return len(lines) == 4 and all(line.endswith(" s ago") for line in lines[1:])

    eventually(is_complete, "worker, beat and canary are heard of")


@pytest.fixture
def small_disk(folder):
    """A disk of 512 MiB."""
    disk = folder / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=512m,mode=0755", "tmpfs", str(disk)]
    if shutil.which("mount") is None or subprocess.run(command, check=False).returncode:
        pytest.skip("only root may mount a small disk")
    yield disk
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


def fill(file):
    """To the last byte."""
    with contextlib.suppress(OSError), file.open("ab", buffering=0) as out:
        while True:
            out.write(b"x" * 4096)


def test_a_full_disk_ends_no_site_and_keeps_none_from_starting(small_disk):
    own = {"LEAST_FREE_BYTES": str(64 << 20)}
    first = Supervisor(small_disk, free_port(), **own)
    try:
        first.wait()
        reserve = small_disk / "reserve"
        eventually(reserve.exists, "the reserve is taken")
        fill(small_disk / "filler")
        eventually(lambda: not reserve.exists(), "the reserve is given up")

        def is_refusing():
            # A file that was removed frees its blocks a little later.
            fill(small_disk / "filler")
            return "uploads are refused" in first.answer("/readyz")

        eventually(is_refusing, "the reserve is used up too")
        assert "Sign in" in first.answer("/accounts/login/")
        assert (small_disk / "reserve-start").exists()
        assert first.process.poll() is None
    finally:
        assert first.stop() == 0

    second = Supervisor(small_disk, first.port, **own)
    try:
        second.wait()
        assert "uploads are refused" in second.answer("/readyz")
        assert "Sign in" in second.answer("/accounts/login/")
        (small_disk / "filler").unlink()
        eventually(lambda: "uploads are refused" not in second.answer("/readyz"), "room again")
        eventually(reserve.exists, "the reserve is taken again")
    finally:
        assert second.stop() == 0


def test_a_killed_supervisor_takes_its_children_along_and_starts_again(folder):
    port = free_port()
    first = Supervisor(folder / "data", port)
    first.wait()
    children = first.children()

    first.process.kill()
    first.process.wait()
    second = Supervisor(folder / "data", port)
    try:
        second.wait()
        _, alive = psutil.wait_procs(children, timeout=PATIENCE_S)
        assert alive == []
    finally:
        assert second.stop() == 0
    assert not psutil.pid_exists(second.process.pid)
