"""Clients that send each upload until it is accepted, as agents do, and note what was accepted."""

import hashlib
import json
import logging
import random
import threading
import time
import uuid
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field

import httpx

from backend.testing.reports import WRK, make_envelope, make_trial

# Thousands of requests, each of which it would tell.
logging.getLogger("httpx").setLevel(logging.WARNING)

ANSWER_TIMEOUT_S = 30.0
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.1, 2.0
# One of so many uploads is large enough that its reading can be killed.
LARGE_EVERY = 25
LARGE_REQUESTS = 8000


@dataclass(frozen=True, slots=True)
class Measurement:
    """What one upload brings. The text is another one in each, so that bytes can be compared."""

    id: str
    tool: str
    text: bytes

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.text).hexdigest()

    @property
    def envelope(self) -> str:
        trial = make_trial(0)
        trial["load"] = {**trial["load"], "tool": self.tool}
        return json.dumps({**make_envelope(0, id=self.id), "trials": [trial]})


def make_measurement(number: int, seed: int) -> Measurement:
    """The same id and text for the same number and seed."""
    chance = random.Random(f"{seed} {number}")  # noqa: S311  the same for the same seed
    id_ = str(uuid.UUID(int=chance.getrandbits(128), version=4))
    if number % LARGE_EVERY:
        return Measurement(id_, "wrk", f"{WRK}\nmeasurement {id_}\n".encode())
    lines = (
        f'{{"attack":"{id_}","seq":{seq},"code":200,'
        f'"timestamp":"2026-01-31T12:00:00.{seq * 1000:09d}Z",'
        f'"latency":{chance.randrange(1_000_000, 50_000_000)},"bytes_out":0,"bytes_in":30,'
        '"error":"","body":null,"method":"GET","url":"http://127.0.0.1:8000/","headers":null}\n'
        for seq in range(LARGE_REQUESTS)
    )
    return Measurement(id_, "vegeta", "".join(lines).encode())


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer that a sender got: when (time.monotonic), its status, and after how long."""

    at_s: float
    status: int
    took_s: float

    @property
    def is_accepted(self) -> bool:
        return 200 <= self.status < 300


@dataclass(slots=True)
class Ledger:
    """What the service accepted: SHA-256 by the id of the upload. Its methods may be called
    from any thread."""

    uploads: int
    # Uploads accepted and not yet read: more are not sent then.
    backlog: int
    accepted: dict[str, str] = field(default_factory=dict)
    # Answers by status, and the kinds of errors where none came.
    answers: Counter[str] = field(default_factory=Counter)
    answered: list[Answered] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    read_count: int = 0
    # Once so many are accepted, no more are sent.
    most_accepted: int | None = None
    is_stopping: bool = False
    _next: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def take_number(self) -> int | None:
        """The number of the next upload to send; None if all are taken."""
        with self._lock:
            if self._next >= self.uploads or self.is_stopping:
                return None
            self._next += 1
            return self._next - 1

    @property
    def is_full(self) -> bool:
        accepted = len(self.accepted)
        is_held = self.most_accepted is not None and accepted >= self.most_accepted
        return is_held or accepted - self.read_count > self.backlog

    def note(self, measurement: Measurement, answer: httpx.Response | None, error: str) -> bool:
        """Count an answer; whether the upload is settled."""
        with self._lock:
            self.answers[str(answer.status_code) if answer is not None else error] += 1
            if answer is None:
                return False
            took_s = answer.elapsed.total_seconds()
            self.answered.append(Answered(time.monotonic(), answer.status_code, took_s))
            if answer.status_code >= 500 or answer.status_code == 429:
                return False
            if answer.is_success:
                self.accepted[measurement.id] = measurement.sha256
            else:
                self.refused.append(f"{answer.status_code} {answer.text[:300]}")
            return True


@dataclass
class Senders:
    """Threads that send until all is accepted or the ledger is told to stop.

    They share the addresses of `urls`, and go on with the next address where one does not answer.
    Each waits `pause_s` after an upload.
    """

    urls: Sequence[str]
    token: str
    ledger: Ledger
    _: KW_ONLY
    seed: int
    count: int
    pause_s: float = 0.0

    def __post_init__(self) -> None:
        self._threads = [
            threading.Thread(target=self._run, args=[number], daemon=True)
            for number in range(self.count)
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    @property
    def are_done(self) -> bool:
        return not any(thread.is_alive() for thread in self._threads)

    def stop(self) -> None:
        """Returns after the answers that are waited for have come."""
        self.ledger.is_stopping = True
        for thread in self._threads:
            thread.join()

    def _run(self, place: int) -> None:
        urls = deque(self.urls)
        urls.rotate(-place)
        headers = {"authorization": f"Bearer {self.token}"}
        with httpx.Client(headers=headers, timeout=ANSWER_TIMEOUT_S) as client:
            while (number := self.ledger.take_number()) is not None:
                while self.ledger.is_full and not self.ledger.is_stopping:
                    time.sleep(0.05)
                self._send(client, urls, make_measurement(number, self.seed))
                time.sleep(self.pause_s)

    def _send(self, client: httpx.Client, urls: deque[str], measurement: Measurement) -> None:
        """The same id with the same bytes, again and again, until there is an answer."""
        pause_s, error = FIRST_PAUSE_S, ""
        while not self.ledger.is_stopping:
            answer = None
            try:
                answer = client.post(
                    f"{urls[0]}/api/v1/uploads",
                    data={"envelope": measurement.envelope},
                    files={"file": ("0.txt", measurement.text)},
                )
            except httpx.HTTPError as failed:
                error = type(failed).__name__
                urls.rotate(-1)
            if self.ledger.note(measurement, answer, error):
                return
            time.sleep(pause_s)
            pause_s = min(pause_s * 2, LONGEST_PAUSE_S)
