"""Both storages keep one promise: the same tests run over files and over S3."""

import contextlib
import gzip
import hashlib
import io
import time
import uuid
from types import SimpleNamespace

import boto3
import pytest
from botocore.exceptions import ClientError
from moto.server import ThreadedMotoServer

from backend.ingest.preview import preview as previewing
from backend.storage import FileStorage, S3Storage, StorageAway
from backend.testing.s3_server import BUCKET, MISSING, S3Server, find_program

TEXT = b"Requests/sec: 6000\n" * 1000


@pytest.fixture(scope="module")
def s3_server():
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def s3(s3_server, monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    bucket = f"artefacts-{uuid.uuid4()}"
    boto3.client("s3", endpoint_url=s3_server).create_bucket(Bucket=bucket)
    return S3Storage(bucket, s3_server)


@pytest.fixture(scope="module")
def versitygw(tmp_path_factory):
    if find_program() is None:
        pytest.skip(MISSING)
    server = S3Server(tmp_path_factory.mktemp("s3"))
    server.start()
    yield server
    server.stop()


@pytest.fixture
def real_s3(versitygw, monkeypatch):
    """A server that is no imitation, as `scripts/bench scale` uses it; its bucket is emptied."""
    for name, value in versitygw.variables.items():
        monkeypatch.setenv(name, value)
    # It keeps the credentials that it was made with.
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)
    store = S3Storage(BUCKET, versitygw.url)
    yield store
    for entry in store.list():
        store.remove(entry.name)
    for part in store.list_parts():
        store.remove_part(part.name)


@pytest.fixture(params=["files", "s3", "real_s3"])
def store(request, tmp_path):
    if request.param == "files":
        return FileStorage(tmp_path / "artefacts")
    return request.getfixturevalue(request.param)


def test_what_is_put_is_read_back(store):
    stored = store.put([TEXT[:100], TEXT[100:]])
    assert stored.sha256 == hashlib.sha256(TEXT).hexdigest()
    assert stored.size_bytes == len(TEXT)
    with store.open(stored.sha256) as body:
        assert body.read() == TEXT


@pytest.mark.parametrize("data", [b"", b"\x00\xff" * 500_000])
def test_any_bytes_are_kept(store, data):
    stored = store.put([data])
    with store.open(stored.sha256) as body:
        assert body.read() == data


def test_the_same_bytes_are_the_same_object(store):
    assert store.put([TEXT]) == store.put([TEXT])


def test_a_part_is_apart_and_can_be_removed(store):
    stored = store.put([TEXT])
    part = store.put_part("a-name", [TEXT[:100], TEXT[100:]])
    assert part == stored
    with contextlib.closing(store.open_part("a-name")) as body:
        assert body.read() == TEXT
    store.remove_part("a-name")
    store.remove_part("a-name")
    with pytest.raises(FileNotFoundError):
        store.open_part("a-name")
    with store.open(stored.sha256) as body:
        assert body.read() == TEXT


def test_stored_bytes_are_listed_and_can_be_removed(store):
    began = time.time()
    stored = store.put([TEXT])
    store.put_part("a-name", [TEXT[:100]])
    assert [(entry.name, entry.size_bytes) for entry in store.list()] == [
        (stored.sha256, len(TEXT))
    ]
    assert abs(next(store.list()).written_at_s - began) < 24 * 3600
    assert [(entry.name, entry.size_bytes) for entry in store.list_parts()] == [("a-name", 100)]
    assert list(store.list_unfinished()) == []
    assert store.has(stored.sha256)
    store.remove(stored.sha256)
    store.remove(stored.sha256)
    assert not store.has(stored.sha256)
    assert list(store.list()) == []
    assert [entry.name for entry in store.list_parts()] == ["a-name"]


def test_a_bucket_shared_with_others_lists_only_artefacts(s3):
    s3.client.put_object(Bucket=s3.bucket, Key="somebody/else.txt", Body=b"x")
    s3.client.put_object(Bucket=s3.bucket, Key="README", Body=b"x")
    stored = s3.put([TEXT])
    assert [entry.name for entry in s3.list()] == [stored.sha256]


def test_what_a_killed_process_wrote_is_listed_and_can_be_removed(tmp_path):
    store = FileStorage(tmp_path / "artefacts")
    (store.root / "incoming-abc").write_bytes(b"half")
    assert [entry.name for entry in store.list_unfinished()] == ["incoming-abc"]
    store.remove_unfinished("incoming-abc")
    assert list(store.list_unfinished()) == []


MIB = 1 << 20


@pytest.fixture(params=["s3", "real_s3"])
def bucket(request, monkeypatch):
    monkeypatch.setattr("backend.storage.s3.PART_BYTES", 5 * MIB)  # the smallest that S3 takes
    return request.getfixturevalue(request.param)


@pytest.mark.parametrize(("mib", "parts"), [(5, None), (11, 3)])
def test_what_is_too_large_for_one_request_is_sent_in_parts(bucket, mib, parts):
    """S3 refuses a single request above 5 GiB, as an export may be."""
    pieces = [bytes([number]) * MIB for number in range(mib)]
    stored = bucket.put(pieces)
    assert stored.sha256 == hashlib.sha256(b"".join(pieces)).hexdigest()
    with bucket.open(stored.sha256) as body:
        assert body.read() == b"".join(pieces)
    # Of parts, the ETag tells how many there are.
    etag = bucket.client.head_object(Bucket=bucket.bucket, Key=stored.sha256)["ETag"].strip('"')
    assert etag.partition("-")[2] == ("" if parts is None else str(parts))
    assert list(bucket.list_unfinished()) == []


