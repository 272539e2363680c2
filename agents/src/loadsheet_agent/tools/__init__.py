"""The load tools the agent can run: one explicit table, found and chosen here."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from loadsheet_agent.errors import PlanError, ToolMissingError, UsageError
from loadsheet_agent.tools.ab import Ab
from loadsheet_agent.tools.autocannon import Autocannon
from loadsheet_agent.tools.base import Command, LoadPoint, Tool
from loadsheet_agent.tools.wrk import Wrk

__all__ = ["TOOLS", "Command", "FoundTool", "LoadPoint", "Tool", "choose", "tool_paths"]

# In the order of preference of tool = "auto".
TOOLS: Mapping[str, Tool] = {tool.name: tool for tool in (Wrk(), Ab(), Autocannon())}


@dataclass(frozen=True)
class FoundTool:
    tool: Tool
    path: str
    version: str | None


def tool_paths(flags: Iterable[str], environ: Mapping[str, str]) -> dict[str, str]:
    """Where the user says tools are: LOADSHEET_<TOOL>, overruled by --tool-path NAME=PATH."""
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


def choose(wanted: str, points: Sequence[LoadPoint], paths: Mapping[str, str]) -> FoundTool:
    """The tool to use: the wanted one, or the first found that can do every load point."""
    if wanted != "auto":
        tool = TOOLS[wanted]
        refusal = _first_refusal(tool, points)
        if refusal:
            raise PlanError(f"{refusal}.")
        return _found(tool, _required_path(tool, paths))
    return _choose_any(points, paths)


def _choose_any(points: Sequence[LoadPoint], paths: Mapping[str, str]) -> FoundTool:
    refusals = []
    for tool in TOOLS.values():
        path = _find(tool, paths)
        if path is None:
            continue
        refusal = _first_refusal(tool, points)
        if refusal is None:
            return _found(tool, path)
        refusals.append(refusal)
    if refusals:
        raise PlanError(f"no load tool found here can do the plan: {'; '.join(refusals)}.")
    raise ToolMissingError(
        f"none of {', '.join(TOOLS)} was found; install wrk or ab (apache2-utils), or point "
        "LOADSHEET_AUTOCANNON at node_modules/.bin/autocannon."
    )


def _first_refusal(tool: Tool, points: Sequence[LoadPoint]) -> str | None:
    return next((text for text in map(tool.refusal, points) if text), None)


def _required_path(tool: Tool, paths: Mapping[str, str]) -> str:
    path = _find(tool, paths)
    if path is None:
        raise ToolMissingError(
            f"{tool.name} was not found on the PATH; install it, give --tool-path "
            f'{tool.name}=PATH, or set tool = "auto" in the plan.'
        )
    return path


def _find(tool: Tool, paths: Mapping[str, str]) -> str | None:
    given = paths.get(tool.name)
    if given is None:
        return shutil.which(tool.name)
    # Trials run in their own directory, so a relative path would not be found there.
    path = shutil.which(os.path.abspath(given))
    if path is None:
        raise UsageError(f"{given} (given for {tool.name}) is not a program that can be run.")
    return path


def _found(tool: Tool, path: str) -> FoundTool:
    return FoundTool(tool=tool, path=path, version=_version(tool, path))


def _version(tool: Tool, path: str) -> str | None:
    try:
        # Not check=True: wrk exits with 1 after printing its version.
        done = subprocess.run(
            [path, tool.version_flag], capture_output=True, text=True, timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = re.search(tool.version_pattern, done.stdout + done.stderr, re.MULTILINE)
    return match.group(1) if match else None
