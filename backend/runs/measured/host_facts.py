"""The recorded facts of hosts, and figures from them. A missing or odd fact is unknown."""

from collections.abc import Mapping
from typing import Any

from backend.runs.models import Run

# No clock is wrong by more than thirty years.
MOST_OFFSET_S = 1e9
# Of the clock of a client: its offset is in the times of the run.
APPLIED = "is_applied"


def facts_of(run: Run, role: str) -> Mapping[str, Any]:
    """What is recorded of the host with this role in a run; empty if nothing is."""
    facts = run.facts.get(role) if isinstance(run.facts, dict) else None
    return facts if isinstance(facts, dict) else {}


def clock_offset_s(facts: Mapping[str, Any]) -> float | None:
    """What to add to the clock of a host with these facts to get the service's time; None if it is
    unknown."""
    clock = facts.get("clock")
    offset_s = clock.get("offset_s") if isinstance(clock, dict) else None
    if isinstance(offset_s, bool) or not isinstance(offset_s, int | float):
        return None
    return float(offset_s) if abs(offset_s) <= MOST_OFFSET_S else None


def offset_left_s(facts: Mapping[str, Any]) -> float | None:
    """What is still to be added to the times of a run whose client has these facts, to get the
    service's time; None if that is unknown.

    Nothing, except for runs that were read before offsets were applied: those have their client's
    times until they are read again.
    """
    offset_s = clock_offset_s(facts)
    return 0.0 if offset_s is not None and facts["clock"].get(APPLIED) is True else offset_s


def link_bits_s(facts: Mapping[str, Any]) -> float | None:
    """Bits per second of the slower of the hosts' network interfaces that are known."""
    speeds = [host.get("nic_speed_mbit") for host in facts.values() if isinstance(host, Mapping)]
    known_speeds = [speed for speed in speeds if isinstance(speed, int | float) and speed > 0]
    return min(known_speeds) * 1e6 if known_speeds else None


def local_ports(facts: Mapping[str, Any]) -> tuple[int, int] | None:
    """First and last ephemeral port of the client host (Linux prints "32768 60999")."""
    # One entry where client and server are one machine.
    client = facts.get("client") or facts.get("server")
    words = str(client.get("ip_local_port_range") or "").split() if client else []
    if len(words) != 2 or not all(word.isdigit() for word in words):
        return None
    first, last = int(words[0]), int(words[1])
    return (first, last) if first <= last <= 65_535 else None


def governors(facts: Mapping[str, Any]) -> dict[str, str]:
    """The CPU governor of each host that tells it: {"client": "powersave"}."""
    named = {
        role: host.get("cpu_governor") for role, host in facts.items() if isinstance(host, Mapping)
    }
    return {role: name for role, name in named.items() if isinstance(name, str) and name}
