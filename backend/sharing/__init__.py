"""Links that are cited: freezing a comparison, finding it again, writing it as a table."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from backend.sharing.export import csv_of
    from backend.sharing.freezing import find_result_set, freeze, set_visibility

__all__ = ["csv_of", "find_result_set", "freeze", "set_visibility"]

_HOMES = {"csv_of": "backend.sharing.export"}


def __getattr__(name: str) -> object:
    # Django imports this package to find its app before any model may be imported.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES.get(name, "backend.sharing.freezing")), name)
