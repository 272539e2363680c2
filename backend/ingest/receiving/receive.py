"""Receiving an upload: artefacts to storage, one row committed, then a hint to the workers."""

import contextlib
import hashlib
import uuid
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any, cast
from uuid import UUID

from django.db import IntegrityError, transaction

from backend.accounts.models import Token
from backend.accounts.tokens.tokens import NEW_HINT, TokenRefused
from backend.errors import Conflict, TooEarly
from backend.ingest.artefacts.part_refusals import PartsDiffer, PartsMissing
from backend.ingest.artefacts.parts import Whole, forget, put_together
from backend.ingest.envelope.envelope import Envelope, read_envelope
from backend.ingest.envelope.envelope_errors import EnvelopeError
from backend.ingest.envelope.envelope_times import refuse_future_times
from backend.ingest.models import Artefact, Upload
from backend.ingest.quota.quota import explain_refusal, refuse_closed
from backend.ingest.receiving.content_hash import all_hashes, content_hash, keyed
from backend.ingest.receiving.hints import hint_soon
from backend.ingest.receiving.incoming import (
    Arrived,
    IncomingFile,
    UploadTooLarge,
    arrived_files,
    beginnings_of,
    check_references,
    check_sizes,
)
from backend.ingest.receiving.insert import insert_once
from backend.ingest.receiving.priority import SMALL_BYTES, is_interactive, is_small
from backend.runs.models import Run
from backend.storage import StorageAway, Stored, storage
from backend.untrusted.json.plain_json import check_plain
from backend.untrusted.limits import ENVELOPE_BYTES
from backend.untrusted.sandbox.slots import LONG_WORK
from backend.untrusted.secrets.cleaning import Cleaning, clean_envelope

# Small files are rows: each as a file would be flushed twice. Rows are written while nothing is
# collected: up to so many bytes that nobody waits long for it.
ROWS_BYTES = 8 << 20


class UploadTrashed(Conflict):
    """The upload is stored, and its run is in the trash."""

    def __init__(self, upload_id: UUID) -> None:
        super().__init__(f"The upload {upload_id} was stored before; its run is in the trash.")


class UploadConflict(Conflict):
    """The id was used before for other bytes, or for a run of another workspace."""

    def __init__(self, upload_id: UUID) -> None:
        super().__init__(f"The upload id {upload_id} is already in use; nothing was changed.")


@dataclass(frozen=True, slots=True)
class Sender:
    """Who uploads, and into which workspace.

    `is_reader`: the sender claims the upload in the same transaction and reads it, so no worker is
    told.
    """

    workspace_id: UUID
    token_id: UUID | None
    user_id: UUID | None
    is_reader: bool = False

    @property
    def is_person(self) -> bool:
        """Whether somebody who is signed in sends, and no program with a token."""
        return self.token_id is None and self.user_id is not None


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
    """Store `files` durably, without secrets, and queue them. The same id with the same bytes is
    answered again.

    `wholes` came in parts before, under the id of the upload. Raises JsonRefused, EnvelopeError,
    UploadTooLarge, TooEarly, NotFound, TokenRefused, UploadConflict, PartsMissing, PartsDiffer,
    CannotClean, Busy, OwnerBusy, and what `explain_refusal` raises.
    """
    check_sizes(files, wholes)
    sent = {} if raw_envelope is None else raw_envelope
    cleaned = _clean(sent, _payer(sender.user_id, sender.workspace_id))
    envelope = read_envelope(cleaned) if sent else Envelope()
    _refuse_future(envelope)
    arrived = arrived_files([*files, *wholes])
    check_references(envelope, [file.name for file in arrived], has_parts=bool(wholes))
    beginnings, is_from_page = beginnings_of(files), sender.is_person and not wholes
    upload = Upload(
        id=envelope.upload_id or uuid.uuid4(),
        workspace_id=sender.workspace_id,
        token_id=sender.token_id,
        author_id=sender.user_id,
        envelope=cleaned,
        envelope_bytes=check_plain(cleaned) if cleaned else 0,
        tool_hint=tool,
        is_small=is_small(envelope, beginnings, has_parts=bool(wholes)),
        is_interactive=is_interactive(envelope, beginnings, is_from_page=is_from_page),
        is_slow=sender.is_reader,
        content_sha256=content_hash(sent, tool, {file.name: file.sha256 for file in arrived}),
    )
    receipt = _receive_once(upload, arrived, is_clean=cleaned == sent)
    if wholes:
        forget(upload.workspace_id, upload.pk)
    return receipt


def _receive_once(upload: Upload, arrived: Sequence[Arrived], *, is_clean: bool) -> Receipt:
    """Receive an upload whose sender may have lost the answer: it sends again after its parts were
    deleted, or while the first request still uses them."""
    has_parts = any(isinstance(file.content, Whole) for file in arrived)
    if has_parts and _is_received(upload.pk):
        return _answer_again(upload)
    try:
        return _commit(upload, arrived, is_clean=is_clean)
    except (PartsMissing, PartsDiffer):
        if _is_received(upload.pk):
            return _answer_again(upload)
        raise


def _refuse_future(envelope: Envelope) -> None:
    """Raises TooEarly; not for an upload that is stored and sent again."""
    try:
        refuse_future_times(envelope)
    except TooEarly:
        if envelope.upload_id is None or not _is_received(envelope.upload_id):
            raise


def _is_received(upload_id: UUID) -> bool:
    return Upload.objects.filter(pk=upload_id).exists()


def _payer(user_id: UUID | None, workspace_id: UUID) -> Hashable:
    """Whose turns it takes to search files: a person may have many workspaces."""
    return user_id or workspace_id


