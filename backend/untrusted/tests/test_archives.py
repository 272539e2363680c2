"""One trial's files in one archive are read as if they had come side by side."""

import gzip
import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from backend.formats import FormatError, parse
from backend.formats.tests.test_techempower import RAW
from backend.ingest.queue.worker import process
from backend.runs.models import Trial
from backend.testing.uploads import WRK, make_tenant, make_upload
from backend.untrusted.archives import tar_members
from backend.untrusted.archives.archives import files_of
from backend.untrusted.archives.decompress import FREE_BYTES, MAX_FILES, DecompressionRefused
from backend.untrusted.archives.tar_members import MAX_FAR_FILES

CASE = Path(__file__).parents[2] / "formats/ab/tests/captures/rand-c10-tsv-csv"
FILES = {name: (CASE / name).read_bytes() for name in ("stdout", "plot.tsv", "pct.csv")}
LIMIT = 256 << 20


@pytest.fixture
def tenant(db):
    return make_tenant()


def zipped(files, **options):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED, **options) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return data.getvalue()


def tarred(files, mode="w"):
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode=mode) as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            if not name.isprintable():
                # Only here a name may have any character.
                info.pax_headers = {"path": name}
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return data.getvalue()


PACKERS = {
    "zip": zipped,
    "tar": tarred,
    "tar.gz": lambda files: gzip.compress(tarred(files)),
}


def unpack(data, limit_bytes=LIMIT):
    return files_of("results", lambda: io.BytesIO(data), limit_bytes=limit_bytes)


def contents(data, **limits):
    return {file.name: file.open().read() for file in unpack(data, **limits)}


@pytest.mark.parametrize("pack", PACKERS.values(), ids=PACKERS)
def test_the_files_of_an_archive_are_those_that_were_packed(pack):
    assert contents(pack(FILES)) == FILES
    # Read again, and in another order.
    files = unpack(pack(FILES))
    assert [file.open().read() for file in reversed(files)] == list(reversed(FILES.values()))


@pytest.mark.parametrize("pack", PACKERS.values(), ids=PACKERS)
def test_an_archive_is_read_as_its_files_side_by_side(pack):
    (trial,) = parse(unpack(pack({**FILES, "README.md": b"# My results"})))
    assert (trial.tool, trial.latency_origin, trial.samples) == ("ab", "samples", 1000)
    assert trial.requests_completed == 1000


@pytest.mark.parametrize("pack", PACKERS.values(), ids=PACKERS)
def test_of_paths_only_names_are_kept_unless_they_are_alike(pack):
    files = {"../../etc/stdout": b"1", "/root/plan": b"2", "a/stderr": b"3", "b/stderr": b"4"}
    assert list(contents(pack(files))) == ["stdout", "plan", "a/stderr", "b/stderr"]


def test_links_and_devices_are_no_files():
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as archive:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE):
            info = tarfile.TarInfo(f"of kind {kind}")
            info.type, info.linkname = kind, "/etc/passwd"
            archive.addfile(info)
        info = tarfile.TarInfo("stdout")
        info.size = 3
        archive.addfile(info, io.BytesIO(b"abc"))
    assert contents(data.getvalue()) == {"stdout": b"abc"}


def test_an_archive_in_an_archive_is_not_opened():
    inner = zipped(FILES)
    assert contents(zipped({"inner.zip": inner})) == {"inner.zip": inner}
    with pytest.raises(FormatError, match="We don't recognise this"):
        parse(unpack(zipped({"inner.zip": inner})))


def test_a_file_that_is_no_archive_is_itself():
    assert contents(gzip.compress(b"abc")) == {"results": b"abc"}
    assert contents(b"") == {"results": b""}


@pytest.mark.parametrize("name", PACKERS)
def test_too_many_files_are_refused(name):
    files = {f"file-{number}": b"x" for number in range(MAX_FILES + 1)}
    with pytest.raises(DecompressionRefused, match=f"more than {MAX_FILES} files"):
        unpack(PACKERS[name](files))
    files.popitem()
    assert len(unpack(PACKERS[name](files))) == MAX_FILES


def test_many_files_of_a_tar_are_read_in_one_pass(monkeypatch):
    data = tarred({f"file-{number}": b"%d" % number for number in range(MAX_FILES)})
    passes, real = [], tarfile.open
    monkeypatch.setattr(
        "backend.untrusted.archives.tar_members.tarfile.open",
        lambda **options: passes.append(1) or real(**options),
    )
    for file in unpack(data)[::-1]:
        assert file.open().read() == file.name.removeprefix("file-").encode()
    assert len(passes) == 1


