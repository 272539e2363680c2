"""`loadsheet status`: where results go, what waits, and which load tools are here."""

from __future__ import annotations

import os
from argparse import Namespace
from typing import Any

from loadsheet_agent import __version__
from loadsheet_agent.commands import common
from loadsheet_agent.exits import Exit
from loadsheet_agent.tools import TOOLS, find, tool_paths
from loadsheet_agent.upload.api_client import Me, TokenState, who_am_i

SAID = {
    TokenState.GOOD: "reached, the token is good",
    TokenState.REFUSED: "reached, but the token is refused; run `loadsheet login` again",
    TokenState.UNKNOWN: "not reached",
}


def run(arguments: Namespace) -> Exit:
    target = common.read_target(arguments)
    me = None if target is None else who_am_i(target)
    spool = common.open_spool(arguments)
    counts = _counts(note.state for note in spool.notes())
    paths = tool_paths([], os.environ)
    found = [tool for tool in (find(name, paths) for name in TOOLS) if tool is not None]
    code = Exit.HELD if me is not None and me.token is TokenState.REFUSED else Exit.OK
    if arguments.json:
        common.put_json(
            {
                "exit_code": int(code),
                "version": __version__,
                "url": None if target is None else target.url,
                "token": None if me is None else me.token.value,
                "workspace": None if me is None else me.workspace,
                "spool": {"path": str(spool.root), **counts},
                "tools": {each.tool.name: [each.path, each.version] for each in found},
            }
        )
        return code
    common.put(f"loadsheet-agent {__version__}")
    if target is None or me is None:
        common.put("service: none; `loadsheet login URL` sets it")
    else:
        common.put(f"service: {target.url}, {_said(me)}")
    waits = ", ".join(f"{count} {name}" for name, count in counts.items()) or "empty"
    common.put(f"spool:   {spool.root}: {waits}")
    names = ", ".join(f"{each.tool.name} {each.version or '?'}" for each in found)
    common.put(f"tools:   {names or 'none found'}")
    return code


def _said(me: Me) -> str:
    if me.token is not TokenState.GOOD:
        return SAID[me.token]
    until = "" if me.expires_at is None else f" until {me.expires_at[:10]}"
    return f"{SAID[me.token]}{until}: {me.name!r} of the workspace {me.workspace}"


def _counts(states: Any) -> dict[str, int]:
    counts: dict[str, int] = {}
    for state in states:
        counts[state] = counts.get(state, 0) + 1
    return counts
