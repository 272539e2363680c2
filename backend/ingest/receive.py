"""Receiving an upload: artefacts to storage, one row committed, then a hint to the workers."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID

from django.conf import settings
from django.db import transaction

from backend.ingest import queue
from backend.ingest.envelope import Envelope, EnvelopeError, read_envelope
from backend.ingest.insert import insert_once
from backend.ingest.models import Artefact, Upload
from backend.ingest.parts import Whole, forget, put_together
from backend.ingest.storage import CHUNK_BYTES, Stored, storage
from backend.runs.identity import canonical_json


class IncomingFile(Protocol):
    """A file as the request gives it."""

    @property
    def name(self) -> str | None: ...
    @property
    def size(self) -> int | None: ...

    def chunks(self, chunk_size: int | None = None) -> Iterable[bytes]: ...


class UploadConflict(Exception):
    """The id was used before for other bytes."""


class UploadTooLarge(Exception):
    """More bytes than this installation accepts."""


@dataclass(frozen=True, slots=True)
class Sender:
    """Who uploads, and into which workspace."""

    workspace_id: UUID
    token_id: UUID | None
    user_id: UUID | None


@dataclass(frozen=True, slots=True)
class Receipt:
    """The stored upload, and whether this request made it."""

    upload: Upload
    is_new: bool


def receive(
    sender: Sender,
    files: Sequence[IncomingFile],
    *,
    wholes: Sequence[Whole] = (),
    raw_envelope: Any = None,
    tool: str = "",
) -> Receipt:
    """Store `files` durably and queue them. The same id with the same bytes is answered again.

    `wholes` came in parts before; the upload then has the id under which they came. Raises
    EnvelopeError, UploadTooLarge, UploadConflict, PartsMissing and PartsDiffer; no upload is
    stored then.
    """
    envelope = Envelope() if raw_envelope is None else read_envelope(raw_envelope)
    names = _unique_names([*files, *wholes])
    _check_sizes(files, wholes)
    _check_references(envelope, names)
    if wholes and envelope.upload_id is None:
        raise EnvelopeError("id", None, "the id under which the parts were sent")
    upload = Upload(
        id=envelope.upload_id or uuid.uuid4(),
        workspace_id=sender.workspace_id,
        token_id=sender.token_id,
        author_id=sender.user_id,
        envelope=raw_envelope or {},
        tool_hint=tool,
    )
    hashes = [*map(_hash_of, files), *(whole.sha256 for whole in wholes)]
    upload.content_sha256 = _content_hash(upload, dict(zip(names, hashes, strict=True)))
    if not wholes:
        return _commit(upload, names, _store(upload, files))
    # Whose answer was lost sends it again; the parts are gone by then.
    if Upload.objects.filter(pk=upload.pk).exists():
        receipt = _answer_again(upload)
    else:
        receipt = _commit(upload, names, _store(upload, files, wholes))
    forget(upload.workspace_id, upload.pk)
    return receipt


def _hash_of(file: IncomingFile) -> str:
    digest = hashlib.sha256()
    for chunk in file.chunks():
        digest.update(chunk)
    return digest.hexdigest()


def _store(
    upload: Upload, files: Sequence[IncomingFile], wholes: Sequence[Whole] = ()
) -> list[Stored]:
    stored = [storage().put(file.chunks()) for file in files]
    return stored + [_store_whole(upload, whole) for whole in wholes]


def _store_whole(upload: Upload, whole: Whole) -> Stored:
    with put_together(upload.workspace_id, upload.pk, whole) as file:
        return storage().put(iter(lambda: file.read(CHUNK_BYTES), b""))


def _commit(upload: Upload, names: Sequence[str], stored: Sequence[Stored]) -> Receipt:
    artefacts = [
        Artefact(
            upload=upload,
            position=position,
            name=name,
            sha256=file.sha256,
            size_bytes=file.size_bytes,
        )
        for position, (name, file) in enumerate(zip(names, stored, strict=True))
    ]
    if not insert_once(upload, artefacts):
        return _answer_again(upload)
    transaction.on_commit(queue.hint, robust=True)
    return Receipt(upload, is_new=True)


def _answer_again(upload: Upload) -> Receipt:
    existing = Upload.objects.filter(pk=upload.pk).first()
    # Another workspace's id answers as a conflict too: nothing tells whose it is.
    if (
        existing is None
        or existing.workspace_id != upload.workspace_id
        or existing.content_sha256 != upload.content_sha256
    ):
        raise UploadConflict(str(upload.pk))
    return Receipt(existing, is_new=False)


def _unique_names(files: Sequence[IncomingFile | Whole]) -> list[str]:
    names = [(file.name or "artefact")[:200] for file in files]
    if any("\0" in name for name in names):
        raise EnvelopeError("a file's name", names, "no NUL")
    if len(set(names)) == len(names):
        return names
    return [f"{position}-{name}" for position, name in enumerate(names)]


def _check_sizes(files: Sequence[IncomingFile], wholes: Sequence[Whole]) -> None:
    total = sum(file.size or 0 for file in files) + sum(whole.size_bytes for whole in wholes)
    if total > settings.UPLOAD_MAX_BYTES:
        raise UploadTooLarge(
            f"This upload has {total} bytes; at most {settings.UPLOAD_MAX_BYTES} are accepted."
        )


def _check_references(envelope: Envelope, names: Sequence[str]) -> None:
    known = set(names)
    for entry in envelope.trials:
        missing = [name for name in entry.artefacts if name not in known]
        if missing:
            where = f"trials[{entry.ordinal}].artefacts"
            raise EnvelopeError(where, missing[0], "the name of a file sent with the envelope")


def _content_hash(upload: Upload, files: Mapping[str, str]) -> str:
    content = {"envelope": upload.envelope, "tool": upload.tool_hint, "files": files}
    return hashlib.sha256(canonical_json(content)).hexdigest()