def test_few_files_of_a_tar_are_behind_what_is_kept_in_memory(monkeypatch):
    monkeypatch.setattr(tar_members, "KEPT_TAR_BYTES", 1 << 20)
    files = {"large": bytes(1 << 20)} | {f"f{number}": b"x" for number in range(MAX_FAR_FILES)}
    assert contents(tarred(files)) == files
    with pytest.raises(DecompressionRefused, match=r"behind its first 1 MiB.*a zip archive"):
        unpack(tarred(files | {"one more": b"x"}))


def test_the_directory_of_a_zip_is_read_once(monkeypatch):
    data = zipped({f"file-{number}": b"%d" % number for number in range(MAX_FILES)})
    opened, real = [], zipfile.ZipFile
    monkeypatch.setattr(
        "backend.untrusted.archives.archives.zipfile.ZipFile",
        lambda file: opened.append(1) or real(file),
    )
    files = unpack(data)
    # In any order, and again.
    for file in (*files[::-1], *files):
        with file.open() as stream:
            assert stream.read() == file.name.removeprefix("file-").encode()
    assert len(opened) == 1


@pytest.mark.parametrize("pack", PACKERS.values(), ids=PACKERS)
def test_more_bytes_than_the_limit_are_refused(pack):
    with pytest.raises(DecompressionRefused, match="more than 5,000"):
        contents(pack({"a": b"x" * 4000, "b": b"y" * 4000}), limit_bytes=5000)


def test_a_bomb_is_refused_by_the_sizes_it_declares():
    with pytest.raises(DecompressionRefused, match="times its size"):
        unpack(zipped({"bomb": bytes(FREE_BYTES + 1)}))


def test_a_zip_that_declares_less_than_it_holds_gives_no_more():
    data = bytearray(zipped({"a": b"x" * 100_000}))
    # The size unpacked stands in the directory at the end.
    at = data.index(b"PK\x01\x02") + 24
    data[at : at + 4] = (10).to_bytes(4, "little")
    (file,) = unpack(bytes(data))
    with pytest.raises(DecompressionRefused, match="broken"):
        file.open().read()


@pytest.mark.parametrize("pack", PACKERS.values(), ids=PACKERS)
def test_a_broken_archive_is_refused_or_read_in_part(pack):
    whole = pack(FILES)
    for cut in range(0, len(whole), len(whole) // 50 + 1):
        try:
            contents(whole[:cut])
        except DecompressionRefused as refused:
            assert str(refused).endswith(".")  # noqa: PT017  either way is right


def test_an_encrypted_zip_is_refused():
    data = bytearray(zipped({"a": b"x"}))
    data[data.index(b"PK\x01\x02") + 8] |= 1
    with pytest.raises(DecompressionRefused, match="encrypted"):
        unpack(bytes(data))


def test_files_of_two_tools_are_told():
    with pytest.raises(FormatError, match=r"ab and wrk\. One trial has one tool"):
        parse(unpack(zipped({"ab": FILES["stdout"], "wrk": WRK.encode()})))


@pytest.mark.parametrize("pack", PACKERS.values(), ids=PACKERS)
def test_an_upload_of_an_archive_is_one_trial(tenant, pack):
    upload = make_upload(tenant, pack(FILES))
    process(upload.pk)
    upload.refresh_from_db()
    trial = Trial.objects.get(run=upload.run_id)
    assert (trial.requests_completed, trial.percentiles_origin) == (1000, "computed")
    artefact = upload.artefacts.get()
    assert list(trial.artefacts.all()) == [artefact]


@pytest.mark.parametrize("mark", ["\udcff", "\0"], ids=["no UTF-8", "NUL"])
def test_a_path_that_cannot_be_stored_names_the_workload_all_the_same(tenant, mark):
    upload = make_upload(tenant, tarred({f"results/te{mark}st/netty/raw": RAW.encode()}))
    process(upload.pk)
    upload.refresh_from_db()
    names = Trial.objects.filter(run=upload.run_id).values_list("cell__series__workload__name")
    assert set(names) == {("te\N{REPLACEMENT CHARACTER}st",)}
