"""Secrets in archives: none is stored, and an archive without one does not change."""

import gzip
import io
import json
import lzma
import tarfile
import zipfile
from contextlib import closing
from random import Random

import pytest
import zstandard
from django.test import Client

from backend.api.limits.limit_table import limits
from backend.ingest.models import Artefact, Upload
from backend.ingest.queue.worker import process
from backend.runs.models import Trial
from backend.storage import open_artefact, storage
from backend.testing.uploads import WRK, make_file, make_tenant
from backend.untrusted.archives.archives import files_of
from backend.untrusted.archives.decompress import FREE_BYTES, MAX_FILES, DecompressionRefused
from backend.untrusted.secrets.cleaner import Cleaner
from backend.untrusted.secrets.cleaning import Cleaning
from backend.untrusted.secrets.redaction import MARK
from backend.untrusted.secrets.rewriting import CannotClean, TooLargeToClean

SECRET = "hush-hush-hush"
LINE = f"GET http://h/?token={SECRET}&page=2 HTTP/1.1\n".encode()
GOB = b"\x00\x01 a binary file \xff" * 1000
CLEAN = {
    "run/stdout": WRK.encode() * 200,
    "run/results.bin": GOB,
    "notes.txt": ("\ufeff" + "öäü " * 50).encode("utf-16-le"),
    "empty": b"",
}
PLANTED = {
    **CLEAN,
    "run/stderr": LINE * 3 + b"200 OK\n",
    "windows.log": ("\ufeff" + LINE.decode()).encode("utf-16-le"),
    f"?token={SECRET}&.txt": b"1 ms\n",
    f"?token={SECRET}2&.txt": b"2 ms\n",
}


def zipped(files, method=zipfile.ZIP_DEFLATED):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, (2026, 1, 31, 12, 0, 0)), content, method)
    return data.getvalue()


def tarred(files):
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size, info.mtime = len(content), 1_769_860_800
            archive.addfile(info, io.BytesIO(content))
    return data.getvalue()


def unzip(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {info.filename: archive.read(info) for info in archive.infolist()}


def untar(data):
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        return {info.name: archive.extractfile(info).read() for info in archive}


def unzstd(data):
    return zstandard.ZstdDecompressor().decompressobj().decompress(data)


KINDS = {
    "zip": (zipped, unzip),
    "stored zip": (lambda files: zipped(files, zipfile.ZIP_STORED), unzip),
    "tar": (tarred, untar),
    "tar.gz": (
        lambda files: gzip.compress(tarred(files), mtime=0),
        lambda data: untar(gzip.decompress(data)),
    ),
    "tar.zst": (lambda files: zstandard.compress(tarred(files)), lambda data: untar(unzstd(data))),
}
each_kind = pytest.mark.parametrize(("pack", "unpack"), KINDS.values(), ids=KINDS)


def clean(data):
    return b"".join(Cleaning().cleaned(io.BytesIO(data)))


@each_kind
def test_an_archive_without_a_secret_does_not_change(pack, unpack):
    assert clean(pack(CLEAN)) == pack(CLEAN)


@each_kind
def test_a_secret_is_taken_out_of_each_file_and_name(pack, unpack):
    kept = clean(pack(PLANTED))
    assert unpack(kept) == {
        **CLEAN,
        "run/stderr": LINE.replace(SECRET.encode(), MARK.encode()) * 3 + b"200 OK\n",
        "windows.log": ("\ufeff" + LINE.decode().replace(SECRET, MARK)).encode("utf-16-le"),
        f"?token={MARK}&.txt": b"1 ms\n",
        f"7-?token={MARK}&.txt": b"2 ms\n",
    }
    assert list(unpack(kept))[:4] == list(CLEAN)


@each_kind
def test_the_same_archive_becomes_the_same_bytes_which_pass_again(pack, unpack):
    kept = clean(pack(PLANTED))
    assert clean(pack(PLANTED)) == kept
    assert clean(kept) == kept


def test_comments_and_links_with_a_secret_are_left_out():
    data = io.BytesIO(zipped(CLEAN))
    with zipfile.ZipFile(data, "a") as archive:
        archive.comment = LINE
    assert unzip(data.getvalue()) == unzip(clean(data.getvalue())) == CLEAN
    assert SECRET.encode() not in clean(data.getvalue())
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as archive:
        info = tarfile.TarInfo("latest")
        info.type, info.linkname = tarfile.SYMTYPE, f"run?token={SECRET}"
        archive.addfile(info)
        archive.addfile(tarfile.TarInfo("stdout"))
    assert untar(clean(data.getvalue())) == {"stdout": b""}
    assert SECRET.encode() not in clean(data.getvalue())


def test_a_file_that_the_directory_of_a_zip_does_not_list_is_left_out():
    stored = zipped({"deleted": LINE}, zipfile.ZIP_STORED)
    deleted = stored[: stored.index(b"PK\x01\x02")]
    data = io.BytesIO(deleted)
    data.seek(0, io.SEEK_END)
    with zipfile.ZipFile(data, "a") as archive:
        archive.writestr("stdout", WRK)
    assert SECRET.encode() in data.getvalue()
    kept = clean(data.getvalue())
    assert SECRET.encode() not in kept
    assert unzip(kept) == {"stdout": WRK.encode()}


@pytest.mark.parametrize("text", [WRK.encode(), GOB], ids=["text", "binary"])
def test_a_gzip_file_keeps_no_name_with_a_secret(text):
    data = io.BytesIO()
    with gzip.GzipFile(f"out?token={SECRET}&a", "wb", fileobj=data, mtime=0) as packed:
        packed.write(text)
    assert SECRET.encode() in data.getvalue()
    kept = clean(data.getvalue())
    assert SECRET.encode() not in kept
    assert gzip.decompress(kept) == text


def encrypted():
    data = bytearray(zipped({"a": LINE}))
    data[data.index(b"PK\x01\x02") + 8] |= 1
    return bytes(data)


def damaged(data, at):
    """One byte in the middle is another."""
    return data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :]


