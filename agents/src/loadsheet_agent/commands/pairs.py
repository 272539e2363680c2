"""Flags of the form KEY=VALUE."""

from __future__ import annotations

from collections.abc import Sequence

from loadsheet_agent.errors import UsageError


def read_pairs(flags: Sequence[str], name: str) -> dict[str, str]:
    """The values by their keys; `name` is the flag's, for the message. Raises UsageError."""
    pairs = {}
    for flag in flags:
        key, equals, value = flag.partition("=")
        if not equals or not key:
            raise UsageError(f"{name} {flag!r} is not understood; expected KEY=VALUE.")
        pairs[key] = value
    return pairs
