"""Resource use during a trial: of the server's processes and of the client's cores.

Sampled twice a second: enough for peaks, at no measurable cost for the load tool.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

INTERVAL_S = 0.5
# Listing all processes of the machine is expensive; workers come and go more slowly.
TREE_INTERVAL_S = 2.0
SOCKETS = Path("/proc/net/sockstat")


@dataclass(frozen=True)
class Usage:
    """A process tree's CPU time since its start, memory and threads now. Unknown is None."""

    cpu_s: float | None = None
    rss_bytes: int | None = None
    threads: int | None = None
    processes: int | None = None


UNKNOWN_USAGE = Usage()


class Tree:
    """A process's descendants; the processes are listed again every two seconds.

    `itself`: count the process too. Otherwise it is the guard of a server.
    """

    def __init__(
        self, pid: int, clock: Callable[[], float] = time.monotonic, *, itself: bool = False
    ) -> None:
        self.pid = pid
        self._itself = itself
        self._clock = clock
        self._members: list[psutil.Process] = []
        self._listed_at: float | None = None

    def usage(self, *, fresh: bool = False) -> Usage:
        """Children that ended are in their parent's children's times, so CPU only grows."""
        try:
            return self._usage(fresh)
        except psutil.Error:
            return UNKNOWN_USAGE

    def _usage(self, fresh: bool) -> Usage:
        now = self._clock()
        if fresh or self._listed_at is None or now - self._listed_at >= TREE_INTERVAL_S:
            root = psutil.Process(self.pid)
            self._members = [*([root] if self._itself else []), *root.children(recursive=True)]
            self._listed_at = now
        cpu, rss, threads, processes = 0.0, 0, 0, 0
        for member in self._members:
            try:
                with member.oneshot():
                    times, memory, count = (
                        member.cpu_times(),
                        member.memory_info(),
                        member.num_threads(),
                    )
            except psutil.Error:
                continue
            cpu += times.user + times.system
            cpu += getattr(times, "children_user", 0.0) + getattr(times, "children_system", 0.0)
            rss, threads, processes = rss + memory.rss, threads + count, processes + 1
        return Usage(cpu, rss, threads, processes) if processes else UNKNOWN_USAGE


class Sampler:
    """Samples from its creation to `finish`, which gives the envelope's resources.

    `services`: what runs beside the server. `tick` may be called at any rate.
    """

    def __init__(
        self,
        tree: Tree | None,
        services: Sequence[Tree] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._tree = tree
        self._services = services
        self._services_cpu_s = cpu_seconds(services)
        self._clock = clock
        self._cores = core_times()
        self._first = self._read(fresh=True)
        self._readings = [self._first]
        self._time_wait = [time_wait_sockets()]
        self._next = clock() + INTERVAL_S

    def _read(self, *, fresh: bool) -> Usage:
        return UNKNOWN_USAGE if self._tree is None else self._tree.usage(fresh=fresh)

    def tick(self) -> None:
        """Take a sample if half a second has passed since the last."""
        if self._clock() >= self._next:
            self._next = self._clock() + INTERVAL_S
            self._readings.append(self._read(fresh=False))
            self._time_wait.append(time_wait_sockets())

    def finish(self, client_cpu_s: float | None) -> dict[str, Any]:
        """The trial's resources; `client_cpu_s` is the load tool's CPU time."""
        last = self._read(fresh=True)
        self._readings.append(last)
        self._time_wait.append(time_wait_sockets())
        cores = core_times()
        busy, steal = busy_shares(self._cores, cores)
        return {
            "client_cpu_s": _rounded(client_cpu_s),
            "client_cores": psutil.cpu_count(logical=True),
            "client_cpu_per_core": busy,
            "client_cpu_steal": steal,
            "client_cpu_irq": irq_share(self._cores, cores),
            "server_cpu_s": _rounded(_spent(self._first.cpu_s, last.cpu_s)),
            "services_cpu_s": _rounded(_spent(self._services_cpu_s, cpu_seconds(self._services))),
            "server_rss_bytes": last.rss_bytes,
            "server_rss_peak_bytes": _most(reading.rss_bytes for reading in self._readings),
            "server_threads_peak": _most(reading.threads for reading in self._readings),
            "server_processes_peak": _most(reading.processes for reading in self._readings),
            "time_wait_start": self._time_wait[0],
            "time_wait_end": self._time_wait[-1],
            "time_wait_peak": _most(self._time_wait),
            "samples": len(self._readings),
        }


def cpu_seconds(trees: Sequence[Tree]) -> float | None:
    """CPU time of all trees since they started; None if one of them is unknown."""
    seconds = [tree.usage(fresh=True).cpu_s for tree in trees]
    measured = [each for each in seconds if each is not None]
    return sum(measured) if len(measured) == len(seconds) else None


def time_wait_sockets() -> int | None:
    """TCP sockets in TIME_WAIT on this machine; None if the kernel gives no count."""
    try:
        lines = SOCKETS.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return None
    words = next((line.split() for line in lines if line.startswith("TCP:")), [])
    count = dict(zip(words[1::2], words[2::2])).get("tw", "")
    return int(count) if count.isdigit() else None


def core_times() -> list[Any]:
    """psutil's times of each core; empty where unknown."""
    try:
        return list(psutil.cpu_times(percpu=True))
    except (OSError, psutil.Error):
        return []


def busy_shares(before: list[Any], after: list[Any]) -> tuple[list[float] | None, float | None]:
    """Busy share of each core's time, and the share of all time that a hypervisor took."""
    if not before or len(before) != len(after):
        return None, None
    shares, stolen, whole = [], 0.0, 0.0
    for spent in map(_spent_by_kind, before, after):
        total = sum(spent.values())
        if not total:
            return None, None
        idle = spent.get("idle", 0.0) + spent.get("iowait", 0.0)
        shares.append(round(1 - idle / total, 3))
        stolen, whole = stolen + spent.get("steal", 0.0), whole + total
    return shares, round(stolen / whole, 4) if hasattr(after[0], "steal") else None


def irq_share(before: list[Any], after: list[Any]) -> float | None:
    """The share of all cores' time that interrupts took; None if the system does not say."""
    if not before or len(before) != len(after) or not hasattr(after[0], "softirq"):
        return None
    spent = list(map(_spent_by_kind, before, after))
    whole = sum(sum(core.values()) for core in spent)
    return round(sum(core["irq"] + core["softirq"] for core in spent) / whole, 4) if whole else None


def _spent_by_kind(before: Any, after: Any) -> dict[str, float]:
    """The time of one core by kind: user, idle, steal …"""
    # Guest time is inside user time already.
    return {
        name: max(getattr(after, name) - getattr(before, name), 0.0)
        for name in after._fields
        if not name.startswith("guest")
    }


def _spent(before: float | None, after: float | None) -> float | None:
    if before is None or after is None:
        return None
    # Below zero only when a process was lost between the readings: then it is unknown.
    return after - before if after >= before else None


def _most(values: Any) -> int | None:
    return max((value for value in values if value is not None), default=None)


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 6)