def sparse():
    info = tarfile.TarInfo("holes")
    info.type = tarfile.GNUTYPE_SPARSE
    return info.tobuf(tarfile.GNU_FORMAT) + bytes(10_240)


def member(kind, content, name="a"):
    info = tarfile.TarInfo(name)
    info.type, info.size = kind, len(content)
    return info.tobuf(tarfile.GNU_FORMAT) + content + bytes(-len(content) % tarfile.BLOCKSIZE)


def extended(content=LINE, kind=tarfile.REGTYPE, **records):
    """A tar whose only file has an extended header with these records."""
    lines = [b"%s=%s\n" % (key.encode(), value) for key, value in records.items()]
    counted = [b"%d %s" % (len(line) + 3, line) for line in lines]
    assert all(len(line) < 100 and line.startswith(b"%d " % len(line)) for line in counted)
    return member(tarfile.XHDTYPE, b"".join(counted)) + member(kind, content) + bytes(1024)


def sparse_map(content):
    """A sparse file of GNU tar whose map is what it begins with."""
    return extended(content, **{"GNU.sparse.major": b"1", "GNU.sparse.minor": b"0"})


def cut_map():
    """A sparse file of old GNU tar whose map goes on in a block that is not there."""
    head = bytearray(sparse()[: tarfile.BLOCKSIZE])
    head[482] = 1
    head[148:156] = b"%06o\0 " % tarfile.calc_chksums(bytes(head))[0]
    return bytes(head)


BROKEN_TARS = {
    "map without numbers": sparse_map(LINE),
    "map that is cut": sparse_map(b"3\n1\n"),
    "map in the header": extended(**{"GNU.sparse.map": b"0,x"}),
    "size without digits": extended(**{"GNU.sparse.size": b"many"}),
    "map without its end": cut_map(),
    "charset that is no text": extended(hdrcharset=b"\xff"),
    "a thousand headers": member(tarfile.GNUTYPE_LONGNAME, b"a\0") * 1000 + tarred({"a": LINE}),
    # Whoever counted up to its end would do so for years.
    "endless file": extended(size=b"9" * 18),
    "endless device": extended(kind=b"Z", size=b"9" * 18),
}


NOISE = {"a": Random(1).randbytes(200_000).hex().encode() + LINE}
MANY = {f"file-{number}": LINE for number in range(MAX_FILES + 1)}
REFUSED = {
    "encrypted": (encrypted(), "encrypted"),
    "zip in zip": (zipped({"inner.zip": zipped(NOISE)}), r"inner\.zip.*packed itself \(zip\)"),
    "gzip in tar": (tarred({"a.gz": gzip.compress(LINE)}), r"a\.gz.*packed itself \(gzip\)"),
    "tar in tar": (tarred({"b": tarred(NOISE)}), r"packed itself \(tar\)"),
    "zip in gzip": (gzip.compress(zipped(NOISE)), "packed as zip inside gzip"),
    "gzip in gzip": (gzip.compress(gzip.compress(LINE)), "compressed twice"),
    "xz": (lzma.compress(LINE), "packed as xz"),
    "damaged zip": (damaged(zipped(NOISE), 60_000), "zip archive is broken"),
    "damaged gzip": (damaged(gzip.compress(NOISE["a"]), 60_000), "broken"),
    "damaged tar": (damaged(tarred({"b": b"1", **NOISE}), 1100), "broken"),
    "cut zip": (zipped(NOISE)[:60_000], "zip archive is broken"),
    "cut tar": (tarred(NOISE)[:60_000], "tar archive is broken"),
    "cut tar.gz": (gzip.compress(tarred(NOISE))[:60_000], "cut off"),
    "two tars": (tarred(CLEAN) + tarred(NOISE), "more follows after its end"),
    "sparse tar": (sparse(), "sparse"),
    **{name: (data, "tar archive is broken") for name, data in BROKEN_TARS.items()},
    "many files, zip": (zipped(MANY), f"more than {MAX_FILES} files"),
    "many files, tar": (tarred(MANY), f"more than {MAX_FILES} files"),
    "bomb": (zipped({"a": bytes(FREE_BYTES + 1)}), "100 times its size"),
    "bomb, tar.gz": (gzip.compress(tarred({"a": bytes(FREE_BYTES + 1)})), "100 times its size"),
    "bomb, binary": (gzip.compress(bytes(FREE_BYTES + 1)), "100 times its size"),
    "bomb, text": (gzip.compress(b"\n" * (FREE_BYTES + 1)), "100 times its size"),
}


