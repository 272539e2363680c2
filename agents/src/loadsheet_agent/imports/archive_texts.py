"""What the archives of other benchmark projects say beside their figures: notes, and the machine.

The service has this file by a link: an archive that is uploaded tells the same as one that is
imported.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# What stands on the page of each run.
TECHEMPOWER_NOTES = (
    "Results of TechEmpower's framework benchmarks, read from the outputs of wrk and weighttp. "
    "They give throughput, errors and latency of each framework under each test and load. They do "
    "not give the versions and settings of the frameworks, nor the machines. Each load was "
    "measured once, so the noise is unknown and nothing is ranked."
)
HTTPARENA_NOTES = (
    "Summaries of HttpArena. They give throughput, mean latency, p99 and statuses of each "
    "framework under each test and load. They do not give the load tool, the versions of the "
    "frameworks, nor attempts without a response; the outputs of the load tools are not kept. Each "
    "load has one figure, so the noise is unknown and nothing is ranked."
)
# The file of HttpArena that describes its machine.
MACHINE = "current.json"
# Its facts by their names in Loadsheet.
FACTS = {
    "cpu_governor": "governor",
    "memory": "ram",
    "threads": "threads",
    "docker": "docker",
    "docker_runtime": "docker_runtime",
}
NETWORK_FACTS = {
    "somaxconn": "somaxconn",
    "rmem_max": "rmem_max",
    "wmem_max": "wmem_max",
    "tcp_congestion_control": "congestion",
}
LONGEST_TEXT = 200


def host_of(machine: Mapping[str, Any]) -> dict[str, Any]:
    """The server host in the members of an envelope; empty where the file says nothing of it."""
    network, cores = machine.get("tcp"), _text(machine.get("cores")) or ""
    is_count = cores.isascii() and cores.isdigit() and len(cores) < 10
    host = {
        "cpu_model": _text(machine.get("cpu")),
        "cores": int(cores) if is_count else None,
        "os": _text(machine.get("os")),
        "kernel": _text(machine.get("kernel")),
        "facts": {
            **_facts(machine, FACTS),
            **_facts(network if isinstance(network, dict) else {}, NETWORK_FACTS),
        },
    }
    stated = {name: value for name, value in host.items() if value}
    return {"name": "HttpArena", **stated} if stated else {}


def _facts(fields: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, str]:
    texts = {name: _text(fields.get(key)) for name, key in names.items()}
    return {name: text for name, text in texts.items() if text}


def _text(value: object) -> str | None:
    """A text or a number as text; None for everything else and for an empty text."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return None
    return printable(str(value).strip()[:LONGEST_TEXT]) or None


def printable(text: str) -> str:
    """The text with a mark in the place of characters that cannot be printed or stored."""
    return "".join(mark if mark.isprintable() else "\N{REPLACEMENT CHARACTER}" for mark in text)
