"""Ids inside of the texts and JSON of rows, which no foreign key tells of."""

import uuid
from collections.abc import Callable
from typing import Any

from backend.alerts.models import Alert
from backend.ingest.envelope.envelope import read_envelope
from backend.ingest.models import Upload
from backend.runs.models import Merge
from backend.sharing.models import ResultSet, SavedView
from backend.sharing.moved_ids import moved_text
from backend.transfer.encoding import Target

Move = Callable[[uuid.UUID], uuid.UUID]


def move_references(row: Any, target: Target, run_ids: frozenset[uuid.UUID]) -> None:
    """Move the ids inside of a decoded row. `run_ids`: of the runs of the archive, as they were.

    Raises ValueError and its kin for JSON of another form.
    """
    mover = _MOVERS.get(type(row))
    if mover is None:
        return

    def move_run(id_: uuid.UUID) -> uuid.UUID:
        # A query names runs, and labels that may look like ids.
        return target.moved(id_) if id_ in run_ids else id_

    mover(row, target.moved, move_run)


def _move_upload(row: Upload, move: Move, _: Move) -> None:
    if not row.envelope:
        return
    envelope = row.envelope = dict(row.envelope)
    read_envelope(envelope)
    for holder, name in [(envelope, "id"), (envelope.get("run") or {}, "id")]:
        _move_member(holder, name, move)
    for trial in envelope.get("trials") or ():
        _move_member(trial, "upload", move)


def _move_member(holder: dict[str, Any], name: str, move: Move) -> None:
    if holder.get(name) is not None:
        holder[name] = str(move(uuid.UUID(holder[name])))


def _move_merge(row: Merge, move: Move, _: Move) -> None:
    for entry in row.rows:
        _move_member(entry, "id", move)
        _move_member(entry, "into", move)


def _move_alert(row: Alert, move: Move, _: Move) -> None:
    row.subject = moved_text(row.subject, move)
    for name in ("host_id", "agent"):
        _move_member(row.data, name, move)


def _move_query(row: ResultSet | SavedView, _: Move, move_run: Move) -> None:
    row.query = moved_text(row.query, move_run)


_MOVERS: dict[type, Callable[[Any, Move, Move], None]] = {
    Upload: _move_upload,
    Merge: _move_merge,
    Alert: _move_alert,
    ResultSet: _move_query,
    SavedView: _move_query,
}
