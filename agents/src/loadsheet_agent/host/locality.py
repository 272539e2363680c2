"""Which machine the servers of a plan are on."""

from __future__ import annotations

import socket
from urllib.parse import urlsplit

import psutil

from loadsheet_agent.addresses import look_up
from loadsheet_agent.errors import PlanError
from loadsheet_agent.plan.plan import Plan


def servers_are_here(plan: Plan) -> bool:
    """Whether the plan's servers are on this machine. Raises PlanError where only some are."""
    own = _own_addresses()
    by_label = {server.label: _is_here(server.url, own) for server in plan.servers}
    if len(set(by_label.values())) > 1:
        here = next(label for label, is_here in by_label.items() if is_here)
        there = next(label for label, is_here in by_label.items() if not is_here)
        raise PlanError(
            f"server {here!r} is on this machine and {there!r} is not; a run has one server "
            "host, so write a plan for each."
        )
    return all(by_label.values())


def server_host(plan: Plan) -> str | None:
    """The name or address of the machine the servers are on."""
    return urlsplit(plan.servers[0].url.replace("{port}", "80")).hostname


def _is_here(url: str, own: set[str]) -> bool:
    addresses = look_up(urlsplit(url.replace("{port}", "80")).hostname or "")
    return bool(addresses) and all(
        address.is_loopback or str(address) in own for address in addresses
    )


def _own_addresses() -> set[str]:
    return {
        each.address.partition("%")[0]
        for addresses in psutil.net_if_addrs().values()
        for each in addresses
        if each.family in (socket.AF_INET, socket.AF_INET6)
    }
