"""Restarts of web processes and workers (A12), and another reading of everything (A14)."""

import random
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import httpx

from backend.testing.promises.ground import (
    Finding,
    Ground,
    Say,
    counted,
    own_ground,
    spread,
)
from backend.testing.scale.machines import Machine, start_all
from backend.testing.waiting import beside

RESTARTS, REQUESTS_PER_S = 20, 45
UPLOADS, UPLOADS_WITHIN_S = 1000, 200.0
ASKING_THREADS = 8

RUNS, READERS = 1000, 4
REREAD_WITHIN_S = 900.0
# What another version is said to have read: the figures of a run are then old or new, never mixed.
OLD_FIGURES = "UPDATE runs_trial SET requests_completed = 1, throughput_rps = 1"
OLD_VERSION = "UPDATE ingest_upload SET parser_version = 'before'"


@dataclass(slots=True)
class Visitor:
    """Asks two web processes in turn; goes to the other one where the first takes no connection."""

    urls: tuple[str, str]
    took_s: list[float] = field(default_factory=list)
    failed: Counter[str] = field(default_factory=Counter)
    again: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)
    # A connection for each request: one that is kept ends with its process.
    _client: httpx.Client = field(
        default_factory=lambda: httpx.Client(
            timeout=30, limits=httpx.Limits(max_keepalive_connections=0)
        )
    )

    def ask(self) -> None:
        """One request, and a pause that keeps the rate."""
        began = time.monotonic()
        first, second = random.sample(self.urls, 2)
        outcome = self._outcome(first)
        if outcome:
            outcome = self._outcome(second)
            self.again += 1
        with self._lock:
            self.took_s.append(time.monotonic() - began)
            if outcome:
                self.failed[outcome] += 1
        left_s = ASKING_THREADS / REQUESTS_PER_S - (time.monotonic() - began)
        time.sleep(max(0.0, left_s))

    def _outcome(self, url: str) -> str:
        """Empty for an answer of success."""
        try:
            answer = self._client.get(f"{url}/accounts/login/")
        except httpx.HTTPError as error:
            return type(error).__name__
        return "" if answer.is_success else str(answer.status_code)


def deploys(say: Say) -> Finding:
    """Two web processes and the worker are restarted in turn under requests and uploads."""
    with own_ground(say) as ground:
        data, environment = ground.site.data, ground.site.processes("web")[0].environ()
        first, second = (
            Machine(name, data.parent, environment, data=data) for name in ("web-1", "web-2")
        )
        webs, urls = (first, second), (first.url, second.url)
        start_all(webs, [], readers=0)
        visitor = Visitor(urls)
        with (
            ground.sending(UPLOADS, senders=4, within_s=UPLOADS_WITHIN_S, urls=urls) as sending,
            beside(visitor.ask, threads=ASKING_THREADS),
        ):
            for number in range(RESTARTS):
                say(f"restart {number + 1} of {RESTARTS}")
                _restart_all(ground, webs)
            sending.wait()
        for web in webs:
            web.stop()
        ground.finding.note(f"pages, with a retry at the other process: {spread(visitor.took_s)}")
        failed = visitor.failed.total()
        ground.finding.note(f"pages asked for again: {visitor.again}, failed then: {failed}")
        ground.finding.expect(not failed, f"pages without an answer: {counted(visitor.failed)}")
        ground.expect_all_read(sending)
        return ground.finding


def _restart_all(ground: Ground, webs: tuple[Machine, Machine]) -> None:
    """Each web process once the other answers; the worker beside them."""
    worker = ground.site.child("worker")
    if worker is not None:
        worker.terminate()
    for web in webs:
        web.stop()
        web.start_web()
        web.wait_until_answering()


def read_again(say: Say) -> Finding:
    """Everything is read again while visitors look at it."""
    with own_ground(say) as ground:
        with ground.sending(RUNS, senders=8) as sending:
            sending.wait()
        ground.expect_all_read(sending)
        expected = _figures_of_all(ground, list(sending.ledger.accepted))
        ground.tables.connection().execute(OLD_FIGURES)
        ground.tables.connection().execute(OLD_VERSION)
        seen = Seen(expected)
        with ground.client() as client, beside(lambda: seen.look(client), threads=READERS):
            done = ground.site.manage("reprocess", within_s=REREAD_WITHIN_S)
        ground.finding.note(done.stdout.strip().rpartition("\n")[2])
        ground.finding.expect(done.returncode == 0, "not everything was read again")
        ground.finding.note(f"answers meanwhile: {counted(seen.counts)}")
        wrong = seen.counts.total() - seen.counts["old"] - seen.counts["new"]
        ground.finding.expect(wrong == 0, f"{wrong} answers were empty or mixed")
        ground.finding.expect(bool(seen.counts["old"] and seen.counts["new"]), "no change was seen")
        return ground.finding


def _figures_of_all(ground: Ground, ids: list[str]) -> dict[str, tuple[Any, ...]]:
    with ground.client() as client:
        return {id_: _figures(client, id_) for id_ in ids}


def _figures(client: httpx.Client, id_: str) -> tuple[Any, ...]:
    (trial,) = client.get(f"/api/v1/runs/{id_}").json()["trials"]
    return (trial["requests"], trial["throughput"])


@dataclass(slots=True)
class Seen:
    """What visitors saw of a run: its old figures, its new ones, or something else."""

    expected: dict[str, tuple[Any, ...]]
    counts: Counter[str] = field(default_factory=Counter)
    _chance: random.Random = field(default_factory=lambda: random.Random(7))  # noqa: S311

    def look(self, client: httpx.Client) -> None:
        id_ = self._chance.choice(list(self.expected))
        try:
            figures = _figures(client, id_)
        except (ValueError, KeyError, httpx.HTTPError) as error:
            self.counts[f"no figures ({type(error).__name__})"] += 1
            return
        kinds = {(1, 1.0): "old", self.expected[id_]: "new"}
        self.counts[kinds.get(figures, f"mixed {figures}")] += 1
