"""`loadsheet doctor [PLAN.toml]`: what would spoil a measurement on this machine."""

from __future__ import annotations

import os
import shutil
from argparse import Namespace
from dataclasses import asdict
from pathlib import Path

from loadsheet_agent.commands.output import put, put_json
from loadsheet_agent.errors import AgentError, NotInstalledError
from loadsheet_agent.exits import Exit
from loadsheet_agent.host.facts import read_host
from loadsheet_agent.host.locality import server_host, servers_are_here
from loadsheet_agent.host.preflight import GOOD, SPOILS, WARNS, Finding, Needs, examine, is_unfit
from loadsheet_agent.plan.expansion import choose_tool
from loadsheet_agent.plan.plan import Plan
from loadsheet_agent.plan.reading import read_plan
from loadsheet_agent.run.installation import find_available
from loadsheet_agent.run.new_run import clock_facts
from loadsheet_agent.run.rules import LEAST_FREE_BYTES
from loadsheet_agent.run.sampling import time_wait_sockets
from loadsheet_agent.tools import find_all, tool_paths
from loadsheet_agent.upload.spool import open_spool
from loadsheet_agent.upload.target import read_target

MARKS = {GOOD: "✓", WARNS: "!", SPOILS: "✗"}
# Times of trials are compared with the service's; one second still tells trials apart.
CLOCK_TOLERANCE_S = 1.0


def run(arguments: Namespace) -> Exit:
    plan = read_plan(Path(arguments.plan), is_short=arguments.short) if arguments.plan else None
    same_host = None if plan is None else servers_are_here(plan)
    host = read_host(towards=None if plan is None or same_host else server_host(plan))
    facts = {
        **host.facts,
        "virtualisation": host.virtualisation,
        "time_wait": time_wait_sockets(),
    }
    findings = examine(facts, host.threads, _needs(plan, same_host))
    findings += [_tools(arguments, plan), *_servers(plan), _space(arguments), *_service(arguments)]
    code = Exit.UNFIT if is_unfit(findings) else Exit.OK
    if arguments.json:
        shown = [asdict(finding) for finding in findings]
        put_json(
            {"exit_code": int(code), "findings": shown, "host": {**asdict(host), "facts": facts}}
        )
        return code
    for finding in findings:
        put(_line(finding))
    return code


def _line(finding: Finding) -> str:
    advice = f"\n    {finding.advice}" if finding.advice else ""
    return f"{MARKS.get(finding.level, '?')} {finding.text}{advice}"


def _needs(plan: Plan | None, same_host: bool | None) -> Needs:
    if plan is None:
        return Needs()
    return Needs(
        connections=max(_connections(plan)),
        keepalive=all(workload.keepalive for workload in plan.workloads),
        seconds=plan.load.duration_s,
        same_host=same_host,
        threads=plan.load.threads,
    )


def _connections(plan: Plan) -> list[int]:
    own = [count for server in plan.servers for count in server.load.connections]
    return [*plan.load.connections, *own]


def _tools(arguments: Namespace, plan: Plan | None) -> Finding:
    paths = tool_paths(arguments.tool_path, os.environ)
    if plan is not None:
        try:
            chosen = choose_tool(plan, paths)
        except AgentError as error:
            return Finding("tool", SPOILS, str(error))
        version = chosen.version or "version unknown"
        return Finding("tool", GOOD, f"{chosen.tool.name} ({version}) can do the plan")
    installed = find_all(paths)
    names = ", ".join(f"{each.tool.name} {each.version or '?'}" for each in installed)
    if not installed:
        return Finding("tool", SPOILS, "no load tool was found", "install wrk or apache2-utils")
    return Finding("tool", GOOD, f"load tools: {names}")


def _servers(plan: Plan | None) -> list[Finding]:
    """Servers of the plan that this machine lacks a program for."""
    if plan is None:
        return []
    try:
        return [Finding("servers", WARNS, text) for text in find_available(plan).skipped]
    except NotInstalledError as error:
        return [Finding("servers", SPOILS, str(error))]


def _space(arguments: Namespace) -> Finding:
    root = open_spool(arguments.spool).root
    directory = next(path for path in (root, *root.parents) if path.exists())
    free = shutil.disk_usage(directory).free
    text = f"{free >> 20} MiB free for the spool in {directory}"
    if free < LEAST_FREE_BYTES:
        return Finding("space", SPOILS, text, "make room or give another --spool")
    return Finding("space", GOOD, text)


def _service(arguments: Namespace) -> list[Finding]:
    target = read_target(arguments.url, arguments.token)
    if target is None:
        return [Finding("service", "unknown", "no service is set, so results stay in the spool")]
    offset = clock_facts(target)
    if offset is None:
        advice = "results wait in the spool until it answers"
        return [Finding("service", WARNS, f"{target.url} was not reached", advice)]
    reached = f"{target.url} answers in {offset['round_trip_s'] * 1000:.0f} ms"
    difference = f"{offset['offset_s']:+.2f} ± {offset['uncertainty_s']:.2f} s"
    is_off = abs(offset["offset_s"]) > CLOCK_TOLERANCE_S + offset["uncertainty_s"]
    advice = "synchronise both clocks (timedatectl set-ntp true)" if is_off else ""
    text = f"the service's clock differs by {difference}"
    clock = Finding("clock", WARNS if is_off else GOOD, text, advice)
    return [Finding("service", GOOD, reached), clock]
