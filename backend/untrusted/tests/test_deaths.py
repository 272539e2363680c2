"""How the death of a child is told."""

import os
import signal
import subprocess
import sys
import time

import pytest

from backend.untrusted.sandbox.child import SIGNALS_TO_STOP
from backend.untrusted.sandbox.child_process import death_of
from backend.untrusted.sandbox.deaths import Death, signal_name
from backend.untrusted.sandbox.sandbox import Sandbox

LIMIT_BYTES = 2 << 30


def test_a_kill_says_memory_what_was_used_and_the_limit():
    assert Death(-signal.SIGKILL, 1900 << 20, parent_bytes=80 << 20).sentence(LIMIT_BYTES) == (
        "While it read this upload, the parser was killed (SIGKILL), as happens when memory runs "
        "out; it had used 1,900 MiB of memory, the limit is 2,048 MiB."
    )


@pytest.mark.parametrize(
    ("memory_mib", "parent_mib", "words"),
    [
        (600, 80, "it had used 600 MiB of memory, the limit is 2,048 MiB."),
        (600, 600, "it had used at most 600 MiB of memory, the limit is 2,048 MiB."),
        (0, 80, "the memory it used was not measured, the limit is 2,048 MiB."),
    ],
)
def test_memory_that_may_be_the_parents_is_said_so(memory_mib, parent_mib, words):
    for signal_number in (signal.SIGKILL, signal.SIGSEGV):
        death = Death(-signal_number, memory_mib << 20, parent_mib << 20)
        assert words in death.sentence(LIMIT_BYTES)


@pytest.mark.processes
def test_a_death_tells_the_memory_that_was_used():
    with subprocess.Popen([sys.executable, "-c", "bytearray(64 << 20); print(1)"]) as child:
        while (death := death_of(child)) is None:
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
