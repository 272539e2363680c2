"""Where the files of a form are kept while its request is answered."""

import io
import os
from tempfile import SpooledTemporaryFile
from typing import IO, Any, cast

from django.core.files.uploadedfile import TemporaryUploadedFile, UploadedFile
from django.core.files.uploadhandler import FileUploadHandler

# The small files together, before they go to the disk.
MEMORY_BYTES = 1 << 20
# A larger file has one of its own on the disk, as the child that searches for secrets takes it.
OWN_FILE_BYTES = 1 << 20


class SentFiles(FileUploadHandler):
    """Keeps the small files of a form in one file, and each large one in a file of its own.

    A form may have 12,000 files. Django gives each one on the disk, so two forms took the file
    descriptors of a process.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Closed when the last of its files is forgotten.
        self._shared: IO[bytes] = SpooledTemporaryFile(MEMORY_BYTES)  # noqa: SIM115
        self._end = 0

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        super().new_file(*args, **kwargs)
        self._size = 0
        self._own: TemporaryUploadedFile | None = None

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        if self._own is None and self._size + len(raw_data) > OWN_FILE_BYTES:
            self._move_out()
        (self._own or self._shared).write(raw_data)
        self._size += len(raw_data)

    def file_complete(self, file_size: int) -> "UploadedFile[bytes]":
        if self._own is not None:
            self._own.seek(0)
            self._own.size = file_size
            return self._own
        piece = Piece(self._shared, self._end, self._size)
        self._end += self._size
        return UploadedFile(cast(IO[bytes], piece), size=file_size, **self._described())

    def upload_interrupted(self) -> None:
        if self._own is not None:
            self._own.close()

    def _move_out(self) -> None:
        """The file that is being received gets one of its own."""
        self._own = TemporaryUploadedFile(size=0, **self._described())
        self._shared.seek(self._end)
        self._own.write(self._shared.read(self._size))
        self._shared.seek(self._end)
        self._shared.truncate()

    def _described(self) -> dict[str, Any]:
        return {
            "name": self.file_name,
            "content_type": self.content_type,
            "charset": self.charset,
            "content_type_extra": self.content_type_extra,
        }


class Piece(io.RawIOBase):
    """A part of a file, read as a file. The thread that answers the request reads it alone."""

    def __init__(self, shared: IO[bytes], start: int, size: int) -> None:
        super().__init__()
        self._shared, self._start, self._size = shared, start, size
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def read(self, size: int | None = -1) -> bytes:
        left = max(self._size - self._at, 0)
        self._shared.seek(self._start + self._at)
        block = self._shared.read(left if size is None or size < 0 else min(size, left))
        self._at += len(block)
        return block

    def readall(self) -> bytes:
        return self.read()

    def readinto(self, buffer: Any) -> int:
        block = self.read(len(buffer))
        buffer[: len(block)] = block
        return len(block)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        bases = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}
        self._at = max(bases[whence] + offset, 0)
        return self._at

    def tell(self) -> int:
        return self._at
