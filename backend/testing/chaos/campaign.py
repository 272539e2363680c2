"""A whole run: a site, its senders, its faults, and what came of them."""

import contextlib
import json
import random
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path

import psutil

from backend.config.recovery.embedded import Postgres, free_port
from backend.testing.chaos.clocks import make_clocks
from backend.testing.chaos.faults import Strike, Striker, draw_strikes
from backend.testing.chaos.memory import MemoryLimit
from backend.testing.chaos.outcome import READ, WAITING, Outcome, Tables, count_outcome
from backend.testing.chaos.senders import Ledger, Senders
from backend.testing.supervised import SupervisedSite, open_folder, small_disk
from backend.testing.waiting import beside

DISK_BYTES = 2 << 30
LEAST_FREE_BYTES = 128 << 20
# No fault waits for longer than this for its moment: uploads may have come to a stop. Longer than a
# site takes to start again on a busy machine, or the next faults strike while nothing runs.
LONGEST_CALM_S = 180.0
LOOK_EVERY_S, MEMORY_EVERY_S = 0.1, 0.25
# Among what struck: a fault of the site's own.
GAVE_UP = "supervisor gave up"
SAY_EVERY_S = 10.0


@dataclass(frozen=True, slots=True)
class Plan:
    """How much of everything; `variables` are settings of the site beside the defaults."""

    seed: int
    uploads: int = 10_000
    kills: int = 100
    flushes: int = 10
    full_disks: int = 1
    clock_shifts: int = 4
    memory_bytes: int = 850 << 20
    senders: int = 8
    backlog: int = 300
    # For everything; what is not read then counts as lost.
    limit_s: float = 3600.0
    variables: dict[str, str] = field(default_factory=dict)
    strikes: list[Strike] | None = None

    # Takes a line about the progress now and then.
    say: Callable[[str], object] = lambda _: None
    # Takes the data folder of the site before it starts.
    prepare: Callable[[Path], object] = lambda _: None

    def drawn(self) -> list[Strike]:
        """The strikes that were given, or those of the seed."""
        if self.strikes is not None:
            return self.strikes
        return draw_strikes(
            self.seed,
            self.uploads,
            kills=self.kills,
            flushes=self.flushes,
            full_disks=self.full_disks,
            clocks=self.clock_shifts,
        )


@dataclass(slots=True)
class Report:
    """What was done to the site, and what came of it."""

    outcome: Outcome
    struck: Counter[str]
    missed: Counter[str]
    answers: Counter[str]
    refused: list[str]
    peak_bytes: int
    memory_kills: int
    verification: subprocess.CompletedProcess[str]
    took_s: float
    left_behind: list[str] = field(default_factory=list)


def run_campaign(plan: Plan) -> Report:
    """Raises SiteDidNotStart. Everything that it starts has ended when it returns."""
    began = time.monotonic()
    with open_folder("loadsheet-chaos-") as folder, small_disk(folder, DISK_BYTES) as disk:
        clocks = make_clocks(folder / "clocks")
        variables = {
            "LEAST_FREE_BYTES": str(LEAST_FREE_BYTES),
            **(clocks.variables if clocks else {}),
            **plan.variables,
        }
        data = (disk or folder) / "data"
        plan.prepare(data)
        site = SupervisedSite(data, free_port(), variables)
        try:
            site.wait()
            campaign = Campaign(plan, site, began)
            campaign.striker.disk, campaign.striker.clocks = disk, clocks
            report = campaign.run()
        finally:
            site.stop()
        report.left_behind = site.left_behind()
        return report


