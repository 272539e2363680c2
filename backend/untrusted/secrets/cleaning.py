"""Removes secrets from an upload before anything of it is stored.

The agent does so before it sends. For curl and browsers, only the service can do it. The rules are
the agent's own (`redaction`), so what it cleaned passes unchanged, byte for byte.

Small plain files are cleaned here, others in a child process under limits: unpacking and long
searches would keep the other threads of a web process waiting. Plain files that are not much larger
have slots of their own, because packed files may take minutes (slots.py). A small packed file has a
short attempt there first, so that it does not wait behind those that take minutes.
"""

import hashlib
import tempfile
from collections.abc import Hashable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from backend.storage import CHUNK_BYTES
from backend.untrusted.limits import INLINE_FILE_BYTES, INLINE_REQUEST_BYTES, SHORT_BYTES
from backend.untrusted.sandbox.fair_slots import NOBODYS
from backend.untrusted.sandbox.quick_sandbox import QuickLimits
from backend.untrusted.secrets.cleaners import Work, cleaner
from backend.untrusted.secrets.rewriting import REDACTOR, clean_bytes, is_plain


def clean_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Short JSON without secrets."""
    cleaned: dict[str, Any] = REDACTOR.value(fields)
    return cleaned


def clean_name(name: str) -> str:
    return REDACTOR.text(name)


class Cleaning:
    """The files of one request, one after the other. `payer`: whose turns they take."""

    def __init__(self, payer: Hashable = NOBODYS) -> None:
        self._payer = payer
        self._inline_left = INLINE_REQUEST_BYTES

    def cleaned(self, file: IO[bytes], *, quick: QuickLimits | None = None) -> Iterator[bytes]:
        """The file's bytes without secrets; what holds none passes byte for byte.

        `quick`: what the search may take for a preview, which is less than for an upload.
        Raises CannotClean and Busy, here or while the bytes are read.
        """
        file.seek(0)
        beginning = file.read(SHORT_BYTES + 1)
        is_text = is_plain(beginning)
        if is_text and len(beginning) <= min(INLINE_FILE_BYTES, self._inline_left):
            self._inline_left -= len(beginning)
            return iter((clean_bytes(beginning),))
        is_small = len(beginning) <= SHORT_BYTES
        work = Work(self._payer, is_small and is_text)
        # A preview has few seconds in all, and its own slots.
        attempt = Work(self._payer, is_short=True) if is_small and quick is None else None
        return _cleaned_apart(file, work, quick, attempt=None if is_text else attempt)


def _cleaned_apart(
    file: IO[bytes], work: Work, quick: QuickLimits | None, *, attempt: Work | None
) -> Iterator[bytes]:
    with tempfile.TemporaryDirectory(prefix="cleaning-") as folder:
        target, is_changed = Path(folder) / "target", None
        # A turn ends before the bytes are stored.
        if attempt is not None:
            with cleaner(attempt) as child:
                source = _on_disk(file, Path(folder) / "source")
                is_changed = child.try_file(source, target)
        if is_changed is None:
            with cleaner(work) as child:
                source = _on_disk(file, Path(folder) / "source")
                is_changed = child.clean_file(source, target, quick)
        if not is_changed:
            yield from _chunks(file)
            return
        with target.open("rb") as rewritten:
            yield from _chunks(rewritten)


def _on_disk(file: IO[bytes], copy: Path) -> Path:
    """Where the child finds the file: large ones are on the disk already."""
    name = getattr(file, "name", None)
    if isinstance(name, str) and Path(name).is_file():
        file.flush()
        return Path(name)
    with copy.open("wb") as out:
        out.writelines(_chunks(file))
    return copy


def _chunks(file: IO[bytes]) -> Iterator[bytes]:
    file.seek(0)
    return iter(lambda: file.read(CHUNK_BYTES), b"")


def hash_of(chunks: Iterable[bytes]) -> str:
    """SHA-256 in hex."""
    digest = hashlib.sha256()
    for chunk in chunks:
        digest.update(chunk)
    return digest.hexdigest()


def clean_envelope(
    envelope: Mapping[str, Any], *, size_bytes: int, payer: Hashable = NOBODYS
) -> dict[str, Any]:
    """The envelope without secrets; the plan's hash stays that of the plan that is kept."""
    if size_bytes <= INLINE_FILE_BYTES:
        cleaned = clean_fields(envelope)
    else:
        with cleaner(Work(payer, is_short=size_bytes <= SHORT_BYTES)) as child:
            cleaned = child.clean_json(envelope)
    plan = _plan_of(cleaned)
    if plan is not None and plan != _plan_of(envelope):
        cleaned["run"]["plan_sha256"] = hashlib.sha256(plan.encode()).hexdigest()
    return cleaned


def _plan_of(envelope: Mapping[str, Any]) -> str | None:
    """None too where its place holds something else: the envelope is not checked yet."""
    run = envelope.get("run")
    plan = run.get("plan") if isinstance(run, Mapping) else None
    return plan if isinstance(plan, str) else None
