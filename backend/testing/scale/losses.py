"""Uploads to two web machines and three worker machines, while machines are killed for good."""

import subprocess
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from backend.testing.chaos.outcome import READ, WAITING, Outcome, Tables, broken, count_outcome
from backend.testing.chaos.senders import Ledger, Senders
from backend.testing.scale.machines import Cluster, Machine, start_all

LOOK_EVERY_S = 0.1
SAY_EVERY_S = 10.0


@dataclass(frozen=True, slots=True)
class Plan:
    """How much of everything. A web machine is killed after a third of the uploads, a worker
    machine after two thirds; nobody starts them again."""

    uploads: int = 5000
    senders: int = 8
    backlog: int = 300
    seed: int = 1
    # For everything; what is not read then counts as lost.
    limit_s: float = 1800.0
    # Takes a line about the progress now and then.
    say: Callable[[str], object] = lambda _: None


@dataclass(slots=True)
class Report:
    """What was done to the machines, and what came of it."""

    outcome: Outcome
    killed: dict[str, int]
    answers: Counter[str]
    verification: subprocess.CompletedProcess[str]
    # CPU seconds of each program, those of killed machines until they were killed.
    cpu_s: Mapping[str, float]
    objects: int
    object_bytes: int
    took_s: float

    @property
    def broken_promises(self) -> list[str]:
        """Empty where everything holds."""
        promises = {
            **self.outcome.promises,
            f"{len(self.killed)} of 2 machines were killed": len(self.killed) == 2,
            "manage.py verify found problems": self.verification.returncode == 0,
        }
        return broken(promises)


def run(cluster: Cluster, plan: Plan) -> Report:
    """Raises TimeoutError where the machines do not start."""
    web = [cluster.machine(f"web-{number}") for number in (1, 2)]
    workers = [cluster.machine(f"worker-{number}") for number in (1, 2, 3)]
    start_all(web, workers, readers=1)
    cluster.machine("beat").start_beat()
    return _Campaign(cluster, plan, web, workers).run()


class _Campaign:
    """Senders, and what happens to the machines meanwhile."""

    def __init__(
        self, cluster: Cluster, plan: Plan, web: list[Machine], workers: list[Machine]
    ) -> None:
        self.cluster = cluster
        self.plan = plan
        self.doomed = [(plan.uploads // 3, web[1]), (plan.uploads * 2 // 3, workers[2])]
        self.urls = [machine.url for machine in web]
        self.ledger = Ledger(plan.uploads, plan.backlog)
        self.tables = Tables(cluster.postgres.url)
        self.killed: dict[str, int] = {}
        self.cpu_of_killed: dict[str, float] = defaultdict(float)
        self.began = time.monotonic()
        self._say_at = 0.0

    def run(self) -> Report:
        plan = self.plan
        cpu_before = self.cluster.cpu_s()
        senders = Senders(
            self.urls, self.cluster.token, self.ledger, seed=plan.seed, count=plan.senders
        )
        senders.start()
        self._tend_until(lambda: senders.are_done)
        senders.stop()
        accepted_at = time.monotonic()
        self._tend_until(lambda: self.tables.number(WAITING) == 0)
        took_s = time.monotonic() - self.began
        cpu_s = {
            name: used_s + self.cpu_of_killed[name] - cpu_before.get(name, 0.0)
            for name, used_s in self.cluster.cpu_s().items()
        }
        outcome = count_outcome(self.tables, self.ledger)
        outcome.last_read_s = time.monotonic() - accepted_at
        self.tables.close()
        return Report(
            outcome,
            self.killed,
            self.ledger.answers,
            self.cluster.verify(),
            cpu_s,
            *self.cluster.s3.stored(),
            took_s,
        )

    def _tend_until(self, is_done: Callable[[], bool]) -> None:
        deadline = self.began + self.plan.limit_s
        while time.monotonic() < deadline and not is_done():
            self.ledger.read_count = self.tables.number(READ) or self.ledger.read_count
            self._kill_what_is_due()
            self._say_progress()
            time.sleep(LOOK_EVERY_S)

    def _kill_what_is_due(self) -> None:
        accepted = len(self.ledger.accepted)
        while self.doomed and accepted >= self.doomed[0][0]:
            _, machine = self.doomed.pop(0)
            self.cpu_of_killed[machine.name] += machine.cpu_s()
            machine.kill()
            self.killed[machine.name] = accepted

    def _say_progress(self) -> None:
        if time.monotonic() < self._say_at:
            return
        self._say_at = time.monotonic() + SAY_EVERY_S
        self.plan.say(
            f"{time.monotonic() - self.began:5.0f} s: {len(self.ledger.accepted)} accepted and "
            f"{self.ledger.read_count} read of {self.plan.uploads}, killed: {list(self.killed)}"
        )


def as_lines(report: Report) -> Iterator[str]:
    """The table that people read, one line after the other."""
    outcome = report.outcome
    killed = (f"{name} after {count:,} uploads" for name, count in report.killed.items())
    answers = (f"{name} {count:,}" for name, count in sorted(report.answers.items()))
    figures = {
        "uploads": f"{outcome.uploads:,}",
        "accepted": f"{outcome.accepted:,}",
        "read": f"{outcome.read:,}",
        "failed": outcome.failed,
        "lost": outcome.lost,
        "doubled": outcome.doubled,
        "needed a second attempt": outcome.again,
        "killed for good": ", ".join(killed),
        "answers": ", ".join(answers),
        "until all were read": f"{report.took_s:.0f} s",
        "ms of CPU for each": _cpu_of_each(report),
        "objects in the bucket": f"{report.objects:,}, {report.object_bytes >> 20} MiB",
    }
    yield from (f"{name:32}{value}" for name, value in figures.items())
    yield from (f"{'problem':32}{line}" for line in outcome.problems)
    yield from report.verification.stdout.splitlines()


def _cpu_of_each(report: Report) -> str:
    """By kind of machine."""
    by_kind: dict[str, float] = defaultdict(float)
    for name, used_s in report.cpu_s.items():
        by_kind[name.partition("-")[0]] += used_s * 1000 / max(1, report.outcome.accepted)
    most_first = sorted(by_kind.items(), key=lambda each: -each[1])
    shares = ", ".join(f"{kind} {ms:.1f}" for kind, ms in most_first)
    return f"{shares}; together {sum(by_kind.values()):.1f}"
