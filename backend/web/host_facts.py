"""A host as lines of label and fact."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_HOST_LINES = {
    "cpu_model": "CPU",
    "cores": "Cores",
    "memory_bytes": "Memory",
    "virtualisation": "Virtualisation",
    "os": "Operating system",
    "kernel": "Kernel",
}


def shown_host(host: Mapping[str, Any]) -> dict[str, Any]:
    """A host as lines of label and fact."""
    lines = [(label, host[name]) for name, label in _HOST_LINES.items()]
    lines = [(label, _gib(value) if label == "Memory" else value) for label, value in lines]
    return {
        "name": host["name"] or host["cpu_model"],
        "role": host["role"],
        "facts": lines + shown_facts(host["facts"]),
    }


# Facts whose name says too little, or whose value needs its unit.
_FACT_LABELS = {
    "smt": "SMT",
    "cpu_mhz": "CPU frequency, MHz",
    "cpu_mhz_max": "CPU frequency at most, MHz",
    "swap_bytes": "Swap, bytes",
    "nic": "Network interface to the server",
    "nic_speed_mbit": "Its speed, Mbit/s",
    "nic_mtu": "Its MTU, bytes",
    "tool_sha256": "SHA-256 of the load tool",
    "tool_path": "Path of the load tool",
    "offset_s": "clock: service minus host, s",
    "uncertainty_s": "clock: known to ±, s",
    "round_trip_s": "clock: quickest round trip, s",
    "sha256_mib_s": "score: SHA-256, MiB/s",
    "zlib_mib_s": "score: zlib, MiB/s",
    "python_msteps_s": "score: Python, million steps/s",
}
_SPREAD_OUT = ("calibration", "clock")


def shown_facts(facts: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Recorded facts as lines of label and fact; what a fact holds inside becomes its own lines."""
    lines: list[tuple[str, Any]] = []
    for name, value in facts.items():
        if name in _SPREAD_OUT and isinstance(value, dict):
            lines += [(_FACT_LABELS.get(key, f"score: {key}"), one) for key, one in value.items()]
        else:
            lines.append((_FACT_LABELS.get(name, name.replace("_", " ")), value))
    return lines


def _gib(size_bytes: int | None) -> str | None:
    return None if size_bytes is None else f"{size_bytes / 2**30:.1f} GiB"