def test_while_parts_are_sent_the_caller_is_asked_and_may_end_it(bucket):
    pieces = [bytes([number]) * MIB for number in range(11)]
    asked = []
    bucket.put(pieces, meanwhile=lambda: asked.append(1))
    assert len(asked) >= 3

    def end():
        raise KeyError("taken over")

    with pytest.raises(KeyError):
        bucket.put([b"another", *pieces], meanwhile=end)
    assert list(bucket.list_unfinished()) == []


def test_5_gib_and_more_fit_into_as_many_parts_as_s3_takes(s3, monkeypatch):
    calls = []
    monkeypatch.setattr(s3.client, "upload_fileobj", lambda *_, **given: calls.append(given))
    s3.put([TEXT])
    config = calls[0]["Config"]
    assert config.multipart_threshold < 5 << 30
    assert config.multipart_chunksize * 10_000 > 300 << 30


def test_parts_of_a_killed_process_are_listed_and_can_be_removed(bucket):
    began = time.time()
    ids = [
        bucket.client.create_multipart_upload(Bucket=bucket.bucket, Key=key)["UploadId"]
        for key in ("0" * 64, "of-somebody-else")
    ]
    (unfinished,) = bucket.list_unfinished()
    assert unfinished.name == f"{'0' * 64} {ids[0]}"
    # The imitation says the same day of 2010 of each.
    assert unfinished.written_at_s < began + 24 * 3600
    for _ in range(2):
        bucket.remove_unfinished(unfinished.name)
    assert list(bucket.list_unfinished()) == []
    bucket.remove_unfinished(f"of-somebody-else {ids[1]}")


def test_a_bucket_that_may_not_be_asked_for_unfinished_objects_is_collected_all_the_same(
    s3, monkeypatch
):
    def refuse(code):
        error = ClientError({"Error": {"Code": code}}, "ListMultipartUploads")
        pages = SimpleNamespace(paginate=lambda **_: raised(error))
        monkeypatch.setattr(s3.client, "get_paginator", lambda _: pages)

    refuse("AccessDenied")
    assert list(s3.list_unfinished()) == []
    refuse("InternalError")
    with pytest.raises(StorageAway):
        list(s3.list_unfinished())


def raised(error):
    raise error
    yield


def test_a_local_file_for_the_parser(store):
    with store.local_path(store.put([TEXT]).sha256) as path:
        assert path.read_bytes() == TEXT


def test_what_was_never_put_is_not_found(store):
    missing = hashlib.sha256(b"never put").hexdigest()
    with pytest.raises(FileNotFoundError):
        store.open(missing)
    with pytest.raises(FileNotFoundError), store.local_path(missing):
        pass


def test_a_source_that_breaks_off_stores_nothing(store):
    def cut_off():
        yield TEXT
        raise RuntimeError("the sender is gone")

    with pytest.raises(RuntimeError):
        store.put(cut_off())
    with pytest.raises(FileNotFoundError):
        store.open(hashlib.sha256(TEXT).hexdigest())


@pytest.mark.parametrize("packed", [TEXT, gzip.compress(TEXT)])
def test_a_preview_reads_from_either(store, packed, monkeypatch):
    stored = store.put([packed])
    monkeypatch.setattr(previewing, "open_artefact", store.open)
    shown = previewing.preview(stored.sha256, limit_bytes=100)
    assert (shown.text, shown.truncated) == (TEXT[:100].decode(), True)


class CountedFile(io.BytesIO):
    """Counts the bytes that are read of it."""

    count = 0

    def read(self, size=-1):
        data = super().read(size)
        self.count += len(data)
        return data


@pytest.mark.parametrize("packed", ["name", "members"])
def test_a_preview_looks_at_the_beginning_of_a_file_that_unpacks_to_nothing(packed, monkeypatch):
    """A name of any length stands before the content; Python's gzip reads it byte by byte."""
    long_name = b"\x1f\x8b\x08\x08" + bytes(6) + b"n" * (8 * previewing.STORED_BYTES) + b"\0"
    beginning = {"name": long_name, "members": gzip.compress(b"") * 100_000}[packed]
    file = CountedFile(beginning + gzip.compress(TEXT)[10:])
    monkeypatch.setattr(previewing, "open_artefact", lambda _: file)
    assert previewing.preview("") == previewing.Preview("", truncated=True)
    assert file.count <= previewing.STORED_BYTES


def test_a_bucket_that_is_not_there_is_a_storage_away(s3, s3_server):
    store = S3Storage("no-such-bucket", s3_server)
    for use in (lambda: store.put([TEXT]), lambda: store.open("0" * 64)):
        with pytest.raises(StorageAway, match="bucket"):
            use()


def test_an_s3_that_does_not_answer_is_a_storage_away(s3):
    store = S3Storage(s3.bucket, "http://127.0.0.1:1")
    for use in (lambda: store.put([TEXT]), lambda: store.open("0" * 64)):
        with pytest.raises(StorageAway, match=r"127\.0\.0\.1"):
            use()
