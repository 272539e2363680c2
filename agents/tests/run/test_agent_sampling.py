"""Resource use during a trial: of a process tree, of the cores, of the sockets."""

from __future__ import annotations

import subprocess
import sys
import time
from collections import namedtuple
from pathlib import Path

import psutil
import pytest
from agent_fakes import PATIENCE_S

from loadsheet_agent.run import sampling
from loadsheet_agent.run.sampling import Sampler, Tree, irq_share, time_wait_sockets

BUSY = """
import subprocess, sys, threading, time
child = "import time; b = bytearray(30_000_000); time.sleep(60)"
subprocess.Popen([sys.executable, "-c", child])
for _ in range(3):
    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
end = time.process_time() + 0.3
while time.process_time() < end:
    pass
print("ready", flush=True)
time.sleep(60)
"""


def test_a_process_tree_is_sampled_through_a_trial():
    outer = [
        sys.executable,
        "-c",
        f"import subprocess, sys; subprocess.run([sys.executable, '-c', {BUSY!r}])",
    ]
    process = subprocess.Popen(outer, stdout=subprocess.PIPE, start_new_session=True)
    try:
        sampler = Sampler(Tree(process.pid))
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        until = time.monotonic() + PATIENCE_S
        while Tree(process.pid).usage().rss_bytes < 40_000_000 and time.monotonic() < until:
            time.sleep(0.05)
        found = sampler.finish(client_cpu_s=0.125)
        beside = Sampler(None, [Tree(process.pid)]).finish(None)
    finally:
        for member in psutil.Process(process.pid).children(recursive=True):
            member.kill()
        process.kill()
        process.wait()
    assert found["server_rss_bytes"] >= 40_000_000
    assert found["server_rss_peak_bytes"] >= found["server_rss_bytes"]
    assert found["server_threads_peak"] >= 5
    assert beside["services_cpu_s"] >= 0
    assert found["server_processes_peak"] == 2
    assert found["client_cpu_s"] == 0.125
    assert len(found["client_cpu_per_core"]) == found["client_cores"]
    assert all(0 <= share <= 1 for share in found["client_cpu_per_core"])


def test_a_server_the_plan_did_not_start_is_unknown():
    found = Sampler(None).finish(None)
    for name in ("server_cpu_s", "server_rss_bytes", "server_rss_peak_bytes", "client_cpu_s"):
        assert found[name] is None, name
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    assert Sampler(Tree(gone.pid)).finish(None)["server_threads_peak"] is None
    assert Sampler(None).finish(None)["services_cpu_s"] == 0
    assert Sampler(None, [Tree(gone.pid)]).finish(None)["services_cpu_s"] is None


def test_the_time_of_interrupts_is_a_share_of_all_cores():
    Times = namedtuple("Times", ["user", "idle", "irq", "softirq", "steal"])
    before = [Times(1.0, 5.0, 0.0, 0.0, 0.0), Times(2.0, 5.0, 0.5, 0.5, 0.0)]
    after = [Times(2.0, 11.0, 1.0, 2.0, 0.0), Times(9.0, 7.0, 1.0, 1.0, 0.0)]
    # 1 + 2 of 10 s, and 0.5 + 0.5 of 10 s.
    assert irq_share(before, after) == 0.2
    assert irq_share([], []) is None
    assert irq_share(before, before) is None
    Other = namedtuple("Other", ["user", "idle"])
    assert irq_share([Other(1.0, 1.0)], [Other(2.0, 3.0)]) is None


def test_peaks_are_of_all_samples(monkeypatch: pytest.MonkeyPatch):
    now = iter(range(100))
    counts = iter([5, 9, 7])
    monkeypatch.setattr(sampling, "time_wait_sockets", lambda: next(counts))
    sampler = Sampler(None, clock=lambda: float(next(now)))
    sampler.tick()
    found = sampler.finish(None)
    assert (found["time_wait_start"], found["time_wait_peak"], found["time_wait_end"]) == (5, 9, 7)
    assert found["samples"] == 3


def test_time_wait_is_what_the_kernel_counts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    table = tmp_path / "sockstat"
    table.write_text("sockets: used 5\nTCP: inuse 7 orphan 0 tw 42 alloc 9 mem 1\nUDP: inuse 1\n")
    monkeypatch.setattr(sampling, "SOCKETS", table)
    assert time_wait_sockets() == 42
    monkeypatch.setattr(sampling, "SOCKETS", tmp_path / "none")
    assert time_wait_sockets() is None
