"""Beginning a run: the facts of this machine, and the record that grows with the trials."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from typing import Any

from loadsheet_agent.host.calibration import calibrate
from loadsheet_agent.host.clock import utc_now
from loadsheet_agent.host.facts import HostFacts, read_host, sha256_of
from loadsheet_agent.host.locality import server_host
from loadsheet_agent.plan.plan import Plan
from loadsheet_agent.run.record import RunRecord
from loadsheet_agent.tools import FoundTool
from loadsheet_agent.upload.api_client import measure_offset
from loadsheet_agent.upload.redaction import Redactor
from loadsheet_agent.upload.target import Target

SEEDS = 2**31


def new_record(
    run_id: str, plan: Plan, client: HostFacts, redactor: Redactor, *, same_host: bool
) -> RunRecord:
    """`same_host`: the plan's servers are on this machine."""
    drawn = random.SystemRandom().randrange(SEEDS)
    return RunRecord(
        id=run_id,
        plan=plan,
        seed=drawn if plan.seed is None else plan.seed,
        started_at=utc_now(),
        client=client,
        server=client if same_host else None,
        same_host=same_host,
        redactor=redactor,
    )


def client_facts(
    plan: Plan, tool: FoundTool, target: Target | None, *, same_host: bool
) -> HostFacts:
    """This machine as the client of a run, with its score and the offset of its clock."""
    host = read_host(towards=None if same_host else server_host(plan))
    with ThreadPoolExecutor(max_workers=1) as beside:
        # Beside the score: it only waits for answers, which the score does not feel.
        clock = beside.submit(clock_facts, target)
        more = {
            "tool_path": tool.path,
            "tool_sha256": sha256_of(tool.path),
            "calibration": calibrate(),
            "clock": clock.result(),
        }
    return replace(host, facts={**host.facts, **more})


def clock_facts(target: Target | None) -> dict[str, Any] | None:
    """The offset of the service's clock; None without a service or without its answer."""
    offset = None if target is None else measure_offset(target)
    return None if offset is None else asdict(offset)
