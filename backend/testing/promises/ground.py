"""What each trial of a promise needs: a site of its own, its clients, and a place for figures."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from backend.config.recovery.embedded import Postgres, free_port
from backend.testing.chaos.outcome import WAITING, Outcome, Tables, count_outcome
from backend.testing.chaos.senders import Answered, Ledger, Senders
from backend.testing.strangers.hour import quantile
from backend.testing.supervised import SupervisedSite, open_folder, small_disk

READ_WITHIN_S = 300.0
ANSWER_TIMEOUT_S = 60.0
ALIKE_WITHIN = 0.05
SEED = 7
# Takes a line about the progress.
Say = Callable[[str], object]


@dataclass(slots=True)
class Finding:
    """What the trial of a promise measured, and what of the promise does not hold."""

    figures: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)

    def note(self, figure: str) -> None:
        self.figures.append(figure)

    def expect(self, is_kept: bool, otherwise: str) -> None:
        """`otherwise` says what is broken where the promise is not kept."""
        if not is_kept:
            self.broken.append(otherwise)

    def expect_alike(
        self, what: str, took_s: Mapping[str, list[float]], *, different: int, first: str
    ) -> None:
        """Of two kinds, as many answers of each, so many of them different; `first` names one."""
        one_s, other_s = took_s.values()
        apart = abs(quantile(one_s, 0.5) / quantile(other_s, 0.5) - 1)
        self.note(
            f"{what}: {different} of {len(one_s)} answers differ; medians are "
            f"{100 * apart:.1f} % apart; {first} {spread(one_s)}"
        )
        self.expect(not different, f"{what}: {different} answers differ")
        self.expect(apart < ALIKE_WITHIN, f"{what}: medians are {apart:.0%} apart")


class Service:
    """A service that runs, however it was started, with a workspace and a token for it."""

    def __init__(self, urls: tuple[str, ...], token: str, database_url: str, say: Say) -> None:
        self.urls = urls
        self.token = token
        self.tables = Tables(database_url)
        self.say = say
        self.finding = Finding()

    def client(self, token: str | None = None) -> httpx.Client:
        headers = {"authorization": f"Bearer {token or self.token}"}
        return httpx.Client(base_url=self.urls[0], headers=headers, timeout=ANSWER_TIMEOUT_S)

    @contextlib.contextmanager
    def sending(
        self,
        uploads: int,
        *,
        senders: int,
        within_s: float = 0.0,
        backlog: int | None = None,
        urls: tuple[str, ...] = (),
    ) -> Iterator[Sending]:
        """Sends while the block runs; `within_s` spreads the uploads over so many seconds.

        Where `backlog` is given, no more uploads than that wait to be read, as far as the ledger
        knows.
        """
        ledger = Ledger(uploads, backlog=uploads if backlog is None else backlog)
        pause_s = within_s * senders / uploads
        addresses = urls or self.urls
        threads = Senders(addresses, self.token, ledger, seed=SEED, count=senders, pause_s=pause_s)
        threads.start()
        try:
            yield Sending(ledger, threads)
        finally:
            threads.stop()

    def expect_all_read(self, sending: Sending) -> Outcome:
        """Wait until nothing waits; everything accepted is then there, once."""
        began = time.monotonic()
        self.wait_until(lambda: self.tables.number(WAITING) == 0, READ_WITHIN_S)
        waited_s = time.monotonic() - began
        ledger = sending.ledger
        outcome = count_outcome(self.tables, ledger)
        self.finding.note(
            f"{outcome.accepted} of {outcome.uploads} uploads accepted, {outcome.read} read, "
            f"{outcome.lost} lost, {outcome.doubled} doubled, {outcome.failed} failed; "
            f"the last was read {waited_s:.1f} s after the last answer"
        )
        self.finding.note("answers: " + counted(ledger.answers))
        is_whole = outcome.read == outcome.uploads and not outcome.lost + outcome.doubled
        self.finding.expect(is_whole, "; ".join(outcome.problems) or "not every upload was read")
        return outcome

    def wait_until(self, is_so: Callable[[], bool], limit_s: float) -> float | None:
        """Seconds that it took; None if it was not so in time."""
        began = time.monotonic()
        while (took_s := time.monotonic() - began) < limit_s:
            if is_so():
                return took_s
            time.sleep(0.1)
        return None


class Ground(Service):
    """A site under its supervisor."""

    def __init__(self, site: SupervisedSite, disk: Path | None, say: Say) -> None:
        token: str = json.loads(site.manage("make_demo").stdout)["token"]
        super().__init__((site.url,), token, Postgres(site.data).url, say)
        self.site = site
        self.disk = disk

    def new_workspace(self, slug: str) -> str:
        """A token for a new workspace."""
        self.site.manage("make_workspace", slug)
        words = ("make_token", "--workspace", slug, "--name", slug)
        return self.site.manage(*words).stdout.strip()


@dataclass(slots=True)
class Sending:
    """Uploads on their way."""

    ledger: Ledger
    senders: Senders

    def wait(self, *, until: int | None = None) -> None:
        """Until so many uploads are accepted, or all."""
        wanted = self.ledger.uploads if until is None else until
        while len(self.ledger.accepted) < wanted and not self.senders.are_done:
            time.sleep(0.05)

    def since(self, at_s: float) -> list[Answered]:
        return [answer for answer in self.ledger.answered if answer.at_s >= at_s]


@contextlib.contextmanager
def own_ground(
    say: Say,
    *,
    variables: Mapping[str, str] | None = None,
    disk_bytes: int | None = None,
) -> Iterator[Ground]:
    """A site of its own, on a disk of so many bytes where this user may mount one.

    Raises SiteDidNotStart.
    """
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(open_folder("loadsheet-promises-"))
        disk = stack.enter_context(small_disk(folder, disk_bytes)) if disk_bytes else None
        site = SupervisedSite((disk or folder) / "data", free_port(), variables)
        stack.callback(site.stop)
        site.wait()
        yield Ground(site, disk, say)


def counted(counts: Mapping[str, int]) -> str:
    """As in "200 × 31, 503 × 2"."""
    return ", ".join(f"{name} × {count}" for name, count in sorted(counts.items())) or "none"


def spread(values_s: list[float]) -> str:
    """As in "p50 3 ms, p99 20 ms, max 31 ms, n 900"."""
    if not values_s:
        return "none"
    shares = {"p50": 0.5, "p99": 0.99, "max": 1.0}
    figures = (
        f"{name} {1000 * quantile(values_s, share):.0f} ms" for name, share in shares.items()
    )
    return f"{', '.join(figures)}, n {len(values_s)}"