@pytest.mark.parametrize(("data", "sentence"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_searched_to_its_end_is_refused(data, sentence):
    with pytest.raises(CannotClean, match=sentence):
        clean(data)


@pytest.mark.parametrize("data", BROKEN_TARS.values(), ids=BROKEN_TARS)
def test_a_damaged_tar_is_refused_without_a_word_of_what_is_in_it(data):
    with pytest.raises(DecompressionRefused, match="tar archive is broken") as refused:
        files_of("a.tar", lambda: io.BytesIO(data), limit_bytes=FREE_BYTES)
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize("time", [b"inf", b"nan", b"-1", b"1e9"])
def test_a_file_of_any_time_is_packed_again(time):
    assert untar(clean(extended(mtime=time))) == {"a": LINE.replace(SECRET.encode(), MARK.encode())}


@pytest.mark.parametrize("pack", [zipped, tarred, lambda files: gzip.compress(files["a"])])
def test_more_than_the_limit_unpacked_is_refused(settings, pack):
    settings.DECOMPRESSED_MAX_BYTES = 100_000
    with pytest.raises(CannotClean, match="100,000"):
        clean(pack({"a": b"1 ms\n" * 30_000}))


def test_a_file_of_an_archive_is_not_named_by_its_secret():
    with pytest.raises(CannotClean) as refused:
        clean(zipped({f"?token={SECRET}&.gz": gzip.compress(b"x")}))
    assert SECRET not in str(refused.value)


@pytest.fixture
def folder(settings, tmp_path):
    settings.DATA_DIR = tmp_path
    storage.cache_clear()
    yield tmp_path
    storage.cache_clear()


@each_kind
@pytest.mark.django_db
def test_an_uploaded_archive_is_stored_and_given_out_without_its_secrets(folder, pack, unpack):
    tenant = make_tenant()
    files = {"stdout": WRK.encode(), **{name: PLANTED[name] for name in list(PLANTED)[4:]}}
    answer = Client(headers=tenant.headers).post(
        "/api/v1/uploads", {"file": make_file(pack(files))}
    )
    assert answer.status_code == 202, answer.content
    process(answer.json()["id"])
    assert Trial.objects.get().requests_completed is not None
    artefact = Artefact.objects.get()
    with open_artefact(artefact.sha256) as stored:
        kept = stored.read()
    viewer = Client()
    viewer.force_login(tenant.user)
    assert b"".join(viewer.get(f"/a/{artefact.pk}/raw").streaming_content) == kept
    texts = [kept, *(part for file in unpack(kept).items() for part in map(_bytes, file))]
    for form in (SECRET.encode(), SECRET.encode("utf-16-le")):
        assert not [text for text in texts if form in text]
    run = Upload.objects.get().run_id
    for path in (f"/api/v1/runs/{run}", f"/r/{run}", f"/api/v1/compare.csv?run={run}"):
        page = viewer.get(path)
        body = b"".join(page.streaming_content) if page.streaming else page.content
        assert (page.status_code, SECRET.encode() in body) == (200, False)


def _bytes(text):
    return text.encode() if isinstance(text, str) else text


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("name", "status"),
    [("encrypted", 422), ("zip in zip", 422), ("damaged tar", 422), ("bomb, tar.gz", 413)],
)
def test_a_refused_archive_is_not_stored(folder, name, status):
    client = Client(headers=make_tenant().headers)
    answer = client.post("/api/v1/uploads", {"file": make_file(REFUSED[name][0])})
    assert answer.status_code == status
    assert "archive" in json.dumps(answer.json()) or "unpacks" in json.dumps(answer.json())
    assert not Upload.objects.exists()
    assert [path for path in folder.rglob("*") if path.is_file()] == []


def test_the_number_of_files_is_among_the_limits():
    rows = {row.name: row for row in limits()}
    assert (rows["archive_files"].value, rows["archive_files"].status) == (MAX_FILES, 413)


NOISE = Random(1).randbytes(200_000).hex().encode()
GROWING = {
    "plain": LINE + NOISE,
    "gzip": gzip.compress(LINE + NOISE),
    "zip": zipped({"a": LINE + NOISE, "b": NOISE}),
    "tar": tarred({"a": LINE + NOISE, "b": NOISE}),
}


@pytest.mark.long
@pytest.mark.parametrize("form", GROWING)
def test_a_file_that_grows_beyond_the_limit_names_it(form, settings, tmp_path):
    """Were the storage said to be away, the sender would send it again for ever."""
    settings.UPLOAD_MAX_BYTES = 100
    source = tmp_path / "source"
    source.write_bytes(GROWING[form])
    with (
        closing(Cleaner()) as child,
        pytest.raises(TooLargeToClean, match="more than 300 bytes, the limit of"),
    ):
        child.clean_file(source, tmp_path / "target")
