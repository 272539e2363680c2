"""When a child that ended is started again, and what is said about it."""

import subprocess
import sys
from types import SimpleNamespace

import pytest
from psycopg.pq import Ping

from backend.config.site import child as children
from backend.config.site.child import Child
from backend.config.site.reserve import STARTING, Reserve, keep


class Clock:
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def make_child(tmp_path, clock):
    def make(code):
        def spawn():
            with (tmp_path / "log").open("ab") as out:
                return subprocess.Popen([sys.executable, "-c", code], stdout=out, stderr=out)

        return Child("reader", tmp_path / "log", spawn, clock=clock)

    return make


def pause(child, clock):
    """The pause that is announced when the child has ended; the clock then stands at its end."""
    child.process.wait()
    line = child.tend()
    pause_s = float(line.split(" in ")[1].split(" s:")[0])
    assert child.tend() is None
    clock.now += pause_s
    assert child.tend() is None
    return pause_s


def test_pauses_grow_up_to_a_limit(make_child, clock):
    child = make_child("raise SystemExit(3)")
    child.start()

    pauses = [pause(child, clock) for _ in range(10)]

    assert pauses[:4] == [0.2, 0.4, 0.8, 1.6]
    assert pauses[-1] == children.LONGEST_PAUSE_S
    child.process.wait()


def test_a_child_that_ran_a_while_has_the_first_pause_again(make_child, clock):
    child = make_child("raise SystemExit(3)")
    child.start()
    for _ in range(5):
        pause(child, clock)

    clock.now += children.STEADY_S + 1

    assert pause(child, clock) == children.FIRST_PAUSE_S
    child.process.wait()


def test_the_line_names_the_reason_the_log_and_its_last_line(make_child, tmp_path):
    child = make_child("print('port in use'); raise SystemExit(3)")
    child.start()
    child.process.wait()

    line = child.tend()

    assert "ended with status 3" in line
    assert line.endswith(f"see {tmp_path / 'log'}: port in use")
    assert "\n" not in line


def test_a_child_that_a_signal_ended_has_not_failed(make_child, clock):
    killed = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    for code, failures in (("raise SystemExit(3)", 2), (killed, 0)):
        child = make_child(code)
        child.start()
        for _ in range(2):
            pause(child, clock)
        assert child.failures == failures
        child.process.wait()


def test_a_program_that_cannot_be_started_is_tried_again(tmp_path, clock):
    tries = []

    def spawn():
        tries.append(1)
        if len(tries) in (2, 3):
            raise OSError(28, "No space left on device")
        return subprocess.Popen([sys.executable, "-c", ""])

    child = Child("reader", tmp_path / "log", spawn, clock=clock)
    child.start()
    child.process.wait()
    lines = []
    for _ in range(12):
        lines.append(child.tend())
        clock.now += 0.4
        if len(tries) == 4:
            break

    assert len(tries) == 4
    assert sum("No space left on device" in line for line in lines if line) == 2
    child.process.wait()


class TestReserve:
    @pytest.fixture
    def disk(self, monkeypatch):
        class Usage:
            total, free = 1 << 30, 1 << 29

        monkeypatch.setattr("shutil.disk_usage", lambda _: Usage)
        return Usage

    def test_is_kept_while_there_is_room(self, tmp_path, disk):
        assert Reserve(tmp_path).tend() is None
        assert Reserve(tmp_path).path.stat().st_size == 64 << 20
        assert Reserve(tmp_path).path.stat().st_blocks * 512 >= 64 << 20

    def test_is_given_up_on_a_full_disk_and_taken_back_with_room(self, tmp_path, disk):
        reserve = Reserve(tmp_path)
        reserve.tend()
        disk.free = 8 << 20

        assert "is full. The database goes on with its reserve of 64 MiB" in reserve.tend()
        assert not reserve.is_kept
        assert reserve.tend() is None

        disk.free = 1 << 29
        assert reserve.tend() is None
        assert reserve.is_kept

    def test_of_a_start_is_given_up_by_a_start_only(self, tmp_path, disk):
        reserve = Reserve(tmp_path, STARTING)
        reserve.tend()
        disk.free = 8 << 20

        assert reserve.tend() is None
        assert reserve.is_kept
        assert "is full" in reserve.tend(is_starting=True)
        assert not reserve.is_kept

    @pytest.mark.parametrize("is_up", [True, False])
    def test_in_another_container_follows_the_database(
        self, tmp_path, disk, monkeypatch, capsys, is_up
    ):
        running, starting = Reserve(tmp_path), Reserve(tmp_path, STARTING)
        looks = iter([1 << 29, 8 << 20, 1 << 29])

        def sleep(_):
            if not running.is_kept:
                assert starting.is_kept == is_up
                assert "The database goes on with its reserve" in capsys.readouterr().out
            disk.free = next(looks)

        disk.free = next(looks)
        monkeypatch.setattr("time.sleep", sleep)
        answer = Ping.OK if is_up else Ping.REJECT
        server = SimpleNamespace(ping=lambda address: answer)
        monkeypatch.setattr("backend.config.site.reserve.PGconn", server)
        with pytest.raises(StopIteration):
            keep(tmp_path, "host=postgres port=5432")
        assert running.is_kept
        assert starting.is_kept
