"""Observes a server from its own host, while another machine measures it."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from loadsheet_agent.host.clock import Offset
from loadsheet_agent.run.sampling import (
    UNKNOWN_USAGE,
    Tree,
    busy_shares,
    core_times,
    time_wait_sockets,
)
from loadsheet_agent.upload import retry
from loadsheet_agent.upload.api_client import ApiClient, json_object

INTERVAL_S = 0.5
ASK_TIMEOUT_S = 5.0
SEND_TIMEOUT_S = 30.0
# Samples of one request: five minutes.
CHUNK = 600
# Shares of cores in one request, for the service takes 500,000 commas.
CHUNK_SHARES = 400_000
ENDED_STATES = ("finished", "stopped", "interrupted")


class RunState:
    """The state of a run, asked every few seconds: a question costs the server next to nothing."""

    samples_between = 10

    def __init__(self, client: ApiClient, run_id: str) -> None:
        self._client = client
        self._path = f"/api/v1/runs/{run_id}/progress"
        self._last: str | None = None

    def read(self) -> str | None:
        """The last state the service gave; None if it never gave one."""
        answer = self._client.ask("GET", self._path, ASK_TIMEOUT_S)
        if answer is not None:
            body = json_object(answer)
            self._last = str(body.get("state")) if body else None
        return self._last


@dataclass
class Observer:
    """Takes samples in the service's time and sends them in chunks that may be sent again.

    `tree`: the server's processes; None for the host alone.
    """

    run_id: str
    tree: Tree | None
    offset: Offset
    interval_s: float = INTERVAL_S
    chunk: int = CHUNK
    clock: Callable[[], float] = time.time
    samples: list[dict[str, Any]] = field(default_factory=list)
    sent: int = 0

    def __post_init__(self) -> None:
        self._cores = core_times()
        self._chunk_id = str(uuid.uuid4())
        self.chunk = max(1, min(self.chunk, CHUNK_SHARES // max(1, len(self._cores))))

    def take_sample(self) -> None:
        usage = UNKNOWN_USAGE if self.tree is None else self.tree.usage()
        cores = core_times()
        self.samples.append(
            {
                "at_s": self.clock() + self.offset.offset_s,
                **asdict(usage),
                "time_wait": time_wait_sockets(),
                "cores": busy_shares(self._cores, cores)[0],
            }
        )
        self._cores = cores

    def send(self, client: ApiClient, host: Mapping[str, Any], *, least: int = 1) -> bool:
        """Send while at least `least` samples wait; whether the service took all of these."""
        while len(self.samples) >= least:
            samples = self.samples[: self.chunk]
            body = {
                "id": self._chunk_id,
                "host": host,
                "uncertainty_s": self.offset.uncertainty_s,
                "samples": samples,
            }
            path = f"/api/v1/runs/{self.run_id}/observations"
            if client.ask("POST", path, SEND_TIMEOUT_S, json=body) is None:
                return False
            self._chunk_id = str(uuid.uuid4())
            self.sent += len(samples)
            del self.samples[: len(samples)]
        return True


def observe_until_end(
    observer: Observer, state: RunState, client: ApiClient, host: Mapping[str, Any]
) -> None:
    """Take samples until the run has ended, or Ctrl-C; full chunks are sent on the way."""
    while state.read() not in ENDED_STATES:
        for _ in range(state.samples_between):
            observer.take_sample()
            time.sleep(observer.interval_s)
        observer.send(client, host, least=observer.chunk)


def send_remaining(
    observer: Observer,
    client: ApiClient,
    host: Mapping[str, Any],
    max_wait_s: float | None,
    say: Callable[[str], None],
    sleep: Callable[[float], None],
) -> int:
    """Retry the waiting samples until a time limit; returns how many were not sent."""
    waited_s, attempt = 0.0, 0
    while not observer.send(client, host):
        wait_s = retry.delay_s(attempt, draw=1.0)
        if max_wait_s is not None and waited_s + wait_s > max_wait_s:
            return len(observer.samples)
        say(f"The samples were not sent ({client.last_failure}); trying again in {wait_s:.0f} s.")
        sleep(wait_s)
        waited_s, attempt = waited_s + wait_s, attempt + 1
        client.end_pause()
    return 0
