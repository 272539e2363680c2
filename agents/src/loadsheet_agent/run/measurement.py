"""Carries out a run from its first trial to its last: signals, progress, reports, the runner."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from loadsheet_agent.addresses import is_loopback
from loadsheet_agent.errors import AgentError
from loadsheet_agent.install.installer import cache_folder
from loadsheet_agent.run.installation import Installation
from loadsheet_agent.run.live import Broadcast, Live, reports_end
from loadsheet_agent.run.progress import Clock, choose_progress
from loadsheet_agent.run.record import RunRecord
from loadsheet_agent.run.restarts import Restarts
from loadsheet_agent.run.runner import Runner
from loadsheet_agent.run.session import Session
from loadsheet_agent.run.timings import read_timings
from loadsheet_agent.upload.api_client import ApiClient
from loadsheet_agent.upload.early_trials import EarlyTrials
from loadsheet_agent.upload.spool import Entry
from loadsheet_agent.upload.target import Target


@dataclass
class Measurement:
    """`expected`: the steps of the whole plan; a resumed run does the rest of them."""

    record: RunRecord
    installation: Installation
    entry: Entry
    expected: Restarts
    say: Callable[[str], None]

    def run(self, target: Target | None, session: Session | None) -> None:
        """Raises KeyboardInterrupt or PlanStoppedError with the finished trials in the spool."""
        record, steps = self.record, self.expected.steps
        timings = read_timings(self.expected.plan)
        progress = choose_progress(steps[len(record.trials) :], timings)
        record.trials_planned = len(steps)
        live = Live() if target is None else self._broadcast(target, progress.clock)
        gather = (lambda _: None) if session is None else session.gather
        runner = Runner(record, self.entry, progress, self.installation, live, gather)
        try:
            with _terminates_like_interrupt(), progress, reports_end(live):
                runner.run()
            timings.save(cache_folder())
        except OSError as error:
            raise AgentError(
                f"the run stopped: {error.strerror or error} ({self.entry.directory}); the "
                f"{len(record.trials)} trials finished before are kept there."
            ) from error

    def _broadcast(self, target: Target, clock: Clock) -> Live:
        directory, waits = self.entry.directory, is_loopback(target.url)
        early = EarlyTrials(ApiClient(target), directory, waits=waits)
        return Broadcast(ApiClient(target), early, self.record, clock, self.say)


@contextmanager
def _terminates_like_interrupt() -> Iterator[None]:
    """SIGTERM ends a run the way Ctrl-C does: servers stopped, finished trials kept."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