class Campaign:
    """Senders and strikes against a site that runs, until everything is read or time is over."""

    def __init__(self, plan: Plan, site: SupervisedSite, began: float) -> None:
        self.plan = plan
        self.site = site
        self.began = began
        self.deadline = began + plan.limit_s
        self.ledger = Ledger(plan.uploads, plan.backlog)
        self.tables = Tables(Postgres(site.data).url)
        chance = random.Random(plan.seed)  # noqa: S311
        self.striker = Striker(site, chance, lambda: broker_url(site), lambda: self._is_calm)
        self._last_fault_at = time.monotonic()
        self._say_at = 0.0

    def run(self) -> Report:
        token = json.loads(self.site.manage("make_demo").stdout)["token"]
        plan = self.plan
        senders = Senders([self.site.url], token, self.ledger, seed=plan.seed, count=plan.senders)
        memory = MemoryLimit(self.site, plan.memory_bytes)
        with beside(memory.look, every_s=MEMORY_EVERY_S):
            senders.start()
            strikes = plan.drawn()
            for strike, after in zip_longest(strikes, strikes[1:]):
                self._wait_for(strike.after_uploads, senders)
                # Uploads go on while a fault strikes, and some are left for the last fault.
                self.ledger.most_accepted = after.after_uploads if after else plan.uploads
                self.striker.strike(strike.fault)
                self._last_fault_at = time.monotonic()
            self._tend_until(lambda: senders.are_done)
            senders.stop()
            last_read_s = self._wait_until_read()
        outcome = count_outcome(self.tables, self.ledger)
        outcome.last_read_s = last_read_s
        verification = self.site.manage("verify", "--hash")
        self.tables.close()
        return Report(
            outcome,
            self.striker.struck,
            self.striker.missed,
            self.ledger.answers,
            self.ledger.refused,
            memory.peak_bytes,
            memory.kills,
            verification,
            time.monotonic() - self.began,
        )

    @property
    def _is_calm(self) -> bool:
        """Whether every upload that may be sent now is read, so no further child is started."""
        self._look()
        accepted = len(self.ledger.accepted)
        return self.ledger.is_full and self.ledger.read_count >= accepted

    def _wait_for(self, uploads: int, senders: Senders) -> None:
        """Until so many are accepted, or nothing moves."""
        calm_ends = time.monotonic() + LONGEST_CALM_S
        self._tend_until(
            lambda: (
                len(self.ledger.accepted) >= uploads
                or senders.are_done
                or time.monotonic() > calm_ends
            )
        )

    def _wait_until_read(self) -> float | None:
        """Seconds from the last fault until nothing waits; None if that does not come."""
        self._tend_until(lambda: self.tables.number(WAITING) == 0)
        has_ended = self.tables.number(WAITING) == 0
        return time.monotonic() - self._last_fault_at if has_ended else None

    def _tend_until(self, is_done: Callable[[], bool]) -> None:
        for _ in self._looks():
            if is_done():
                return

    def _looks(self) -> Iterator[None]:
        """Once in LOOK_EVERY_S until time is over; starts a supervisor again that gave up."""
        while time.monotonic() < self.deadline:
            yield
            self._look()
            self._say_progress()
            if self.site.process.poll() is not None:
                last_line = self.site.output.read_text().strip().rpartition("\n")[2]
                self.striker.struck[f"{GAVE_UP} ({last_line[-120:]})"] += 1
                self.site.start()
            time.sleep(LOOK_EVERY_S)

    def _look(self) -> None:
        read_count = self.tables.number(READ)
        if read_count is not None:
            self.ledger.read_count = read_count

    def _say_progress(self) -> None:
        if time.monotonic() < self._say_at:
            return
        self._say_at = time.monotonic() + SAY_EVERY_S
        ledger, struck = self.ledger, self.striker.struck.total()
        self.plan.say(
            f"{time.monotonic() - self.began:5.0f} s: {len(ledger.accepted)} accepted and "
            f"{ledger.read_count} read of {self.plan.uploads}, {struck} faults"
        )


def broker_url(site: SupervisedSite) -> str | None:
    """The broker's address, which only the site's own processes know."""
    for web in site.processes("web"):
        with contextlib.suppress(psutil.Error, KeyError):
            return str(web.environ()["REDIS_URL"])
    return None


def as_lines(plan: Plan, report: Report) -> Iterator[str]:
    """The table that people read, one line after the other."""
    outcome = report.outcome
    figures = {
        "uploads": outcome.uploads,
        "accepted": outcome.accepted,
        "read": outcome.read,
        "failed": outcome.failed,
        "lost": outcome.lost,
        "doubled": outcome.doubled,
        "attempts > 1": f"{outcome.again} (most: {outcome.most_attempts})",
        "passing faults": outcome.passing_faults,
        "last read after the last fault": outcome.delay,
        "memory at most": f"{report.peak_bytes >> 20} of {plan.memory_bytes >> 20} MiB, "
        f"{report.memory_kills} kills for it",
        "took": f"{report.took_s:.0f} s",
        "seed": plan.seed,
    }
    yield from (f"{name:32}{value}" for name, value in figures.items())
    yield f"{'struck':32}{_counts(report.struck)}"
    yield f"{'no target or not possible here':32}{_counts(report.missed)}"
    yield f"{'answers':32}{_counts(report.answers)}"
    yield from (f"{'refused':32}{line}" for line in report.refused[:5])
    yield from (f"{'problem':32}{line}" for line in outcome.problems)
    yield from report.verification.stdout.splitlines()


def _counts(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items())) or "none"


def broken_promises(report: Report) -> list[str]:
    """The promises that do not hold; empty if all do."""
    broken = list(report.outcome.broken_promises)
    if report.refused:
        broken.append(f"{len(report.refused)} good uploads were refused")
    if report.verification.returncode:
        broken.append("manage.py verify found problems")
    broken += [kind for kind in report.struck if kind.startswith(GAVE_UP)]
    if report.left_behind:
        broken.append("outlived the site: " + "; ".join(report.left_behind))
    return broken
