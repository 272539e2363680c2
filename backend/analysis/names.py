"""Names of now in the place of former ones, so that a link means after a renaming what it meant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from backend.analysis.catalogue import Catalogue
from backend.analysis.fields import FIELDS
from backend.analysis.query import CompareQuery
from backend.runs.models import FormerName

Kind = FormerName.Kind
# The fields whose values are names, with what is called so.
NAMED = {"server": Kind.SERVER, "host": Kind.HOST, "client": Kind.HOST, "workload": Kind.WORKLOAD}


def renamed(query: CompareQuery, known: Sequence[Catalogue]) -> CompareQuery:
    """`query` with the current names of what it names by former ones or their slugs.

    A value that something else is called, or spelled like, stays beside them.
    """
    changed: dict[str, Any] = {
        name: tuple(sorted({now for value in values for now in _current(known, name, value)}))
        for name in NAMED
        if (values := getattr(query, name))
    }
    if query.at is not None and query.x in NAMED:
        now = _current(known, query.x, query.at)
        changed["at"] = query.at if query.at in now else min(now)
    return replace(query, **changed)


def _current(known: Sequence[Catalogue], name: str, value: str) -> set[str]:
    """What `value` of a field means now; itself where it is no former name or another has it."""
    found = {now for one in known for now in one.names.current(NAMED[name], value)}
    spelled = (same for one in known for same in one.spellings(FIELDS[name]) if value in same)
    if not found or any(found.isdisjoint(same) for same in spelled):
        found.add(value)
    return found