def _clean(sent: object, payer: Hashable) -> dict[str, Any]:
    """The envelope without secrets, once it is sure that it can be stored."""
    size_bytes = check_plain(sent)
    if size_bytes > ENVELOPE_BYTES:
        raise UploadTooLarge(
            f"The envelope has {size_bytes:,} bytes; at most {ENVELOPE_BYTES:,} are accepted."
        )
    if not isinstance(sent, dict):
        raise EnvelopeError("the envelope", sent, "an object")
    return clean_envelope(sent, size_bytes=size_bytes, payer=payer)


def _commit(upload: Upload, arrived: Sequence[Arrived], *, is_clean: bool) -> Receipt:
    stored: list[Stored] = []
    rows: dict[str, bytes] = {}
    try:
        _store(upload, arrived, stored, rows)
    except BaseException:
        _take_back(stored)
        raise
    sent_hash = upload.content_sha256
    if not is_clean or [file.sha256 for file in arrived] != [file.sha256 for file in stored]:
        upload.content_sha256 = keyed(sent_hash)
    # Where the database fails, the row may be there all the same: then the files stay.
    if _insert(upload, _artefacts(upload, arrived, stored), rows):
        # In the slow lane from the beginning: its sender reads it.
        if not upload.is_slow:
            transaction.on_commit(hint_soon, robust=True)
        return Receipt(upload, is_new=True)
    _take_back(stored)
    upload.content_sha256 = sent_hash
    if not _is_received(upload.pk):
        _explain(upload, stored)
    return _answer_again(upload)


def _explain(upload: Upload, stored: Sequence[Stored]) -> None:
    """Why an upload with a new id was not written."""
    if Run.with_trash.filter(pk=upload.pk).exclude(workspace=upload.workspace_id).exists():
        raise UploadConflict(upload.pk)
    files_bytes = sum(file.size_bytes for file in stored)
    explain_refusal(upload.workspace_id, upload.envelope_bytes + files_bytes)


def _insert(upload: Upload, artefacts: Sequence[Artefact], contents: Mapping[str, bytes]) -> bool:
    """As `insert_once`. Raises NotFound and TokenRefused where the workspace or the token went
    meanwhile: PostgreSQL looks for them at COMMIT.
    """
    try:
        return insert_once(upload, artefacts, contents)
    except IntegrityError:
        refuse_closed(upload.workspace_id)
        if upload.token_id and not Token.objects.filter(pk=upload.token_id).exists():
            raise TokenRefused("This token was deleted.", hint=NEW_HINT) from None
        raise


def _store(
    upload: Upload, arrived: Sequence[Arrived], stored: list[Stored], rows: dict[str, bytes]
) -> None:
    """Store the files, and tell `stored` and `rows` of each what is to be written of it."""
    payer = _payer(upload.author_id, upload.workspace_id)
    cleaning = Cleaning(payer)
    # Several names may share an artefact, which is put together once.
    of_wholes: dict[str, Stored] = {}
    names_of_rows = _names_of_rows(arrived)
    for file in arrived:
        if isinstance(file.content, Whole):
            if file.sha256 not in of_wholes:
                with LONG_WORK.take(payer):
                    of_wholes[file.sha256] = _store_whole(upload, file.content, cleaning)
            stored.append(of_wholes[file.sha256])
        else:
            chunks = cleaning.cleaned(cast(IO[bytes], file.content.file))
            is_row = file.name in names_of_rows
            stored.append(_as_row(chunks, rows) if is_row else storage().put(chunks))


def _names_of_rows(arrived: Sequence[Arrived]) -> set[str]:
    """Which files are rows: small ones, until there is no more room."""
    names: set[str] = set()
    left_bytes = ROWS_BYTES
    for file in arrived:
        size_bytes = SMALL_BYTES + 1 if isinstance(file.content, Whole) else file.content.size or 0
        if size_bytes <= min(SMALL_BYTES, left_bytes):
            names.add(file.name)
            left_bytes -= size_bytes
    return names


def _as_row(chunks: Iterable[bytes], rows: dict[str, bytes]) -> Stored:
    content = b"".join(chunks)
    stored = Stored(hashlib.sha256(content).hexdigest(), len(content))
    rows[stored.sha256] = content
    return stored


def _store_whole(upload: Upload, whole: Whole, cleaning: Cleaning) -> Stored:
    with put_together(upload.workspace_id, upload.pk, whole) as file:
        return storage().put(cleaning.cleaned(file))


def _take_back(stored: Iterable[Stored]) -> None:
    """Remove the files of a refused upload; the collector removes what this cannot."""
    for file in stored:
        with contextlib.suppress(StorageAway):
            storage().take_back(file)


def _artefacts(
    upload: Upload, arrived: Sequence[Arrived], stored: Sequence[Stored]
) -> list[Artefact]:
    return [
        Artefact(
            upload=upload,
            position=position,
            name=file.name,
            sha256=cleaned.sha256,
            size_bytes=cleaned.size_bytes,
        )
        for position, (file, cleaned) in enumerate(zip(arrived, stored, strict=True))
    ]


def _answer_again(upload: Upload) -> Receipt:
    existing = Upload.objects.filter(pk=upload.pk).first()
    # Also for an upload of another workspace: the answer does not say whose the id is.
    if (
        existing is None
        or existing.workspace_id != upload.workspace_id
        or existing.content_sha256 not in all_hashes(upload.content_sha256)
    ):
        raise UploadConflict(upload.pk)
    if existing.is_in_trash:
        raise UploadTrashed(upload.pk)
    return Receipt(existing, is_new=False)
