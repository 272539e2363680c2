"""What others notice while strangers attack: answers, readings, memory."""

import contextlib
import http.client
import multiprocessing
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, cycle

import httpx

from backend.testing.chaos.memory import memory_of
from backend.testing.chaos.outcome import broken
from backend.testing.packed import zip_of
from backend.testing.reports import WRK
from backend.testing.service.processes import program_of
from backend.testing.strangers.attacks import attack
from backend.testing.strangers.large_run import make_large_run
from backend.testing.supervised import SupervisedSite
from backend.testing.waiting import beside

ALIVE_WITHIN_S = 0.3
READ_WITHIN_S = 10.0
# Of the largest process; the containers of docker-compose.yml have room for these.
MEMORY_BYTES = {
    "web": 1 << 30,
    "worker": 1 << 30,
    "parser": 2 << 30,
    "cleaner": 1 << 30,
    "beat": 256 << 20,
    "postgres": 1 << 30,
    "valkey": 384 << 20,
}
ASK_EVERY_S = 0.05


# What another workspace sends in turn: a report, one that is not searched for secrets in the
# request itself, and one in an archive, which a child unpacks.
FILES = {
    "0.6 KB": ("0.txt", WRK.encode()),
    "150 KB": ("0.txt", WRK.encode() + b"# padding\n" * 15_000),
    "zip": ("0.zip", zip_of({"0.txt": WRK})),
}
UPLOAD_EVERY_S = 3.0
# After this a reading counts as never.
GIVE_UP_S = 60.0
SAY_EVERY_S = 10.0


@dataclass(slots=True)
class Noticed:
    """Seconds of each answer of /livez and of each reading; bytes of the largest process."""

    alive_s: list[float] = field(default_factory=list)
    unanswered: int = 0
    # Of another workspace's uploads, by their size.
    accepted_s: dict[str, list[float]] = field(default_factory=lambda: {size: [] for size in FILES})
    read_s: dict[str, list[float]] = field(default_factory=lambda: {size: [] for size in FILES})
    unread: int = 0
    memory_bytes: Counter[str] = field(default_factory=Counter)
    answers: dict[str, dict[str, int]] = field(default_factory=dict)

    @property
    def slowest_reading_s(self) -> float:
        return max(chain.from_iterable(self.read_s.values()), default=0.0)

    @property
    def broken_promises(self) -> list[str]:
        promises = {
            f"/livez p99 is above {ALIVE_WITHIN_S:g} s": quantile(self.alive_s, 0.99)
            <= ALIVE_WITHIN_S,
            f"{self.unanswered} questions to /livez had no answer": self.unanswered == 0,
            f"an upload of another workspace was read after more than {READ_WITHIN_S:g} s": (
                self.slowest_reading_s <= READ_WITHIN_S
            ),
            f"{self.unread} uploads of another workspace were not read": self.unread == 0,
            f"{self.faults} answers were 500": self.faults == 0,
        }
        promises |= {
            f"{name} had more than {limit >> 20} MiB": self.memory_bytes[name] <= limit
            for name, limit in MEMORY_BYTES.items()
        }
        return broken(promises)

    @property
    def faults(self) -> int:
        return sum(answers.get("500", 0) for answers in self.answers.values())

    def lines(self) -> Iterator[str]:
        """The table that people read."""
        alive = self.alive_s
        spread_ms = {
            "p50": quantile(alive, 0.5) * 1000,
            "p99": quantile(alive, 0.99) * 1000,
            "max": max(alive, default=0) * 1000,
        }
        figures = ", ".join(f"{name} {value:.0f} ms" for name, value in spread_ms.items())
        yield f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
        yield f"/livez: {figures}, n {len(alive)}, without answer {self.unanswered}"
        for size, read in self.read_s.items():
            accepted = self.accepted_s[size]
            yield (
                f"another workspace's upload ({size}) read: p50 {quantile(read, 0.5):.1f} s, "
                f"max {max(read, default=0):.1f} s, n {len(read)}; until accepted: "
                f"p50 {quantile(accepted, 0.5):.1f} s, max {max(accepted, default=0):.1f} s"
            )
        yield f"uploads of another workspace that were not read: {self.unread}"
        for name, size_bytes in sorted(self.memory_bytes.items()):
            yield f"memory of {name}: {size_bytes >> 20} MiB in the largest process"
        for name, answers in self.answers.items():
            counts = ", ".join(f"{status} × {count}" for status, count in sorted(answers.items()))
            yield f"{name:26}{counts or 'no answer'}"


