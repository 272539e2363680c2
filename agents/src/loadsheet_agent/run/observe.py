"""Looking at a server from its own host, while another machine measures it."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
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
from loadsheet_agent.upload.api_client import Line

INTERVAL_S = 0.5
ASK_TIMEOUT_S = 5.0
SEND_TIMEOUT_S = 30.0
# What is sent at once: five minutes.
CHUNK = 600


class Watch:
    """How the run stands, asked every few seconds: a question costs the server next to nothing."""

    looks_between = 10

    def __init__(self, line: Line, run_id: str) -> None:
        self._line = line
        self._path = f"/api/v1/runs/{run_id}/progress"
        self._last: str | None = None

    def state(self) -> str | None:
        """The service's word; the one before while it does not answer, None if it never did."""
        answer = self._line.ask("GET", self._path, ASK_TIMEOUT_S)
        if answer is not None:
            with_state = answer.json()
            self._last = str(with_state.get("state")) if isinstance(with_state, dict) else None
        return self._last


@dataclass
class Observer:
    """Collects samples in the service's time and sends them in pieces that may be sent again."""

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
        self._piece = str(uuid.uuid4())

    def look(self) -> None:
        usage = UNKNOWN_USAGE if self.tree is None else self.tree.usage()
        cores = core_times()
        self.samples.append(
            {
                "at_s": self.clock() + self.offset.offset_s,
                "cpu_s": usage.cpu_s,
                "rss_bytes": usage.rss_bytes,
                "threads": usage.threads,
                "processes": usage.processes,
                "time_wait": time_wait_sockets(),
                "cores": busy_shares(self._cores, cores)[0],
            }
        )
        self._cores = cores

    def send(self, line: Line, host: Mapping[str, Any], *, least: int = 1) -> bool:
        """Whether nothing waits any more that should go: so many samples at `least`, or all."""
        while len(self.samples) >= least:
            piece = self.samples[: self.chunk]
            body = {
                "id": self._piece,
                "host": host,
                "uncertainty_s": self.offset.uncertainty_s,
                "samples": piece,
            }
            path = f"/api/v1/runs/{self.run_id}/observations"
            if line.ask("POST", path, SEND_TIMEOUT_S, json=body) is None:
                return False
            self._piece = str(uuid.uuid4())
            self.sent += len(piece)
            del self.samples[: len(piece)]
        return True


def deliver_all(
    observer: Observer,
    line: Line,
    host: Mapping[str, Any],
    max_wait_s: float | None,
    say: Callable[[str], None],
    sleep: Callable[[float], None],
) -> int:
    """Send what is left, again and again; how many samples were not taken within the time."""
    waited_s, attempt = 0.0, 0
    while not observer.send(line, host):
        wait_s = retry.delay_s(attempt, draw=1.0)
        if max_wait_s is not None and waited_s + wait_s > max_wait_s:
            return len(observer.samples)
        say(f"The samples were not taken ({line.why}); sending again in {wait_s:.0f} s.")
        sleep(wait_s)
        waited_s, attempt = waited_s + wait_s, attempt + 1
        line.try_again()
    return 0
