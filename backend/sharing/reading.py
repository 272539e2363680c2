"""Reading a result set: finding it by its link, its figures, and its JSON."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import orjson

from backend import __version__
from backend.analysis.answers import answer
from backend.analysis.comparison import compare
from backend.analysis.query import CompareQuery
from backend.analysis.times import instant
from backend.runs.identity import canonical_json
from backend.sharing.freezing import SCHEMA
from backend.sharing.models import ResultSet
from backend.sharing.sources import sources_of


def find_result_set(link: uuid.UUID, *, workspace_ids: Iterable[uuid.UUID]) -> ResultSet | None:
    """The result set at this link, when it is shared or of one of the reader's workspaces.

    One that is gone is found too: its readers are told so.
    """
    rows = ResultSet.objects.select_related("workspace", "author", "superseded_by")
    return rows.readable(workspace_ids).filter(link=link).first()


def question_of(result_set: ResultSet) -> CompareQuery:
    """What was asked, of its workspace under the name that has now.

    Raises QueryError where today's language knows a field or value no more.
    """
    return replace(CompareQuery.parse(result_set.query), workspace=result_set.workspace.slug)


@dataclass(frozen=True)
class Reading:
    """A result set as it reads now: what is evaluated is evaluated once.

    Its properties raise QueryError and NotVisible of a live one whose question lost its meaning
    or its runs.
    """

    result_set: ResultSet

    @cached_property
    def document(self) -> dict[str, Any]:
        """What /s/<id>.json holds."""
        one = self.result_set
        return one.frozen_snapshot() if one.is_frozen else _live_document(one)

    @property
    def figures(self) -> dict[str, Any]:
        figures: dict[str, Any] = self.document["figures"]
        return figures

    @cached_property
    def json(self) -> bytes:
        """The bytes of /s/<id>.json: of a frozen one those its SHA-256 is over."""
        snapshot = self.result_set.snapshot
        return canonical_json(self.document) if snapshot is None else bytes(snapshot)


def _live_document(result_set: ResultSet) -> dict[str, Any]:
    """As a snapshot, but of now. Without the time of reading: equal figures are equal bytes."""
    figures = _answered(question_of(result_set), result_set.workspace_id)
    return {
        "schema": SCHEMA,
        "kind": result_set.kind,
        "id": str(result_set.link),
        "title": result_set.title,
        "created_at": instant(result_set.created_at),
        "workspace": result_set.workspace.slug,
        "query": figures["query"],
        "runs": sources_of([run["id"] for run in figures["runs"]]),
        "figures": figures,
        "software": {"name": "loadsheet", "version": __version__},
    }


def _answered(question: CompareQuery, workspace_id: uuid.UUID) -> dict[str, Any]:
    """The figures as the page of the comparison gets them: kept while nothing changed."""
    ids = [workspace_id]
    kept = answer("compare", question, ids, lambda: compare(question, workspace_ids=ids))
    figures: dict[str, Any] = orjson.loads(kept)
    return figures
