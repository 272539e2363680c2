"""Small artefacts as rows of the database, in front of the storage of all others.

A small upload, and one of many small files, is then durable with one commit, which many uploads
share, in the place of two flushed writes for each file. Rows are written in the statement that
writes the upload (insert.py), read and removed here.
"""

import contextlib
import io
import tempfile
from collections.abc import Collection, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, cast

from backend.storage.interface import Listed, Storage
from backend.storage.models import SmallContent

LISTED_AT_ONCE = 2000


class RowsFirst:
    """Looks for an artefact among the rows, and in `rest` where it has none. Everything else, also
    storing, is done by `rest`."""

    def __init__(self, rest: Storage) -> None:
        self.rest = rest

    def __getattr__(self, name: str) -> Any:
        return getattr(self.rest, name)

    def open(self, sha256: str) -> BinaryIO:
        content = _content_of(sha256)
        return self.rest.open(sha256) if content is None else io.BytesIO(content)

    @contextlib.contextmanager
    def local_path(self, sha256: str) -> Iterator[Path]:
        content = _content_of(sha256)
        with contextlib.ExitStack() as files:
            if content is None:
                yield files.enter_context(self.rest.local_path(sha256))
                return
            copy = files.enter_context(tempfile.NamedTemporaryFile(prefix="artefact-"))
            copy.write(content)
            copy.flush()
            yield Path(copy.name)

    def has(self, sha256: str) -> bool:
        return self.has_all([sha256])

    def has_all(self, sha256s: Collection[str]) -> bool:
        rows = SmallContent.objects.filter(pk__in=sha256s).values_list("pk", flat=True)
        return self.rest.has_all(set(sha256s) - set(rows))

    def list(self) -> Iterator[Listed]:
        columns = ("sha256", "size_bytes", "stored_at")
        rows = SmallContent.objects.order_by().values_list(*columns).iterator(LISTED_AT_ONCE)
        return chain(
            (Listed(name, size, at.timestamp()) for name, size, at in rows), self.rest.list()
        )

    def remove(self, sha256: str) -> None:
        SmallContent.objects.filter(pk=sha256).delete()
        self.rest.remove(sha256)


def rows_first(rest: Storage) -> Storage:
    """The storage `rest` with the rows before it."""
    return cast(Storage, RowsFirst(rest))


def _content_of(sha256: str) -> bytes | None:
    content = SmallContent.objects.filter(pk=sha256).values_list("content", flat=True).first()
    return None if content is None else bytes(content)


def contents_of(sha256s: Iterable[str]) -> dict[str, bytes]:
    """The contents of those artefacts that are rows."""
    rows = SmallContent.objects.filter(pk__in=set(sha256s)).values_list("pk", "content")
    return {name: bytes(content) for name, content in rows}
