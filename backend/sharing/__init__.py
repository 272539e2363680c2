"""Links that are cited: freezing and saving comparisons, reading, changing and drawing them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from backend.sharing.export import csv_of
    from backend.sharing.freezing import Card, NothingToFreeze, freeze, save_live
    from backend.sharing.reading import Reading, find_result_set

__all__ = [
    "Card",
    "NothingToFreeze",
    "Reading",
    "csv_of",
    "find_result_set",
    "freeze",
    "save_live",
]

_HOMES = {
    "Card": "freezing",
    "NothingToFreeze": "freezing",
    "Reading": "reading",
    "csv_of": "export",
    "find_result_set": "reading",
    "freeze": "freezing",
    "save_live": "freezing",
}


def __getattr__(name: str) -> object:
    # Django imports this package to find its app before any model may be imported.
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"backend.sharing.{_HOMES[name]}"), name)
