"""A made trial on its way through the parser to what the checks read."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.random import Generator

from backend.formats import RawArtefact, parse
from backend.formats.model import ParsedTrial
from backend.formats.read_trial import ReadTrial
from backend.runs.checks import CheckInput
from backend.runs.measured.measured import TrialRecord, check_input_of, load_point
from backend.runs.models import Host, Run
from backend.testing.made.figures import PrintedFigures
from backend.testing.made.requests import Law, MadeTrial, draw_law, make_closed, make_open
from backend.testing.made.texts import WRK_THREADS, Change, MadeTool

SECONDS = 4.0
# Enough for a p99.9.
LEAST_REQUESTS = 10_500


def keep(_figures: PrintedFigures) -> None:
    """Change nothing of what the tool prints."""


def _facts() -> dict[str, dict[str, Any]]:
    host = {"cpu_governor": "performance", "nic_speed_mbit": 10_000}
    return {"client": dict(host), "server": dict(host)}


@dataclass(slots=True)
class MadeUpload:
    """A trial, the tool that prints it, and what an agent says of it. A mistake changes these."""

    tool: MadeTool
    trial: MadeTrial
    change: Change = keep
    # The share of the lines that was kept.
    kept_share: float = 1.0
    server: dict[str, Any] = field(default_factory=lambda: {"name": "nginx", "version": "1.25.3"})
    workload: dict[str, Any] = field(default_factory=lambda: {"keepalive": True})
    load: dict[str, Any] = field(default_factory=dict)
    resources: dict[str, Any] = field(
        default_factory=lambda: {
            "client_cpu_s": 1.0,
            "client_cpu_per_core": [0.14, 0.12, 0.08, 0.1],
            "client_cpu_steal": 0.01,
            "client_cpu_irq": 0.02,
        }
    )
    exit_code: int = 0
    server_tail: str = ""
    same_host: bool = False
    has_host: bool = True
    facts: dict[str, dict[str, Any]] = field(default_factory=_facts)
    session: Mapping[str, Any] = field(default_factory=dict)

    def end_after(self, seconds: float) -> None:
        """Keep the requests that were sent within so many seconds."""
        self.trial = self.trial.first(int(np.searchsorted(self.trial.start_s, seconds)))

    def check_input(self) -> CheckInput:
        """What the checks read of the upload, by the code that records uploads."""
        run = Run(same_host=self.same_host, facts=self.facts, session=self.session)
        run.server_host = Host() if self.has_host else None
        record = TrialRecord(
            ordinal=1,
            server=self.server,
            workload=self.workload,
            load=self.load,
            reading=ReadTrial.of(self._parsed()),
            resources=self.resources,
            exit_code=self.exit_code,
            server_tail=self.server_tail,
        )
        return check_input_of(record, load_point(record), run)

    def _parsed(self) -> ParsedTrial:
        lines = self.tool.write(self.trial, self.change).splitlines(keepends=True)
        text = "".join(lines[: round(self.kept_share * len(lines))])
        (entry,) = parse([RawArtefact.of("stdout", text.encode())])
        if not isinstance(entry, ParsedTrial):
            raise entry
        return entry


def make_upload(draw: Generator, tool: MadeTool) -> MadeUpload:
    """An honest upload: enough requests, and latencies that the tool's steps can show."""
    median_us = 10 ** draw.uniform(2.5, 5)
    law = draw_law(draw)
    return upload_of(tool, make_trial(draw, tool, law, max(median_us, 16 * tool.step_us)))


def upload_of(tool: MadeTool, trial: MadeTrial) -> MadeUpload:
    """The upload of a trial, with what the agent asked the tool for."""
    load = {"threads": WRK_THREADS, "duration_s": trial.asked_s}
    load |= {"rate_rps": trial.rate_rps} if tool.is_open else {"connections": trial.connections}
    return MadeUpload(tool, trial, load=load)


def make_trial(
    draw: Generator,
    tool: MadeTool,
    law: Law,
    median_us: float,
    *,
    duration_s: float = SECONDS,
    **options: Any,
) -> MadeTrial:
    """A trial of about 11,000 to 14,000 requests. `options`: as for `make_closed`."""
    rate_rps = draw.uniform(1.0, 1.2) * LEAST_REQUESTS / duration_s
    if tool.is_open:
        return make_open(
            draw, law, median_us=median_us, rate_rps=round(rate_rps), duration_s=duration_s
        )
    # The mean of the laws is at most 1.4 times the median.
    connections = max(round(1.4 * rate_rps * median_us / 1e6), 2)
    return make_closed(
        draw,
        law,
        median_us=median_us,
        connections=connections,
        duration_s=duration_s,
        **options,
    )
