"""Whether the death of a child speaks against what it was reading."""

import os
import signal
import subprocess
import sys
import time
from contextlib import closing

import pytest

from backend.ingest import deaths
from backend.ingest.child import SIGNALS_TO_STOP
from backend.ingest.cleaner import Cleaner, CleanerInterrupted
from backend.ingest.deaths import Death, count_memory_kills, death_of
from backend.ingest.sandbox import Sandbox
from backend.signal_names import signal_name

LIMIT_BYTES = 2 << 30


@pytest.mark.parametrize(
    ("death", "is_from_outside"),
    [
        (Death(-signal.SIGKILL, 80 << 20), True),
        (Death(-signal.SIGTERM, LIMIT_BYTES), True),
        (Death(-signal.SIGKILL, LIMIT_BYTES - 1), False),
        (Death(-signal.SIGKILL, 80 << 20, memory_kills=1), False),
        (Death(-signal.SIGKILL, LIMIT_BYTES, parent_bytes=LIMIT_BYTES), True),
        (Death(-signal.SIGKILL, LIMIT_BYTES, parent_bytes=LIMIT_BYTES // 2), False),
        (Death(-signal.SIGSEGV, 80 << 20), False),
        (Death(1, 80 << 20), False),
    ],
)
def test_a_kill_without_a_sign_of_exhausted_memory_is_from_outside(death, is_from_outside):
    assert death.is_from_outside(LIMIT_BYTES) == is_from_outside
    said = "lack of memory" in death.sentence(LIMIT_BYTES)
    assert said == death.is_for_memory(LIMIT_BYTES)


def test_a_kill_is_judged_by_the_limit_of_what_was_asked():
    death = Death(-signal.SIGKILL, 600 << 20)
    assert death.is_for_memory(1 << 30)
    assert not death.is_for_memory(2 << 30)
    assert "had used 600 MiB of memory, the limit is 1024 MiB." in death.sentence(1 << 30)


def test_memory_that_may_be_the_parents_is_said_so():
    death = Death(-signal.SIGSEGV, 600 << 20, parent_bytes=600 << 20)
    assert "had used at most 600 MiB of memory" in death.sentence(1 << 30)


def test_the_kernel_is_asked_for_its_kills(tmp_path, monkeypatch):
    assert count_memory_kills() >= 0
    monkeypatch.setattr(deaths, "VMSTAT", tmp_path / "vmstat")
    assert count_memory_kills() == 0
    deaths.VMSTAT.write_text("pgfault 12\noom_kill 7\nnuma_hit 3\n")
    assert count_memory_kills() == 7


@pytest.mark.processes
def test_a_death_tells_the_memory_that_was_used():
    with subprocess.Popen([sys.executable, "-c", "bytearray(64 << 20); print(1)"]) as child:
        while (death := death_of(child, memory_kills_before=count_memory_kills())) is None:
            time.sleep(0.01)
    assert death.code == 0
    assert death.memory_bytes > 64 << 20


@pytest.mark.processes
def test_the_kernel_ends_a_child_before_its_worker():
    box = Sandbox()
    try:
        box.prepare()
        with open(f"/proc/{box.child.pid}/oom_score_adj") as score:
            assert score.read().strip() == "1000"
    finally:
        box.close()


@pytest.mark.processes
def test_a_killed_cleaner_refuses_nothing_for_good(monkeypatch, settings):
    """The sender is told to send the same again, not that its file is at fault."""
    # Linux counts what this process had as the child's: more than half of the limit.
    settings.PARSE_MEMORY_BYTES = 512 << 20
    assert len(b"x" * (300 << 20)) > 0.5 * settings.PARSE_MEMORY_BYTES
    start = Sandbox._running_child

    def killed(box):
        child = start(box)
        os.kill(child.pid, signal.SIGKILL)
        return child

    child = Cleaner()
    with closing(child):
        monkeypatch.setattr(Sandbox, "_running_child", killed)
        with pytest.raises(CleanerInterrupted):
            child.clean_json({"run": 1})
        monkeypatch.undo()
        assert child.clean_json({"run": 1}) == {"run": 1}


@pytest.mark.processes
@pytest.mark.parametrize("number", SIGNALS_TO_STOP)
def test_a_service_that_stops_leaves_a_parser_to_its_worker(number):
    """systemd sends SIGTERM to every process of a service, and the worker ends what it reads."""
    box = Sandbox()
    try:
        box.prepare()
        child = box.child
        os.kill(child.pid, number)
        assert "refused" in box.read([], tool="")
        assert box.child is child
    finally:
        box.close()


def test_a_signal_without_a_name_has_its_number():
    assert (signal_name(9), signal_name(40)) == ("SIGKILL", "signal 40")
