"""An upload, its artefacts, and their bytes where these are rows, in one statement.

The statement is its own transaction where no bytes are files: one round trip to the database, and
one flush, which uploads that come at the same time share.
"""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import Any

from django.db import connection, transaction
from django.db.models import JSONField

from backend.ingest.models import Artefact, Upload
from backend.ingest.quota.quota import lock_room, room_values
from backend.ingest.quota.stored_sums import any_share
from backend.ingest.receiving.insert_statement import fields_of, insert_statement
from backend.runs.database.bulk import as_json
from backend.storage import StorageAway, storage


def insert_once(
    upload: Upload, artefacts: Sequence[Artefact], contents: Mapping[str, bytes]
) -> bool:
    """Write the rows; False, and nothing is written, when the upload's id is taken, or is that of a
    run of another workspace, or the workspace has no room for them.

    `contents`: those bytes of artefacts, by SHA-256, that are rows too.
    There is at least one artefact. Raises StorageAway where its bytes were collected between
    being stored and now: sent again, they are stored again.
    """
    size_bytes = upload.envelope_bytes + sum(artefact.size_bytes for artefact in artefacts)
    workspace = upload.workspace_id
    parameters: list[Any] = [*_values(upload), workspace, size_bytes, *room_values()]
    parameters += [upload.pk, workspace]
    parameters += [workspace, any_share(), size_bytes]
    # In one order: two transactions that write the same rows would wait for each other.
    hashes = sorted(contents)
    parameters += [hashes, [contents[sha256] for sha256 in hashes]]
    parameters.append(as_json([_as_object(artefact) for artefact in artefacts]))
    files = {artefact.sha256 for artefact in artefacts} - set(contents)
    if _insert(parameters, files):
        return True
    if Upload.objects.filter(pk=upload.pk).exists():
        return False
    with transaction.atomic():
        lock_room(workspace)
        return _insert(parameters, files, is_alone=True)


def _insert(parameters: Sequence[Any], files: set[str], *, is_alone: bool = False) -> bool:
    with transaction.atomic() if files else nullcontext():
        with connection.cursor() as cursor:
            cursor.execute(insert_statement(is_alone=is_alone), parameters)
            is_new: bool = cursor.rowcount > 0
        # Under the collector's shared lock: the bytes found now stay.
        if is_new and files and not storage().has_all(files):
            raise StorageAway("the bytes were collected as leftovers of another upload")
    return is_new


def _values(upload: Upload) -> list[Any]:
    """The columns as psycopg takes them, without the ways of Django's fields."""
    given = ((getattr(upload, field.attname), field) for field in fields_of(Upload))
    return [as_json(value) if isinstance(field, JSONField) else value for value, field in given]


def _as_object(artefact: Artefact) -> dict[str, Any]:
    """Its columns by name: rows as one JSON are faster than an array for each column."""
    return {str(field.column): getattr(artefact, field.attname) for field in fields_of(Artefact)}
