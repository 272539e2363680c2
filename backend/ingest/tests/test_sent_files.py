"""The files of a form: what is in them, and how many descriptors they take."""

import io
import os

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile, TemporaryUploadedFile
from django.test import RequestFactory

from backend.ingest.receiving import sent_files
from backend.ingest.receiving.sent_files import OWN_FILE_BYTES


def files_of(*contents):
    """As a view gets them."""
    sent = [SimpleUploadedFile(f"{at}.txt", content) for at, content in enumerate(contents)]
    return RequestFactory().post("/", {"file": sent}).FILES.getlist("file")


def open_files():
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.parametrize("memory_bytes", [0, 1 << 20])
def test_each_file_has_its_own_bytes(monkeypatch, memory_bytes):
    monkeypatch.setattr(sent_files, "MEMORY_BYTES", memory_bytes)
    contents = [
        b"",
        b"one",
        b"x" * 200_000,
        b"y" * OWN_FILE_BYTES,
        b"z" * (OWN_FILE_BYTES + 1),
        b"last",
    ]
    files = files_of(*contents)
    for _ in range(2):
        assert [b"".join(file.chunks(1000)) for file in files] == contents
    assert [file.size for file in files] == list(map(len, contents))
    assert [file.name for file in files] == [f"{at}.txt" for at in range(6)]
    assert [isinstance(file, TemporaryUploadedFile) for file in files] == [False] * 4 + [
        True,
        False,
    ]


def test_a_piece_is_read_as_a_file():
    piece = files_of(b"before", b"0123456789\nabc", b"after")[1].file
    assert (piece.read(4), piece.tell(), piece.read(4)) == (b"0123", 4, b"4567")
    assert (piece.seek(-3, os.SEEK_END), piece.read(100), piece.read()) == (11, b"abc", b"")
    piece.seek(0)
    assert piece.readline() == b"0123456789\n"
    piece.seek(2)
    assert (piece.seek(3, os.SEEK_CUR), piece.readall()) == (5, b"56789\nabc")
    assert piece.seek(100) == 100
    assert piece.read(1) == b""
    piece.seek(0)
    assert io.TextIOWrapper(io.BufferedReader(piece)).read() == "0123456789\nabc"


def test_many_small_files_take_one_descriptor():
    before = open_files()
    files = files_of(*[b"x" * 300] * 11_000)
    assert len(files) == 11_000
    assert open_files() <= before + 2
