"""Which servers a plan may put under load, where whoever runs the agent says so.

Names are looked up once, when the run begins. Before each trial the address of its server is looked
up again: a name that leads elsewhere by then gets no load.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Union
from urllib.parse import urlsplit

from loadsheet_agent.addresses import Address, look_up
from loadsheet_agent.errors import PlanError, UsageError
from loadsheet_agent.plan.plan import Plan

Network = Union[ipaddress.IPv4Network, ipaddress.IPv6Network]
PORTS = {"http": 80, "https": 443}
# In the address of a server of the plan, which gets one when it is started.
FREE_PORT = "{port}"


@dataclass(frozen=True)
class AllowedTarget:
    """A network, and a port of it; None: every port."""

    network: Network
    port: int | None

    def has(self, address: Address, port: int | None) -> bool:
        """`port`: None if it is not known yet."""
        is_inside = address.version == self.network.version and address in self.network
        return is_inside and (port is None or self.port in (None, port))


@dataclass(frozen=True)
class AllowedTargets:
    """`targets` is None where every server may be put under load."""

    targets: tuple[AllowedTarget, ...] | None = None

    def refusal(self, url: str) -> str | None:
        """Why no trial of the server may begin; None if it may."""
        if self.targets is None:
            return None
        host, port = _place_of(url)
        addresses = look_up(host)
        if not addresses:
            return f"the address of {host!r} was not found"
        for address in addresses:
            if _is_never_meant(address) or not self._has(address, port):
                place = f"{address} port {port}" if port else address
                return f"{place} is not an allowed target (--targets)"
        return None

    def _has(self, address: Address, port: int | None) -> bool:
        return any(target.has(address, port) for target in self.targets or ())

    def check(self, plan: Plan) -> None:
        """Raises PlanError for a server that may not be put under load."""
        for server in plan.servers:
            refusal = self.refusal(server.url)
            if refusal is not None:
                raise PlanError(f"server {server.label!r} gets no load: {refusal}.")


def _place_of(url: str) -> tuple[str, int | None]:
    """Host and port; None for a port that is free once the server is started."""
    parts = urlsplit(url.replace(FREE_PORT, ""))
    port = None if FREE_PORT in url else parts.port or PORTS[parts.scheme]
    return parts.hostname or "", port


def read_allowed_targets(text: str | None) -> AllowedTargets:
    """From a list such as `127.0.0.1,10.1.0.0/16:8080,bench.example:443`. Raises UsageError."""
    if not text:
        return AllowedTargets()
    words = [word.strip() for word in text.split(",") if word.strip()]
    return AllowedTargets(tuple(target for word in words for target in _read(word)))


def _read(word: str) -> Iterable[AllowedTarget]:
    place, port = _split_port(word)
    try:
        return [AllowedTarget(ipaddress.ip_network(place), port)]
    except ValueError:
        addresses = () if "/" in place else look_up(place)
    if not addresses:
        raise UsageError(
            f"--targets has {word!r}; expected names, addresses or networks, each with :PORT or "
            "without, such as 127.0.0.1,10.1.0.0/16:8080,[::1]:8080."
        )
    return [AllowedTarget(ipaddress.ip_network(address), port) for address in addresses]


def _split_port(word: str) -> tuple[str, int | None]:
    """A colon begins the port, but for those of an IPv6 address without brackets."""
    place, colon, port = word.rpartition(":")
    if word.startswith("["):
        place, _, port = word[1:].partition("]")
        port = port.lstrip(":")
    elif not colon or ":" in place:
        place, port = word, ""
    is_port = port.isascii() and port.isdigit() and 0 < int(port) < 1 << 16
    return (place, int(port)) if is_port else (word if port else place, None)


def _is_never_meant(address: Address) -> bool:
    """Link-local addresses too: clouds answer there with credentials of the machine."""
    return address.is_link_local or address.is_multicast or address.is_unspecified
