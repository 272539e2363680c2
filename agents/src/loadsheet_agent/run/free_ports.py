"""Ports for the programs that the agent starts on this machine."""

from __future__ import annotations

import random
import socket
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

PORTS_OF_CLIENTS = Path("/proc/sys/net/ipv4/ip_local_port_range")
# Lower ones are often those of well-known services.
LEAST_PORT = 10_000
# Where the system does not say which ports it gives to clients. Linux begins at 32,768.
USUAL_FIRST_OF_CLIENTS = 32_768


def free_ports(count: int) -> tuple[int, ...]:
    """Free loopback ports, all different because they are held open together while chosen.

    They lie below the ports that the system gives to clients. A connection of a load tool can hold
    such a port for a minute, and a server that starts again would find it in use. Where too few
    lie below, the system chooses.
    """
    below = range(LEAST_PORT, _first_of_clients())
    candidates = iter(random.sample(below, len(below)))
    with ExitStack() as held:
        return tuple(_hold(held, candidates) for _ in range(count))


def _hold(held: ExitStack, candidates: Iterator[int]) -> int:
    """The first of the candidates that is free, held open."""
    each = held.enter_context(socket.socket(socket.AF_INET, socket.SOCK_STREAM))
    for port in candidates:
        with suppress(OSError):
            each.bind(("127.0.0.1", port))
            return port
    each.bind(("127.0.0.1", 0))
    return int(each.getsockname()[1])


def _first_of_clients() -> int:
    try:
        return int(PORTS_OF_CLIENTS.read_text().split()[0])
    except (OSError, ValueError, IndexError):
        return USUAL_FIRST_OF_CLIENTS
