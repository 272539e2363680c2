"""What the tests of whole runs share: running a plan, its only upload, and servers left over."""

from __future__ import annotations

import time
from pathlib import Path

import psutil
from agent_fakes import PATIENCE_S, FakeService, Upload, run_agent


def only(service: FakeService) -> Upload:
    (upload,) = service.uploads.values()
    return upload


def run_plan(plan: Path, service: FakeService, tool: str, *more: object):
    flags = ["--tool-path", f"wrk={tool}", *service.flags, *more]
    return run_agent("run", plan, *flags)


def left_over(plan: Path) -> list[str]:
    """Command lines of servers of this plan that still run."""
    found = []
    for process in psutil.process_iter(["cmdline", "status"]):
        line = " ".join(process.info["cmdline"] or [])
        if str(plan.parent / "hello.py") in line and process.info["status"] != "zombie":
            found.append(line)
    return found


def wait_for_none(plan: Path) -> list[str]:
    until = time.monotonic() + PATIENCE_S
    while left_over(plan) and time.monotonic() < until:
        time.sleep(0.05)
    return left_over(plan)
