"""The load tools the agent can run: their table, finding and choosing one."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from loadsheet_agent.errors import PlanError, ToolMissingError, UsageError
from loadsheet_agent.programs import ask
from loadsheet_agent.tools.ab import Ab
from loadsheet_agent.tools.autocannon import Autocannon
from loadsheet_agent.tools.base import LoadPoint, Tool
from loadsheet_agent.tools.bombardier import Bombardier
from loadsheet_agent.tools.fortio import Fortio
from loadsheet_agent.tools.h2load import H2load
from loadsheet_agent.tools.hey import Hey
from loadsheet_agent.tools.httperf import Httperf
from loadsheet_agent.tools.k6 import K6
from loadsheet_agent.tools.locust import Locust
from loadsheet_agent.tools.oha import Oha
from loadsheet_agent.tools.siege import Siege
from loadsheet_agent.tools.vegeta import Vegeta
from loadsheet_agent.tools.weighttp import Weighttp
from loadsheet_agent.tools.wrk import Wrk
from loadsheet_agent.tools.wrk2 import Wrk2

# In the order of preference of tool = "auto".
TOOLS: Mapping[str, Tool] = {
    tool.name: tool
    for tool in (
        Wrk(),
        Wrk2(),
        Ab(),
        Autocannon(),
        Vegeta(),
        K6(),
        Oha(),
        Hey(),
        Bombardier(),
        Fortio(),
        H2load(),
        Weighttp(),
        Siege(),
        Httperf(),
        Locust(),
    )
}


@dataclass(frozen=True)
class FoundTool:
    """A load tool as it is installed here; `version` is None if it could not be read."""

    tool: Tool
    path: str
    version: str | None


def tool_paths(flags: Iterable[str], environ: Mapping[str, str]) -> dict[str, str]:
    """Paths by tool name: LOADSHEET_<TOOL>, overruled by --tool-path NAME=PATH."""
    paths = {name: environ.get(f"LOADSHEET_{name.upper()}", "") for name in TOOLS}
    for flag in flags:
        name, equals, path = flag.partition("=")
        if not equals or name not in TOOLS or not path:
            raise UsageError(
                f"--tool-path {flag!r} is not understood; expected NAME=PATH with NAME one of "
                f"{', '.join(TOOLS)}."
            )
        paths[name] = path
    return {name: path for name, path in paths.items() if path}


def check(wanted: str, points: Sequence[LoadPoint]) -> None:
    """Raises PlanError where the wanted tool, or every tool, cannot do one of the load points."""
    if wanted == "auto":
        if not able(points):
            refusals = [_first_refusal(tool, points) or "" for tool in TOOLS.values()]
            raise PlanError(f"no load tool can do the plan: {'; '.join(refusals)}.")
        return
    refusal = _first_refusal(TOOLS[wanted], points)
    if refusal:
        others = able(points)
        which = f"tools that can: {', '.join(others)}" if others else "no load tool can"
        raise PlanError(f"{refusal}; {which}.")


def able(points: Sequence[LoadPoint]) -> list[str]:
    """Names of the tools that can do every one of these load points, installed or not."""
    return [tool.name for tool in TOOLS.values() if _first_refusal(tool, points) is None]


def choose(wanted: str, points: Sequence[LoadPoint], paths: Mapping[str, str]) -> FoundTool:
    """The wanted tool, or the first installed tool that can do every load point."""
    check(wanted, points)
    if wanted == "auto":
        return _choose_any(points, paths)
    found = find(wanted, paths)
    if found is None:
        raise ToolMissingError(
            f"{wanted} was not found on the PATH; install it ({TOOLS[wanted].install_hint}), give "
            f'--tool-path {wanted}=PATH, or set tool = "auto" in the plan.'
        )
    return found


def find(name: str, paths: Mapping[str, str]) -> FoundTool | None:
    """The tool as it is installed here; None where it is not."""
    tool = TOOLS[name]
    path = _find(tool, paths)
    return None if path is None else FoundTool(tool, path, _version(tool, path))


def find_all(paths: Mapping[str, str]) -> list[FoundTool]:
    """Every load tool that is installed here, in the order of preference."""
    return [tool for tool in (find(name, paths) for name in TOOLS) if tool is not None]


def _choose_any(points: Sequence[LoadPoint], paths: Mapping[str, str]) -> FoundTool:
    refusals = []
    for tool in TOOLS.values():
        path = _find(tool, paths)
        if path is None:
            continue
        refusal = _first_refusal(tool, points)
        if refusal is None:
            return FoundTool(tool, path, _version(tool, path))
        refusals.append(refusal)
    wanted = ", ".join(able(points))
    if refusals:
        raise PlanError(
            f"no installed load tool can do the plan: {'; '.join(refusals)}. Tools that can: "
            f"{wanted}."
        )
    raise ToolMissingError(
        f"none of {wanted} is installed; install wrk or ab (apache2-utils), or point "
        "LOADSHEET_AUTOCANNON at node_modules/.bin/autocannon."
    )


def _first_refusal(tool: Tool, points: Sequence[LoadPoint]) -> str | None:
    return next((text for text in map(tool.refusal, points) if text), None)


def _find(tool: Tool, paths: Mapping[str, str]) -> str | None:
    given = paths.get(tool.name)
    if given is None:
        return shutil.which(tool.name)
    # Trials run in another directory, where a relative path would not be found.
    path = shutil.which(os.path.abspath(given))
    if path is None:
        raise UsageError(f"{given} (given for {tool.name}) is not a program that can be run.")
    return path


def _version(tool: Tool, path: str) -> str | None:
    if not tool.version_args:
        return None
    # Whatever its exit code: wrk exits with 1 after printing its version.
    done = ask([path, *tool.version_args])
    if done is None:
        return None
    match = re.search(tool.version_pattern, f"{done.stdout}\n{done.stderr}", re.MULTILINE)
    return match.group(1) if match else None
