"""Whether the death of a child speaks against what it was reading."""

import os
import signal
import subprocess
import sys
import time

import pytest

from backend.ingest import deaths
from backend.ingest.cleaner import CleanerInterrupted, cleaner
from backend.ingest.deaths import Death, count_memory_kills, death_of
from backend.ingest.sandbox import Sandbox

LIMIT_BYTES = 2 << 30


@pytest.fixture(autouse=True)
def _limit(settings):
    settings.PARSE_MEMORY_BYTES = LIMIT_BYTES


@pytest.mark.parametrize(
    ("death", "is_from_outside"),
    [
        (Death(-signal.SIGKILL, 80 << 20), True),
        (Death(-signal.SIGTERM, LIMIT_BYTES), True),
        (Death(-signal.SIGKILL, LIMIT_BYTES - 1), False),
        (Death(-signal.SIGKILL, 80 << 20, memory_kills=1), False),
        (Death(-signal.SIGSEGV, 80 << 20), False),
        (Death(1, 80 << 20), False),
    ],
)
def test_a_kill_without_a_sign_of_exhausted_memory_is_from_outside(death, is_from_outside):
    assert death.is_from_outside == is_from_outside
    assert ("lack of memory" in death.sentence) == death.is_for_memory


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
    # Linux counts what this process had as the child's: after other tests, more than half a limit.
    settings.PARSE_MEMORY_BYTES = 1 << 40
    start = Sandbox._running_child

    def killed(box):
        child = start(box)
        os.kill(child.pid, signal.SIGKILL)
        return child

    with cleaner() as child:
        monkeypatch.setattr(Sandbox, "_running_child", killed)
        with pytest.raises(CleanerInterrupted):
            child.clean_json({"run": 1})
        monkeypatch.undo()
        assert child.clean_json({"run": 1}) == {"run": 1}
