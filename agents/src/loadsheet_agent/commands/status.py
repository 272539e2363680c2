"""`loadsheet status`: where results go, what waits, and which load tools are installed."""

from __future__ import annotations

import os
from argparse import Namespace
from collections import Counter
from collections.abc import Mapping

from loadsheet_agent import __version__
from loadsheet_agent.commands.output import put, put_json
from loadsheet_agent.exits import Exit
from loadsheet_agent.tools import FoundTool, find_all, tool_paths
from loadsheet_agent.upload.api_client import Me, TokenState, who_am_i
from loadsheet_agent.upload.spool import Spool, open_spool
from loadsheet_agent.upload.target import Target, read_target

TOKEN_TEXTS = {
    TokenState.GOOD: "reached, the token is good",
    TokenState.REFUSED: "reached, but the token is refused; run `loadsheet login` again",
    TokenState.UNKNOWN: "not reached",
}


def run(arguments: Namespace) -> Exit:
    target = read_target(arguments.url, arguments.token)
    me = None if target is None else who_am_i(target)
    spool = open_spool(arguments.spool)
    counts = Counter(note.state for note in spool.notes())
    tools = find_all(tool_paths([], os.environ))
    code = Exit.HELD if me is not None and me.token is TokenState.REFUSED else Exit.OK
    if arguments.json:
        put_json(
            {
                "exit_code": int(code),
                "version": __version__,
                **_service_json(target, me),
                "spool": {"path": str(spool.root), **counts},
                "tools": {each.tool.name: [each.path, each.version] for each in tools},
            }
        )
    else:
        _put_lines(_service_text(target, me), spool, counts, tools)
    return code


def _put_lines(
    service: str, spool: Spool, counts: Mapping[str, int], tools: list[FoundTool]
) -> None:
    waiting = ", ".join(f"{count} {state}" for state, count in counts.items()) or "empty"
    names = ", ".join(f"{each.tool.name} {each.version or '?'}" for each in tools)
    put(f"loadsheet-agent {__version__}")
    put(f"service: {service}")
    put(f"spool:   {spool.root}: {waiting}")
    put(f"tools:   {names or 'none found'}")


def _service_json(target: Target | None, me: Me | None) -> dict[str, str | None]:
    return {
        "url": None if target is None else target.url,
        "token": None if me is None else me.token.value,
        "workspace": None if me is None else me.workspace,
    }


def _service_text(target: Target | None, me: Me | None) -> str:
    if target is None or me is None:
        return "none; `loadsheet login URL` sets it"
    text = f"{target.url}, {TOKEN_TEXTS[me.token]}"
    if me.token is not TokenState.GOOD:
        return text
    until = "" if me.expires_at is None else f" until {me.expires_at[:10]}"
    return f"{text}{until}: {me.name!r} of the workspace {me.workspace}"
