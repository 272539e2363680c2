"""The faults, and when each strikes: drawn by a seed, so that a run can be repeated."""

import contextlib
import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import redis

from backend.testing.chaos.clocks import SITE, WORKER, Clocks
from backend.testing.supervised import SupervisedSite, fill
from backend.testing.waiting import wait_until

# After the fault before it the target may still be on its way: for long on a busy machine.
FIND_WITHIN_S = 300.0
FULL_FOR_S = 3.0
WRONG_BY_S = 600
# Started for an upload, and kept by the process that sent it.
CHILDREN = ("cleaner", "parser")
KILLED = ("cleaner", "web", "worker", "reader", "parser", "beat", "postgres", "backend", "valkey")
SUPERVISOR = "supervisor"
FLUSH, FULL_DISK = "flush", "full disk"
CLOCKS = {
    "worker's clock +10 min": (WORKER, WRONG_BY_S),
    "worker's clock -10 min": (WORKER, -WRONG_BY_S),
    "site's clock +10 min": (SITE, WRONG_BY_S),
    "site's clock -10 min": (SITE, -WRONG_BY_S),
}


@dataclass(frozen=True, slots=True)
class Strike:
    """A fault that is due once so many uploads are accepted."""

    fault: str
    after_uploads: int


def draw_strikes(
    seed: int, uploads: int, *, kills: int, flushes: int, full_disks: int, clocks: int
) -> list[Strike]:
    """Every kind of kill about equally often, in random order over all uploads."""
    chance = random.Random(seed)  # noqa: S311
    kinds = [*KILLED, SUPERVISOR]
    faults = [kinds[number % len(kinds)] for number in range(kills)]
    faults += [FLUSH] * flushes + [FULL_DISK] * full_disks
    faults += [list(CLOCKS)[number % len(CLOCKS)] for number in range(clocks)]
    chance.shuffle(faults)
    upload_counts = sorted(chance.randrange(uploads // 20, uploads) for _ in faults)
    return [Strike(fault, count) for fault, count in zip(faults, upload_counts, strict=True)]


@dataclass(slots=True)
class Striker:
    """Does what a strike says. `struck` counts them by name, `missed` those without a target."""

    site: SupervisedSite
    chance: random.Random
    broker_url: Callable[[], str | None]
    # Whether every upload that was sent is read. Then no further child is started.
    is_calm: Callable[[], bool]
    disk: Path | None = None
    clocks: Clocks | None = None
    struck: Counter[str] = field(default_factory=Counter)
    missed: Counter[str] = field(default_factory=Counter)

    def strike(self, fault: str) -> None:
        is_done = self._strike(fault)
        (self.struck if is_done else self.missed)[fault] += 1

    def _strike(self, fault: str) -> bool:
        if fault == SUPERVISOR:
            self.site.kill()
            self.site.start()
            return True
        if fault == FLUSH:
            return wait_until(self._flush, FIND_WITHIN_S, every_s=0.05)
        if fault == FULL_DISK:
            return self._fill_disk()
        if fault in CLOCKS:
            return self._shift_clock(*CLOCKS[fault])
        if fault in CHILDREN:
            return self._kill_child(fault)
        return wait_until(lambda: self._kill(fault), FIND_WITHIN_S, every_s=0.05)

    def _kill_child(self, kind: str) -> bool:
        """Whether a child of this kind was killed before every upload was read."""
        is_killed = is_over = False
        deadline = time.monotonic() + FIND_WITHIN_S
        while not (is_killed or is_over):
            is_over = self.is_calm() or time.monotonic() > deadline
            is_killed = self._kill(kind)
            time.sleep(0.05)
        return is_killed

    def _kill(self, kind: str) -> bool:
        if targets := self._targets(kind):
            with contextlib.suppress(psutil.Error):
                self.chance.choice(targets).kill()
                return True
        return False

    def _targets(self, kind: str) -> list[psutil.Process]:
        """The processes of a kind: a reader is a child of the worker, a backend of PostgreSQL."""
        parents = {"reader": "worker", "backend": "postgres"}
        program = parents.get(kind, kind)
        processes = self.site.processes(program)
        if program in CHILDREN or not processes:
            return processes
        with contextlib.suppress(psutil.Error):
            mains = {child.pid for child in self.site.children()}
            return [each for each in processes if (each.pid in mains) != (kind in parents)]
        return []

    def _flush(self) -> bool:
        url = self.broker_url()
        if url is None:
            return False
        with contextlib.suppress(redis.RedisError):
            redis.Redis.from_url(url, socket_timeout=2).flushall()
            return True
        return False

    def _fill_disk(self) -> bool:
        if self.disk is None:
            return False
        filler = self.disk / "filler"
        fill(filler)
        time.sleep(FULL_FOR_S)
        filler.unlink()
        return True

    def _shift_clock(self, name: str, seconds: int) -> bool:
        if self.clocks is None:
            return False
        self.clocks.shift(name, seconds)
        return True
