"""Pieces of bytes, made one after the other, as a stream that cannot go back."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO, cast

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

BUFFER_BYTES = 1 << 20


def stream_of(pieces: Iterator[bytes]) -> BinaryIO:
    """The pieces as one stream; what making them raises is raised by reading."""
    return cast(BinaryIO, io.BufferedReader(_Pieces(pieces), BUFFER_BYTES))


class _Pieces(io.RawIOBase):
    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._piece = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        while not self._piece:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._piece = memoryview(piece)
        target = memoryview(buffer).cast("B")
        count = min(len(target), len(self._piece))
        target[:count] = self._piece[:count]
        self._piece = self._piece[count:]
        return count
