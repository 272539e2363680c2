"""Freezing a comparison: canonical JSON of everything a reader needs to check it, and its hash.

The bytes are stored as they were hashed and never rewritten. Nothing of another workspace enters,
and the query inside names its runs, so that it asks for the same runs for ever.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from textwrap import shorten
from typing import Any

from django.db import transaction
from django.utils import timezone

from backend import __version__
from backend.accounts.models import User, Workspace
from backend.analysis.comparison import compare
from backend.analysis.query import CompareQuery
from backend.analysis.times import instant
from backend.runs.identity import canonical_json
from backend.runs.moment import one_moment
from backend.sharing.hint import hint_to_draw
from backend.sharing.models import Kind, ResultSet, Visibility
from backend.sharing.sources import sources_of

SCHEMA = 2
# As the column holds it.
MAX_TITLE = 300


class NothingToFreeze(ValueError):
    """The question shows no run: a citation of nothing would be one of whatever comes."""

    def __init__(self) -> None:
        super().__init__("No run answers this question, so there is nothing to freeze.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """What a person says about a result set, beside its figures."""

    title: str = ""
    notes: str = ""
    visibility: Visibility = Visibility.PRIVATE
    expires_at: datetime | None = None


def freeze(
    query: CompareQuery, *, workspace: Workspace, author: User | None, card: Card
) -> ResultSet:
    """Keep what `query` shows of `workspace` now.

    Raises NotVisible for a run that is not there, NothingToFreeze where nothing is shown.
    """
    with one_moment():
        figures = _with_runs_named(query, workspace)
        result_set = _begun(query, Kind.FROZEN, workspace, author, card)
        result_set.title = card.title or shorten(figures["finding"], MAX_TITLE, placeholder=" …")
        result_set.snapshot = canonical_json(_snapshot(result_set, figures))
        result_set.sha256 = hashlib.sha256(result_set.snapshot).hexdigest()
        result_set.save(force_insert=True)
        transaction.on_commit(lambda: hint_to_draw(result_set.pk))
    return result_set


def save_live(
    query: CompareQuery, *, workspace: Workspace, author: User | None, card: Card
) -> ResultSet:
    """Keep the question: each reading answers it anew. Raises as `compare` does."""
    with one_moment():
        compare(query, workspace_ids=[workspace.pk])
        result_set = _begun(query, Kind.LIVE, workspace, author, card)
        # Not the finding: that one may be another tomorrow.
        result_set.title = card.title or "Live comparison"
        result_set.save(force_insert=True)
        transaction.on_commit(lambda: hint_to_draw(result_set.pk))
    return result_set


def _with_runs_named(query: CompareQuery, workspace: Workspace) -> dict[str, Any]:
    """The figures of the query that names what the asked one shows now."""
    figures = compare(query, workspace_ids=[workspace.pk])
    shown = tuple(sorted(uuid.UUID(run["id"]) for run in figures["runs"]))
    if not shown:
        raise NothingToFreeze
    if shown == query.run:
        return figures
    return compare(replace(query, run=shown), workspace_ids=[workspace.pk])


def _begun(
    query: CompareQuery, kind: Kind, workspace: Workspace, author: User | None, card: Card
) -> ResultSet:
    id_ = uuid.uuid4()
    return ResultSet(
        id=id_,
        link=id_,
        kind=kind,
        workspace=workspace,
        author=author,
        # The workspace is a column of its own, which a new slug does not break.
        query=replace(query, workspace=None).canonical(),
        notes=card.notes,
        visibility=card.visibility,
        expires_at=card.expires_at,
        created_at=timezone.now(),
    )


def _snapshot(result_set: ResultSet, figures: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "kind": result_set.kind,
        "id": str(result_set.pk),
        "title": result_set.title,
        "created_at": instant(result_set.created_at),
        "workspace": result_set.workspace.slug,
        "query": figures["query"],
        "runs": sources_of([run["id"] for run in figures["runs"]]),
        "figures": figures,
        "software": {"name": "loadsheet", "version": __version__},
    }
