"""Installs what a plan needs before its first trial; servers that are not available are skipped."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from loadsheet_agent.errors import NotInstalledError
from loadsheet_agent.install.installer import Installer, cache_folder
from loadsheet_agent.plan.plan import Plan
from loadsheet_agent.plan.server_spec import ServerKey, ServerSpec, ServiceSpec
from loadsheet_agent.run.allowed_targets import AllowedTargets
from loadsheet_agent.run.tool_user import ToolUser
from loadsheet_agent.tools import FoundTool
from loadsheet_agent.upload.spool import Entry

LOGS_KEPT_S = 30 * 24 * 3600.0


@dataclass(frozen=True)
class Installation:
    """What is at hand to carry out a plan: its load tool and its servers.

    `plan` has the servers that can be had; `skipped` says why others cannot, a sentence each.

    `words` by service name or server key: what an installation means. `tool_user`: whom the load
    tool runs as; None: the agent's user.
    """

    plan: Plan
    tool: FoundTool
    words: Mapping[object, Mapping[str, str]] = field(default_factory=dict)
    skipped: tuple[str, ...] = ()
    tool_user: ToolUser | None = None
    targets: AllowedTargets = field(default_factory=AllowedTargets)


@dataclass(frozen=True)
class Available:
    """`plan` has the servers that this machine has a program for; `skipped` names the others."""

    plan: Plan
    skipped: tuple[str, ...]


def find_available(plan: Plan) -> Available:
    """Installs nothing. Raises NotInstalledError where no server is left."""
    installer = Installer(cache_folder(), plan.directory)
    problems: dict[ServerKey, str] = {}
    for server in plan.servers:
        problem = installer.find_missing(server)
        if problem is not None:
            problems[server.key] = problem
    return _without(plan, problems)


def count_uninstalled(available: Available) -> int:
    """How many servers and services a run would install first."""
    plan = available.plan
    installer = Installer(cache_folder(), plan.directory)
    programs = [
        *((service, service.label) for service in plan.services),
        *((server, server.label) for server in plan.servers),
    ]
    return sum(
        installer.find_missing(spec) is None and not installer.is_installed(spec, label)
        for spec, label in programs
    )


def install_plan(
    available: Available, tool: FoundTool, note: Callable[[str], None]
) -> Installation:
    """Install the servers that are available; `note` receives a line for each that is installed.

    Raises NotInstalledError where no server is left.
    """
    plan = available.plan
    installer = Installer(cache_folder(), plan.directory, note)
    words: dict[object, Mapping[str, str]] = {}
    missing: dict[str, str] = {}
    for service in plan.services:
        problem = _install(installer, service, service.name, words)
        if problem is not None:
            missing[service.name] = f"its service {service.name!r} is not available: {problem}"
    problems: dict[ServerKey, str] = {}
    for server in plan.servers:
        needed = [missing[name] for name in server.services if name in missing]
        problem = needed[0] if needed else _install(installer, server, server.key, words)
        if problem is not None:
            problems[server.key] = problem
    rest = _without(plan, problems)
    return Installation(rest.plan, tool, words, (*available.skipped, *rest.skipped))


def _without(plan: Plan, problems: Mapping[ServerKey, str]) -> Available:
    """The plan without servers that have a problem, a sentence for each."""
    skipped = tuple(
        f"server {server.label!r} is skipped, because {problems[server.key]}"
        for server in plan.servers
        if server.key in problems
    )
    servers = tuple(server for server in plan.servers if server.key not in problems)
    if not servers:
        raise NotInstalledError(f"no server of the plan is available: {'; '.join(skipped)}")
    # How many run at a time was decided for all servers of the plan.
    alive = "one" if plan.is_one_alive else "all"
    return Available(replace(plan, servers=servers, alive=alive), skipped)


def log_folder(entry: Entry) -> Path:
    """Where the whole output of a run's servers is kept: beside the spool, for 30 days."""
    folder = entry.directory.parents[1] / "logs" / entry.id
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    _remove_old(folder.parent)
    return folder


def _remove_old(logs: Path) -> None:
    for path in logs.iterdir():
        if path.stat().st_mtime < time.time() - LOGS_KEPT_S:
            shutil.rmtree(path, ignore_errors=True)


def _install(
    installer: Installer,
    spec: ServerSpec | ServiceSpec,
    key: object,
    words: dict[object, Mapping[str, str]],
) -> str | None:
    """Why the program is not available; None if it is installed, with its words added."""
    try:
        words[key] = installer.install(spec, spec.label)
    except NotInstalledError as error:
        return str(error)
    return None
