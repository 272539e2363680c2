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
from backend.ingest.storage import Stored, storage
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
    sender: Sender, files: Sequence[IncomingFile], *, raw_envelope: Any = None, tool: str = ""
) -> Receipt:
    """Store `files` durably and queue them. The same id with the same bytes is answered again.

    Raises EnvelopeError, UploadTooLarge and UploadConflict; nothing is stored then.
    """
    envelope = Envelope() if raw_envelope is None else read_envelope(raw_envelope)
    names = _unique_names(files)
    _check_sizes(files)
    _check_references(envelope, names)
    stored = [storage().put(file.chunks()) for file in files]
    upload = Upload(
        id=envelope.upload_id or uuid.uuid4(),
        workspace_id=sender.workspace_id,
        token_id=sender.token_id,
        author_id=sender.user_id,
        envelope=raw_envelope or {},
        tool_hint=tool,
        content_sha256=_content_hash(
            raw_envelope or {}, tool, dict(zip(names, stored, strict=True))
        ),
    )
    return _commit(upload, names, stored)


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


def _unique_names(files: Sequence[IncomingFile]) -> list[str]:
    names = [(file.name or "artefact")[:200] for file in files]
    if any("\0" in name for name in names):
        raise EnvelopeError("a file's name", names, "no NUL")
    if len(set(names)) == len(names):
        return names
    return [f"{position}-{name}" for position, name in enumerate(names)]


def _check_sizes(files: Sequence[IncomingFile]) -> None:
    total = sum(file.size or 0 for file in files)
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


def _content_hash(envelope: Mapping[str, Any], tool: str, stored: Mapping[str, Stored]) -> str:
    files = {name: file.sha256 for name, file in stored.items()}
    content = {"envelope": envelope, "tool": tool, "files": files}
    return hashlib.sha256(canonical_json(content)).hexdigest()
