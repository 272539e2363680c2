"""`loadsheet login URL`: keep address and token for the commands that follow."""

from __future__ import annotations

import getpass
import sys
from argparse import Namespace

from loadsheet_agent import settings
from loadsheet_agent.commands import common
from loadsheet_agent.delivery import TokenState, make_target, token_state
from loadsheet_agent.errors import UsageError
from loadsheet_agent.exits import Exit


def run(arguments: Namespace) -> Exit:
    if arguments.forget:
        was_there = settings.forget_login()
        common.say("Forgotten." if was_there else "There was nothing to forget.")
        if arguments.json:
            common.put_json({"exit_code": 0, "url": None})
        return Exit.OK
    if not arguments.url:
        raise UsageError("no address is given; expected such as: loadsheet login https://host")
    target = make_target(arguments.url, arguments.token or _ask())
    if target is None:
        raise UsageError("no address is given; expected such as: loadsheet login https://host")
    state = token_state(target)
    if state is TokenState.REFUSED:
        raise UsageError(f"{target.url} refused the token; nothing was kept. Copy it again.")
    path = settings.write_login(settings.Login(target.url, target.token))
    checked = "" if state is TokenState.GOOD else " It was not reached, so the token is unchecked."
    common.say(f"Kept in {path}.{checked}")
    if arguments.json:
        common.put_json({"exit_code": 0, "url": target.url, "token": state.value})
    return Exit.OK


def _ask() -> str:
    if sys.stdin.isatty():
        return getpass.getpass("Token (from the service's Agents page): ").strip()
    return sys.stdin.readline().strip()
