"""Secrets that only this machine knows are taken out of packed files too."""

from __future__ import annotations

import gzip
import io
import os
import tarfile
import zipfile
from pathlib import Path

import pytest
from agent_fakes import TOKEN, FakeService, run_agent

from loadsheet_agent.errors import UsageError
from loadsheet_agent.exits import Exit
from loadsheet_agent.upload.packed import redact
from loadsheet_agent.upload.redaction import MARK, Redactor

# No rule knows it by its place or shape.
SECRET = "correct horse battery"
REDACTOR = Redactor({SECRET})
FIGURES = "Requests/sec: 1234.56\n" * 50_000
FILES = {
    "report.txt": f"seen: {SECRET}\n{FIGURES}".encode(),
    "logs/plain.txt": FIGURES.encode(),
    "bin/results.gob": b"\0\1" + SECRET.encode(),
}


def gzip_of(files: dict[str, bytes]) -> bytes:
    return gzip.compress(files["report.txt"])


def zip_of(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("logs/", b"")
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def tar_of(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return out.getvalue()


def tar_gz_of(files: dict[str, bytes]) -> bytes:
    return gzip.compress(tar_of(files))


def files_in(packed: bytes) -> dict[str, bytes]:
    if packed.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(packed)) as archive:
            return {name: archive.read(name) for name in archive.namelist() if name[-1] != "/"}
    if packed.startswith(b"\x1f\x8b"):
        packed = gzip.decompress(packed)
    if packed[257:262] != b"ustar":
        return {"report.txt": packed}
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        return {info.name: archive.extractfile(info).read() for info in archive}


PACKINGS = [gzip_of, zip_of, tar_of, tar_gz_of]


@pytest.mark.parametrize("pack", PACKINGS)
def test_a_known_secret_is_taken_out_and_no_figure_changes(pack, tmp_path: Path):
    path = tmp_path / "packed"
    path.write_bytes(pack(FILES))

    assert redact(path, REDACTOR)

    kept = files_in(path.read_bytes())
    assert kept["report.txt"].decode() == f"seen: {MARK}\n{FIGURES}"
    for name in set(kept) - {"report.txt"}:
        assert kept[name] == FILES[name]
    assert len(kept) == (1 if pack is gzip_of else 3)
    assert os.listdir(tmp_path) == ["packed"]


@pytest.mark.parametrize("pack", PACKINGS)
def test_a_packed_file_without_secrets_stays_the_same_to_the_byte(pack, tmp_path: Path):
    path = tmp_path / "packed"
    before = pack({"report.txt": FIGURES.encode(), "two.txt": b"2\n"})
    path.write_bytes(before)

    assert not redact(path, REDACTOR)

    assert path.read_bytes() == before


@pytest.mark.parametrize("pack", [zip_of, tar_of, tar_gz_of])
def test_a_secret_in_a_name_is_taken_out(pack, tmp_path: Path):
    path = tmp_path / "packed"
    path.write_bytes(pack({f"{SECRET}.txt": b"100\n"}))

    assert redact(path, REDACTOR)

    assert files_in(path.read_bytes()) == {f"{MARK}.txt": b"100\n"}


def test_a_damaged_file_with_a_secret_is_refused_and_one_without_is_left_to_the_service(
    tmp_path: Path,
):
    path = tmp_path / "report.gz"
    path.write_bytes(gzip_of(FILES)[:-20])
    with pytest.raises(UsageError, match=r"report.gz contains a secret .* Unpack it"):
        redact(path, REDACTOR)

    for content in (gzip_of({"report.txt": FIGURES.encode()})[:-20], b"\x1f\x8b", zip_of({})[:9]):
        path.write_bytes(content)
        assert not redact(path, REDACTOR)
        assert path.read_bytes() == content


@pytest.mark.processes
def test_an_upload_sends_no_archive_with_the_agents_token(service: FakeService, tmp_path: Path):
    path = tmp_path / "results.zip"
    path.write_bytes(zip_of({"report.txt": f"{FIGURES}{TOKEN}\n".encode()}))

    done = run_agent("upload", path, *service.flags)

    assert done.returncode == Exit.OK, done.stderr
    (upload,) = service.uploads.values()
    assert TOKEN.encode() not in files_in(upload.files["results.zip"])["report.txt"]
    assert TOKEN.encode() in files_in(path.read_bytes())["report.txt"], "the original is left alone"
    assert "Secrets were removed from the copy of results.zip" in done.stderr


@pytest.mark.processes
def test_a_refused_file_leaves_nothing_in_the_spool(service: FakeService, tmp_path: Path):
    path, spool = tmp_path / "report.gz", tmp_path / "spool"
    path.write_bytes(gzip.compress(f"{TOKEN}\n{FIGURES}".encode())[:-20])

    done = run_agent("upload", path, "--spool", spool, *service.flags)

    assert done.returncode == Exit.USAGE
    assert "report.gz contains a secret" in done.stderr
    assert not [file for file in spool.rglob("*") if file.is_file()]
    assert not service.uploads
