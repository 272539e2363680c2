"""Options that several commands share."""

from __future__ import annotations

import argparse


class YesNo(argparse.Action):
    """--tls and --no-tls; without either it stays unknown."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        setattr(namespace, self.dest, not (option_string or "").startswith("--no-"))


def add_short(parser: argparse.ArgumentParser) -> None:
    """Of commands that read a plan."""
    parser.add_argument("--short", action="store_true", help="the short form of the plan, [short]")


def add_tool_path(parser: argparse.ArgumentParser) -> None:
    """Of commands that run a load tool."""
    parser.add_argument(
        "--tool-path",
        metavar="NAME=PATH",
        action="append",
        default=[],
        help="path of a load tool, such as autocannon=node_modules/.bin/autocannon",
    )


def add_bounds(parser: argparse.ArgumentParser) -> None:
    """What load tools may do, whatever the plan says."""
    parser.add_argument(
        "--targets",
        metavar="LIST",
        help="the only servers that get load: names, addresses or networks, each with :PORT or "
        "without; else LOADSHEET_TARGETS, else every server",
    )
    parser.add_argument(
        "--tool-user",
        metavar="NAME",
        help="where the agent is root: the user that load tools run as, and nothing else; else "
        "LOADSHEET_TOOL_USER",
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
