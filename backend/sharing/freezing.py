"""Making result sets: a frozen one keeps canonical JSON and its hash, a live one a query.

The bytes are stored as they were hashed and never rewritten. Nothing of another workspace enters.
The query inside names its runs, so that it always asks for the same runs.
"""

import hashlib
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from textwrap import shorten

from django.db import transaction
from django.utils import timezone

from backend.accounts.audit import record
from backend.accounts.models import Act, Token, User, Workspace
from backend.accounts.workspace import access
from backend.analysis.compare.comparison import compare
from backend.analysis.figures import Figures
from backend.analysis.query.compare_query import CompareQuery
from backend.errors import InvalidInput
from backend.ingest.quota.quota import take_room
from backend.runs.database.read_router import repeatable_read
from backend.runs.registry.identity import canonical_json
from backend.sharing.cited_runs import cite_runs, hold_raw_output
from backend.sharing.drawing_queue import request_drawing
from backend.sharing.models import Kind, ResultSet, Visibility
from backend.sharing.secret_check import refuse_secrets_of
from backend.sharing.sources import document_of
from backend.transactions import repeat_if_overtaken

# Of a title that nobody chose.
MAX_TITLE, MAX_NAMED = 120, 4


class NothingToFreeze(InvalidInput):
    """The query shows no run, so there is nothing to cite."""

    field = "query"

    def __init__(self) -> None:
        super().__init__("No run matches this query, so there is nothing to freeze.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """The title, notes, visibility and expiry that a person gives a result set."""

    title: str = ""
    notes: str = ""
    visibility: Visibility = Visibility.PRIVATE
    expires_at: datetime | None = None


def freeze(
    query: CompareQuery,
    *,
    workspace: Workspace,
    author: User | None,
    description: Description,
    actor: User | Token | None = None,
) -> ResultSet:
    """Store what `query` shows of `workspace` now. `actor`: who asked, if it was a request.

    Raises NotVisible for a run that is not there, NothingToFreeze where no run is shown,
    SecretShared where others would read a secret, WorkspaceFull, and NotFound for an actor who
    may not write any more.
    """
    return repeat_if_overtaken(lambda: _freeze(query, workspace, author, description, actor))


def _freeze(
    query: CompareQuery,
    workspace: Workspace,
    author: User | None,
    description: Description,
    actor: User | Token | None,
) -> ResultSet:
    with repeatable_read():
        figures = _with_named_runs(query, workspace)
        hold_raw_output([uuid.UUID(run.id) for run in figures.runs])
        result_set = _unsaved(query, Kind.FROZEN, workspace, author, description)
        result_set.title = description.title or usual_title(figures)
        document = document_of(result_set, figures, id_=result_set.pk)
        result_set.snapshot = canonical_json(document)
        result_set.sha256 = hashlib.sha256(result_set.snapshot).hexdigest()
        refuse_secrets_of(result_set)
        _save(result_set, actor)
        cite_runs(result_set, document)
        _record(result_set)
        transaction.on_commit(lambda: request_drawing(result_set.pk))
    return result_set


def usual_title(figures: Figures) -> str:
    """The title of a set whose author gave none: `json · wrk · caddy, nginx, haproxy`.

    Its finding is the headline, and too long for a title.
    """
    parts = [
        _listed(series.workload for series in figures.series),
        _listed(series.tool for series in figures.series),
        _listed(_server_names(figures)),
    ]
    title = " · ".join(part for part in parts if part) or figures.finding
    return shorten(title, MAX_TITLE, placeholder=" …")


def _server_names(figures: Figures) -> list[str]:
    """The servers; of one server, its versions."""
    names = {series.server for series in figures.series}
    if len(names) > 1:
        return [series.server for series in figures.series]
    return [f"{series.server} {series.version or ''}".strip() for series in figures.series]


def _listed(texts: Iterable[str | None]) -> str:
    """Each once, in their order; what is too many is counted."""
    named = list(dict.fromkeys(text for text in texts if text))
    more = len(named) - MAX_NAMED
    return ", ".join([*named[:MAX_NAMED], *([f"{more} more"] if more > 0 else [])])


def save_live(
    query: CompareQuery,
    *,
    workspace: Workspace,
    author: User | None,
    description: Description,
    actor: User | Token | None = None,
) -> ResultSet:
    """Store the query: each reading evaluates it again.

    Raises as `compare` does, and SecretShared, WorkspaceFull and NotFound as `freeze`.
    """
    return repeat_if_overtaken(lambda: _save_live(query, workspace, author, description, actor))


def _save_live(
    query: CompareQuery,
    workspace: Workspace,
    author: User | None,
    description: Description,
    actor: User | Token | None,
) -> ResultSet:
    with repeatable_read():
        compare(query, workspace_ids=[workspace.pk])
        result_set = _unsaved(query, Kind.LIVE, workspace, author, description)
        # Not the headline: it may be another one tomorrow.
        result_set.title = description.title or "Live comparison"
        refuse_secrets_of(result_set)
        _save(result_set, actor)
        _record(result_set)
        transaction.on_commit(lambda: request_drawing(result_set.pk))
    return result_set


def _save(result_set: ResultSet, actor: User | Token | None) -> None:
    """Store it, unless who asked was removed while it was computed. Raises WorkspaceFull too."""
    if actor is not None:
        access.hold_right_to_write(actor, result_set.workspace_id)
    texts = len(result_set.notes.encode()) + len(result_set.query.encode())
    take_room(result_set.workspace_id, len(result_set.snapshot or b"") + texts)
    result_set.save(force_insert=True)


def _record(result_set: ResultSet) -> None:
    record(
        Act.SHARE_CREATED,
        result_set.workspace,
        subject=result_set.title,
        subject_id=result_set.pk,
        kind=str(result_set.kind),
        visibility=str(result_set.visibility),
    )


def _with_named_runs(query: CompareQuery, workspace: Workspace) -> Figures:
    """The figures of `query`, with the runs that it shows now named in it."""
    figures = compare(query, workspace_ids=[workspace.pk])
    shown = tuple(sorted(uuid.UUID(run.id) for run in figures.runs))
    if not shown:
        raise NothingToFreeze
    if shown == query.run_ids:
        return figures
    return compare(query.with_filters(run=shown), workspace_ids=[workspace.pk])


def _unsaved(
    query: CompareQuery,
    kind: Kind,
    workspace: Workspace,
    author: User | None,
    description: Description,
) -> ResultSet:
    id_ = uuid.uuid4()
    return ResultSet(
        id=id_,
        link=id_,
        kind=kind,
        workspace=workspace,
        author=author,
        # The workspace is a column: a renamed workspace must not break the query.
        query=replace(query, workspace=None).canonical(),
        notes=description.notes,
        visibility=description.visibility,
        expires_at=description.expires_at,
        created_at=timezone.now(),
    )
