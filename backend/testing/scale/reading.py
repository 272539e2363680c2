"""How reading grows with the number of worker machines of one reader each."""

import os
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from backend.testing.chaos.outcome import WAITING, Tables
from backend.testing.chaos.senders import Ledger, Senders
from backend.testing.scale.machines import Cluster, Machine, start_all
from backend.testing.waiting import wait_until

MOST = 3
LIMIT_S = 600.0


@dataclass(frozen=True, slots=True)
class Reading:
    """What one, two and three workers read."""

    # Uploads a second of each round, by the number of workers.
    rates: Mapping[int, Sequence[float]]
    # Cores that all machines and services used meanwhile, in the same order.
    cores: Mapping[int, Sequence[float]]

    def ratio(self, workers: int) -> float:
        """How many times what one worker reads: the median of the rounds, each within itself."""
        pairs = zip(self.rates[workers], self.rates[1], strict=True)
        return median(many / alone for many, alone in pairs)

    def lines(self) -> list[str]:
        """The table that people read."""
        return [
            f"reading with {workers} workers          {median(rates):.1f}/s, "
            f"{self.ratio(workers):.2f} times one worker, {median(self.cores[workers]):.1f} of "
            f"{os.cpu_count()} cores used"
            for workers, rates in self.rates.items()
        ]


def measure(cluster: Cluster, *, uploads: int, rounds: int, seed: int) -> Reading:
    """Rounds of one, two and three workers in turn, each over so many uploads that wait.

    Raises TimeoutError.
    """
    web = cluster.machine("web-of-readers")
    workers = [cluster.machine(f"reader-{number}") for number in range(1, MOST + 1)]
    start_all([web], workers, readers=1)
    rates: dict[int, list[float]] = defaultdict(list)
    cores: dict[int, list[float]] = defaultdict(list)
    tables = Tables(cluster.postgres.url)
    for turn in range(rounds):
        for count in range(1, MOST + 1):
            for machine in workers:
                machine.suspend()
            _send(cluster, web, uploads, seed=seed + turn * MOST + count)
            before_s = sum(cluster.cpu_s().values())
            took_s = _time_reading(workers[:count], tables)
            rates[count].append(uploads / took_s)
            cores[count].append((sum(cluster.cpu_s().values()) - before_s) / took_s)
    tables.close()
    cluster.stop_machines()
    return Reading(rates, cores)


def _send(cluster: Cluster, web: Machine, uploads: int, *, seed: int) -> None:
    ledger = Ledger(uploads, backlog=uploads)
    senders = Senders([web.url], cluster.token, ledger, seed=seed, count=4)
    senders.start()
    while not senders.are_done:
        time.sleep(0.05)


def _time_reading(workers: Sequence[Machine], tables: Tables) -> float:
    """Seconds until nothing waits any more."""
    began = time.monotonic()
    for machine in workers:
        machine.resume()
    if not wait_until(lambda: tables.number(WAITING) == 0, LIMIT_S, every_s=0.02):
        raise TimeoutError(f"{len(workers)} workers did not read in {LIMIT_S:g} s")
    return time.monotonic() - began
