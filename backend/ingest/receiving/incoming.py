"""The files of an upload as a request brings them: names, hashes, sizes, and what is refused."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import IO, Protocol, cast

from django.conf import settings

from backend.errors import TooLarge
from backend.ingest.artefacts.parts import Whole
from backend.ingest.envelope.envelope import Envelope
from backend.ingest.envelope.envelope_errors import EnvelopeError
from backend.ingest.receiving.priority import SMALL_BYTES
from backend.untrusted.limits import FILES
from backend.untrusted.secrets.cleaning import clean_name, hash_of


class UploadTooLarge(TooLarge):
    """More bytes than this installation accepts."""


class IncomingFile(Protocol):
    """A file as the request gives it."""

    @property
    def name(self) -> str | None: ...
    @property
    def size(self) -> int | None: ...
    @property
    def file(self) -> IO[bytes] | None: ...

    def chunks(self, chunk_size: int | None = None) -> Iterable[bytes]: ...


@dataclass(frozen=True, slots=True)
class Arrived:
    """A file by its name and the SHA-256 it has as it was sent."""

    name: str
    sha256: str
    content: IncomingFile | Whole


def arrived_files(contents: Sequence[IncomingFile | Whole]) -> list[Arrived]:
    """The files by names without secrets, each name once. Raises EnvelopeError."""
    names = _unique_names([clean_name(content.name or "artefact") for content in contents])
    hashes = [
        content.sha256 if isinstance(content, Whole) else hash_of(content.chunks())
        for content in contents
    ]
    return list(map(Arrived, names, hashes, contents))


def beginnings_of(files: Sequence[IncomingFile]) -> list[bytes]:
    """Of each file as much as tells whether it is small."""
    beginnings = []
    for file in files:
        content = cast(IO[bytes], file.file)
        content.seek(0)
        beginnings.append(content.read(SMALL_BYTES + 1))
    return beginnings


def _unique_names(given: Sequence[str]) -> list[str]:
    names = [name[:200] for name in given]
    if any("\0" in name for name in names):
        raise EnvelopeError("a file's name", names, "no NUL")
    if len(set(names)) == len(names):
        return names
    return [f"{position}-{name}" for position, name in enumerate(names)]


def check_sizes(files: Sequence[IncomingFile], wholes: Sequence[Whole]) -> None:
    """Raises EnvelopeError for too many files, and UploadTooLarge."""
    if (count := len(files) + len(wholes)) > FILES:
        raise EnvelopeError("the number of files", count, f"at most {FILES}")
    total = sum(file.size or 0 for file in files) + sum(whole.size_bytes for whole in wholes)
    if total > settings.UPLOAD_MAX_BYTES:
        raise UploadTooLarge(
            f"This upload has {total:,} bytes; at most {settings.UPLOAD_MAX_BYTES:,} are accepted."
        )


def check_references(envelope: Envelope, names: Sequence[str], *, has_parts: bool) -> None:
    """Raises EnvelopeError where a trial names a file that was not sent, or where parts were sent
    and the envelope does not say under which id."""
    if has_parts and envelope.upload_id is None:
        raise EnvelopeError("id", None, "the id under which the parts were sent")
    sent_names = set(names)
    for entry in envelope.entries:
        missing = [name for name in entry.artefacts or () if name not in sent_names]
        if missing:
            where = f"trials[{entry.ordinal}].artefacts"
            raise EnvelopeError(where, missing[0], "the name of a file sent with the envelope")
