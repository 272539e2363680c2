"""`loadsheet login URL`: keep address and token for the commands that follow."""

from __future__ import annotations

import getpass
import sys
from argparse import Namespace

from loadsheet_agent.commands import common
from loadsheet_agent.errors import UsageError
from loadsheet_agent.exits import Exit
from loadsheet_agent.upload import login
from loadsheet_agent.upload.api_client import Me, TokenState, who_am_i
from loadsheet_agent.upload.delivery import make_target


def run(arguments: Namespace) -> Exit:
    if arguments.forget:
        was_there = login.forget_login()
        common.say("Forgotten." if was_there else "There was nothing to forget.")
        if arguments.json:
            common.put_json({"exit_code": 0, "url": None})
        return Exit.OK
    if not arguments.url:
        raise UsageError("no address is given; expected such as: loadsheet login https://host")
    target = make_target(arguments.url, arguments.token or _ask())
    if target is None:
        raise UsageError("no address is given; expected such as: loadsheet login https://host")
    me = who_am_i(target, tell=True)
    if me.token is TokenState.REFUSED:
        raise UsageError(f"{target.url} refused the token; nothing was kept. Copy it again.")
    path = login.write_login(login.Login(target.url, target.token))
    common.say(f"Kept in {path}.{_said(me)}")
    if arguments.json:
        answer = {"exit_code": 0, "url": target.url, "token": me.token.value}
        common.put_json({**answer, "workspace": me.workspace})
    return Exit.OK


def _said(me: Me) -> str:
    if me.token is TokenState.UNKNOWN:
        return " It was not reached, so the token is unchecked."
    return f" Results go to the workspace {me.workspace}, {me.workspace_url}"


def _ask() -> str:
    if sys.stdin.isatty():
        return getpass.getpass("Token (from the service's Agents page): ").strip()
    return sys.stdin.readline().strip()