def quantile(values: list[float], share: float) -> float:
    """The smallest value that `share` of the values do not exceed; 0 for none."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else 0.0


class Witness:
    """Asks and sends as others do while the attack goes on, and looks at memory."""

    def __init__(
        self, site: SupervisedSite, token: str, *, say: Callable[[str], object] = lambda _: None
    ) -> None:
        """`say` takes a line about the progress now and then."""
        self.noticed = Noticed()
        self._say = say
        self._site = site
        self._token = token

    def watch(self, stranger_token: str, seconds: float) -> Noticed:
        """Attack for so many seconds and return what was noticed."""
        self._wait_for_readers()
        with self._client(stranger_token) as client:
            large_run = make_large_run(client)
        context = multiprocessing.get_context("spawn")
        answers = context.Queue()
        arguments = (self._site.url, stranger_token, large_run, seconds, answers)
        attacker = context.Process(target=attack, args=arguments, daemon=True)
        attacker.start()
        with (
            self._client(self._token) as client,
            beside(partial(self._send, client, cycle(FILES)), every_s=UPLOAD_EVERY_S),
            beside(self._ask, every_s=ASK_EVERY_S),
            beside(self._weigh, every_s=0.5),
        ):
            self._wait(seconds)
        self.noticed.answers = answers.get(timeout=2 * GIVE_UP_S)
        attacker.join(GIVE_UP_S)
        return self.noticed

    def _wait(self, seconds: float) -> None:
        began = time.monotonic()
        while (took_s := time.monotonic() - began) < seconds:
            noticed = self.noticed
            self._say(
                f"{took_s:5.0f} of {seconds:.0f} s: /livez answered {len(noticed.alive_s)} times, "
                f"at most after {max(noticed.alive_s, default=0):.2f} s; "
                f"{sum(map(len, noticed.read_s.values()))} uploads read, at most after "
                f"{noticed.slowest_reading_s:.1f} s"
            )
            time.sleep(min(SAY_EVERY_S, seconds - took_s))

    def _wait_for_readers(self) -> None:
        """The first upload of a new site waits until its worker has started: not the strangers."""
        with self._client(self._token) as client:
            time_reading(client, FILES["0.6 KB"])

    def _client(self, token: str) -> httpx.Client:
        headers = {"authorization": f"Bearer {token}"}
        return httpx.Client(base_url=self._site.url, headers=headers, timeout=GIVE_UP_S)

    def _ask(self) -> None:
        began = time.monotonic()
        line = http.client.HTTPConnection("127.0.0.1", self._site.port, timeout=GIVE_UP_S)
        try:
            line.request("GET", "/livez")
            line.getresponse().read()
            self.noticed.alive_s.append(time.monotonic() - began)
        except (OSError, http.client.HTTPException):
            self.noticed.unanswered += 1
        finally:
            line.close()

    def _send(self, client: httpx.Client, sizes: Iterator[str]) -> None:
        size = next(sizes)
        accepted_s, read_s = time_reading(client, FILES[size])
        if accepted_s is not None:
            self.noticed.accepted_s[size].append(accepted_s)
        if read_s is None:
            self.noticed.unread += 1
        else:
            self.noticed.read_s[size].append(read_s)

    def _weigh(self) -> None:
        peaks = self.noticed.memory_bytes
        for process, size_bytes in memory_of(self._site).items():
            name = program_of(process)
            peaks[name] = max(peaks[name], size_bytes)


def time_reading(
    client: httpx.Client, file: tuple[str, bytes]
) -> tuple[float | None, float | None]:
    """Seconds from sending until it is accepted and until it is read; None if that does not
    come. A sender that is told to wait does so."""
    began = time.monotonic()
    while time.monotonic() - began < GIVE_UP_S:
        pause_s = 0.2
        with contextlib.suppress(httpx.HTTPError):
            answer = client.post("/api/v1/uploads", files={"file": file})
            if answer.is_success:
                accepted_s = time.monotonic() - began
                id_ = answer.json()["id"]
                return accepted_s, _wait_until_read(client, id_, began)
            pause_s = float(answer.headers.get("retry-after", pause_s))
        time.sleep(pause_s)
    return None, None


def _wait_until_read(client: httpx.Client, id_: str, began: float) -> float | None:
    while time.monotonic() - began < GIVE_UP_S:
        with contextlib.suppress(httpx.HTTPError):
            state = client.get(f"/api/v1/uploads/{id_}").json().get("state")
            if state == "parsed":
                return time.monotonic() - began
            if state in ("failed", "quarantined"):
                return None
        time.sleep(0.1)
    return None
