"""`loadsheet login URL`: save address and token for later commands."""

from __future__ import annotations

import getpass
import sys
from argparse import Namespace

from loadsheet_agent.commands.output import put_json, say
from loadsheet_agent.errors import UsageError
from loadsheet_agent.exits import Exit
from loadsheet_agent.upload.api_client import Me, TokenState, who_am_i
from loadsheet_agent.upload.login import Login, forget_login, write_login
from loadsheet_agent.upload.target import make_target


def run(arguments: Namespace) -> Exit:
    if arguments.forget:
        return _forget(as_json=arguments.json)
    if not arguments.url:
        raise UsageError("no address is given; run, for example: loadsheet login https://host")
    target = make_target(arguments.url, arguments.token or _ask_token())
    me = who_am_i(target, registers=True)
    if me.token is TokenState.REFUSED:
        raise UsageError(f"{target.url} refused the token; nothing was saved. Copy it again.")
    path = write_login(Login(target.url, target.token))
    say(f"Saved in {path}.{_workspace_text(me)}")
    if arguments.json:
        answer = {"exit_code": 0, "url": target.url, "token": me.token.value}
        put_json({**answer, "workspace": me.workspace})
    return Exit.OK


def _forget(*, as_json: bool) -> Exit:
    say("The login was deleted." if forget_login() else "There was no login to delete.")
    if as_json:
        put_json({"exit_code": 0, "url": None})
    return Exit.OK


def _workspace_text(me: Me) -> str:
    if me.token is TokenState.UNKNOWN:
        return " The service was not reached, so the token was not checked."
    return f" Results go to the workspace {me.workspace}, {me.workspace_url}"


def _ask_token() -> str:
    if sys.stdin.isatty():
        return getpass.getpass("Token (from the service's Agents page): ").strip()
    return sys.stdin.readline().strip()
