"""Lays one table of a plan over another."""

from __future__ import annotations

from typing import Any


def merge(
    below: dict[str, Any], above: dict[str, Any], *, added: tuple[str, ...] = ()
) -> dict[str, Any]:
    """`above` replaces what `below` has; tables are merged, and the lists named `added` grow."""
    merged = dict(below)
    for name, value in above.items():
        before = merged.get(name)
        if isinstance(before, dict) and isinstance(value, dict):
            merged[name] = merge(before, value)
        elif name in added and isinstance(before, list) and isinstance(value, list):
            merged[name] = [*before, *value]
        else:
            merged[name] = value
    return merged
