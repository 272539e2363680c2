"""Options that several commands share, and reading those of the form KEY=VALUE."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from loadsheet_agent.errors import UsageError


def add_repeated(
    parser: argparse._ActionsContainer, flag: str, metavar: str, text: str | None = None
) -> None:
    """A flag that may be given several times; without it the list is empty."""
    parser.add_argument(flag, metavar=metavar, action="append", default=[], help=text)


def read_pairs(flags: Sequence[str], name: str) -> dict[str, str]:
    """The values by their keys; `name` is the flag's, for the message. Raises UsageError."""
    pairs = {}
    for flag in flags:
        key, equals, value = flag.partition("=")
        if not equals or not key:
            raise UsageError(f"{name} {flag!r} is not understood; expected KEY=VALUE.")
        pairs[key] = value
    return pairs


def add_short(parser: argparse.ArgumentParser) -> None:
    """Of commands that read a plan."""
    parser.add_argument("--short", action="store_true", help="the short form of the plan, [short]")


def add_tool_path(parser: argparse.ArgumentParser) -> None:
    """Of commands that run a load tool."""
    text = "path of a load tool, such as autocannon=node_modules/.bin/autocannon"
    add_repeated(parser, "--tool-path", "NAME=PATH", text)


def add_bounds(parser: argparse.ArgumentParser) -> None:
    """What load tools may do, whatever the plan says."""
    parser.add_argument(
        "--targets",
        metavar="LIST",
        help="the only servers that get load: names, addresses or networks, each with or without "
        ":PORT; else LOADSHEET_TARGETS, else every server",
    )
    parser.add_argument(
        "--tool-user",
        metavar="NAME",
        help="if the agent is root: the user that only load tools run as; else LOADSHEET_TOOL_USER",
    )


def add_service(parser: argparse.ArgumentParser) -> None:
    """Of commands that talk to the service."""
    parser.add_argument(
        "--url", help="address of the service; else LOADSHEET_URL, else the saved login"
    )
    parser.add_argument("--token", help="token; else LOADSHEET_TOKEN, else the saved login")
    parser.add_argument("--spool", metavar="DIR", help="where results wait; else LOADSHEET_SPOOL")


def add_max_wait(parser: argparse.ArgumentParser) -> None:
    """Of commands that upload."""
    parser.add_argument(
        "--max-wait",
        metavar="SECONDS",
        type=float,
        default=None,
        help="stop trying to upload after this time; the result then waits in the spool",
    )
