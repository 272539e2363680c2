"""What is stored of an upload holds no secret, and every number that it held."""

import gzip
import io
import json
import logging
import string
import uuid
import zipfile
from functools import partial
from pathlib import Path
from random import Random

import pytest
import zstandard
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client

from backend.config.environment.logs import JsonFormatter
from backend.formats import TOOLS, FormatError, RawArtefact, parse
from backend.ingest.models import Artefact, Upload
from backend.ingest.queue.worker import process
from backend.ingest.receiving.content_hash import content_hash
from backend.ingest.receiving.receive import UploadConflict, receive
from backend.storage import open_artefact, storage
from backend.testing.damage import captures
from backend.testing.rows import let_a_minute_pass
from backend.testing.uploads import WRK, make_envelope, make_file, make_tenant, make_trial
from backend.transfer.exporting import request_export, write_due
from backend.transfer.models import Export
from backend.untrusted.sandbox import sandbox
from backend.untrusted.secrets import redaction
from backend.untrusted.secrets.cleaning import Cleaning, hash_of
from backend.untrusted.secrets.rewriting import CannotClean

MARK = redaction.MARK
ROOT = Path(__file__).parents[3]
CASES = captures()
# Without the time of packing, so that the same content is the same bytes a second later.
gzipped = partial(gzip.compress, mtime=0)


def clean(data):
    return b"".join(Cleaning().cleaned(io.BytesIO(data)))


def is_text(data):
    return b"\0" not in data[:8192]


def test_the_agent_and_the_service_have_the_same_rules():
    """One file under two names, because neither may import the other."""
    theirs = ROOT / "agents/src/loadsheet_agent/upload/redaction.py"
    assert Path(redaction.__file__).samefile(theirs)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.tool}-{case.name}")
def test_a_capture_passes_byte_for_byte(case):
    for name, data in case.files.items():
        assert clean(data) == data, name


def contracts(data):
    """What is read, its addresses without the mark: that is all that may differ."""
    try:
        entries = parse([RawArtefact("output", lambda: io.BytesIO(data))])
    except FormatError:
        return ["refused"]
    return [
        "refused"
        if isinstance(entry, FormatError)
        else json.loads(json.dumps(entry.as_dict()).replace(f"joe:{MARK}@", ""))
        for entry in entries
    ]


ADDRESS, SECRET_ADDRESS = b"http://127.0.0.1", b"http://joe:hush-hush@127.0.0.1"
WITH_ADDRESS = [
    (case.tool, case.name, name, data)
    for case in CASES
    for name, data in case.files.items()
    if ADDRESS in data and is_text(data) and len(data) < 1 << 20
]


@pytest.mark.parametrize(
    ("tool", "case", "name", "data"), WITH_ADDRESS, ids=["-".join(one[:3]) for one in WITH_ADDRESS]
)
def test_numbers_are_the_same_without_the_secret(tool, case, name, data):
    kept = clean(data.replace(ADDRESS, SECRET_ADDRESS))
    assert b"hush-hush" not in kept
    assert contracts(kept) == contracts(data)


def secrets_of(tool):
    """Four for each load tool, none of them like another or like a number."""
    draw = Random(tool)
    alphabet = string.ascii_letters + "-_~!*"
    return ["S" + "".join(draw.choice(alphabet) for _ in range(20)) + "z" for _ in range(4)]


def output_of(tool):
    """A real output of the tool, the largest that is quick to read."""
    found = [
        data
        for case in CASES
        if case.tool == tool
        for data in case.files.values()
        if is_text(data) and len(data) < 20_000
    ]
    return max(found, key=len)


def plant(tool):
    """Files and the envelope of an upload that holds the tool's four secrets."""
    query, header, password, known = secrets_of(tool)
    output = output_of(tool)
    line = f"\nGet http://127.0.0.1:8000/hello?size=5&access_token={query}&page=2: EOF\n"
    member = f'\n{{"headers":{{"X-Api-Key":["{header}"]}},"count":17}}\n'
    trial = make_trial(
        0,
        server={"name": "s", "configuration": {"db_password": password, "workers": 4}},
        workload={"name": "w", "path": f"/?token={query}", "headers": {"Cookie": f"id={header}"}},
        load={"tool": tool, "connections": 10},
        command=[
            tool,
            "-A",
            f"joe:{password}",
            "-H",
            f"Authorization: Bearer {known}",
            "http://h/",
        ],
        error=f"http://joe:{password}@127.0.0.1/ was refused",
        artefacts=["out.txt"],
    )
    run = {
        "started_at": "2026-01-31T12:00:00Z",
        "plan": f'[workloads.headers]\nAuthorization = "Basic {known}"\n',
        "plan_sha256": "0" * 64,
        "labels": {"why": f"curl -u joe:{password} http://h/", "api_key": known},
        "events": [{"text": f"Set-Cookie: sid={header}"}],
    }
    files = [
        SimpleUploadedFile("out.txt", output + line.encode()),
        SimpleUploadedFile("packed.gz", gzip.compress(output + member.encode())),
        SimpleUploadedFile("packed.zst", zstandard.compress(member.encode() + output)),
        SimpleUploadedFile(f"?token={known}&.txt", f"Authorization: Token {known}\n".encode()),
    ]
    return files, {**make_envelope(0), "run": run, "trials": [trial]}


def word_of(tool):
    """What an agent says while it measures."""
    current = {"ordinal": 0, "server": "s", "connections": 1, "rate_rps": None, "repeat": 0}
    current |= {"workload": f"/?token={secrets_of(tool)[0]}", "phase": "measure"}
    run = {"id": str(uuid.uuid4()), "state": "running", "trials_done": 0, "current": current}
    agent = {"name": "loadsheet-agent", "version": "1", "hostname": "here"}
    return {"agent": agent, "run": run}


def everything_in_the_database():
    with connection.cursor() as cursor:
        cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        tables = [row[0] for row in cursor.fetchall()]
        for table in tables:
            cursor.execute(f'SELECT t::text FROM "{table}" AS t')
            yield from (row[0] for row in cursor.fetchall())


def everything_in_storage(folder):
    for path in folder.rglob("*"):
        if path.is_file():
            yield unpacked(path.read_bytes())


def unpacked(data):
    if data.startswith(b"\x1f\x8b"):
        data = gzip.decompress(data)
    elif data.startswith(b"\x28\xb5\x2f\xfd"):
        data = zstandard.ZstdDecompressor().decompressobj().decompress(data)
    return data.decode("latin-1")


def everything_exported(tenant, client):
    """The names and contents in the archive of the workspace, and the table of all trials."""
    request_export(tenant.workspace, author=tenant.user)
    assert write_due() == 1
    with open_artefact(Export.objects.get().sha256) as stored:
        archive = zipfile.ZipFile(io.BytesIO(stored.read()))
    for name in archive.namelist():
        yield name
        yield unpacked(archive.read(name))
    let_a_minute_pass()
    yield client.get("/api/v1/trials.csv").content.decode()


def everything_given_out(client, run):
    paths = [f"/api/v1/uploads/{run}", f"/u/{run}"]
    if client.get(f"/api/v1/runs/{run}").status_code == 200:
        paths += [f"/api/v1/runs/{run}", f"/r/{run}", f"/api/v1/compare?run={run}"]
        paths += [f"/api/v1/compare.csv?run={run}"]
    for artefact in Artefact.objects.filter(upload=run):
        paths += [f"/a/{artefact.pk}/raw"]
        # Tracing its figures takes its time: once for each tool.
        paths += [f"/a/{artefact.pk}"] if artefact.position == 0 else []
    for path in paths:
        answer = client.get(path)
        assert answer.status_code == 200, path
        body = b"".join(answer.streaming_content) if answer.streaming else answer.content
        yield body.decode("latin-1")


@pytest.fixture
def folder(settings, tmp_path):
    settings.DATA_DIR = tmp_path
    storage.cache_clear()
    yield tmp_path
    storage.cache_clear()


def test_there_are_more_than_sixty():
    assert len({secret for tool in TOOLS for secret in secrets_of(tool)}) == 4 * len(TOOLS) >= 60


@pytest.mark.django_db
def test_planted_secrets_of_all_tools_are_nowhere(folder, caplog):
    """By HTTP, as from curl: then in every table, file, answer, export and log line."""
    caplog.set_level(logging.DEBUG)
    tenant = make_tenant()
    client = Client(headers=tenant.headers)
    sent, runs = [], []
    for tool in TOOLS:
        files, envelope = plant(tool)
        answer = client.post("/api/v1/uploads", {"file": files, "envelope": json.dumps(envelope)})
        assert answer.status_code == 202, answer.content
        runs.append(answer.json()["id"])
        process(runs[-1])
        sent += secrets_of(tool)
        assert (
            client.post("/api/v1/heartbeat", word_of(tool), "application/json").status_code == 200
        )
    logging.getLogger("x").error("fell over", extra={"said": f"Cookie: sid={sent[0]}"})
    viewer = Client()
    viewer.force_login(tenant.user)
    seen = {
        # Small files are rows of the database.
        "stored": [*everything_in_the_database(), *everything_in_storage(folder)],
        "exports": list(everything_exported(tenant, viewer)),
        "answers": [text for run in runs for text in everything_given_out(viewer, run)],
        "logs": [JsonFormatter().format(record) for record in caplog.records],
    }
    for where, texts in seen.items():
        assert texts, where
        whole = "\n".join(texts)
        assert MARK in whole, where
        assert [secret for secret in sent if secret in whole] == [], where
    states = {upload.state for upload in Upload.objects.all()}
    assert "parsed" in states


@pytest.mark.django_db
def test_the_plans_hash_is_that_of_the_plan_that_is_kept(folder):
    files, envelope = plant("wrk")
    upload = receive(make_tenant().sender, files, raw_envelope=envelope).upload
    plan = upload.envelope["run"]["plan"]
    assert MARK in plan
    assert upload.envelope["run"]["plan_sha256"] == hash_of([plan.encode()])
    trial = upload.envelope["trials"][0]
    assert trial["command"][1:3] == ["-A", f"joe:{MARK}"]
    assert trial["server"]["configuration"]["workers"] == 4


SECRET_LINE = b"GET http://h/?token=hush-hush-hush HTTP/1.1\n"


@pytest.mark.django_db
def test_the_same_upload_with_a_secret_is_answered_again(folder):
    """The stored bytes are others than those that were sent; the id stands for those sent."""
    tenant = make_tenant()
    envelope = make_envelope(1)

    def send(data):
        return receive(tenant.sender, [make_file(data, "0.txt")], raw_envelope=envelope)

    sent = WRK.encode() + SECRET_LINE
    first, again = send(sent), send(sent)
    assert (first.is_new, again.is_new) == (True, False)
    artefact = Artefact.objects.get()
    with open_artefact(artefact.sha256) as stored:
        kept = stored.read()
    assert kept == sent.replace(b"hush-hush-hush", MARK.encode())
    assert artefact.size_bytes == len(kept)
    for other in (kept, sent.replace(b"hush-hush-hush", b"another-secret")):
        with pytest.raises(UploadConflict):
            send(other)


@pytest.mark.django_db
def test_no_hash_of_a_secret_is_kept_that_could_be_tried(folder):
    """Who has the database and the redacted text could else guess until the hash fits."""
    envelope = make_envelope(1)
    tenant = make_tenant()
    sent = WRK.encode() + SECRET_LINE
    upload = receive(tenant.sender, [make_file(sent, "0.txt")], raw_envelope=envelope).upload
    guessed = content_hash(envelope, "", {"0.txt": hash_of([sent])})
    assert upload.content_sha256 != guessed


@pytest.mark.parametrize("pack", [gzipped, zstandard.compress], ids=["gzip", "zstd"])
def test_a_packed_file_is_rewritten_only_for_a_secret(pack):
    clean_text, text = WRK.encode() * 50, WRK.encode() * 50 + SECRET_LINE + WRK.encode()
    # Packed once: the header of gzip has the second.
    packed = pack(clean_text)
    assert clean(packed) == packed
    kept = clean(pack(text))
    unpack = gzip.decompress if pack is gzipped else _unzstd
    assert unpack(kept) == text.replace(b"hush-hush-hush", MARK.encode())


def _unzstd(data):
    return zstandard.ZstdDecompressor().decompressobj().decompress(data)


@pytest.mark.long
def test_what_cannot_be_unpacked_is_kept_as_it_is_or_refused():
    whole = gzip.compress(WRK.encode() * 2000)
    assert clean(whole[:-9]) == whole[:-9]
    secret = gzip.compress(SECRET_LINE + Random(1).randbytes(600_000).hex().encode())
    with pytest.raises(CannotClean):
        clean(secret[:-9])


@pytest.mark.long
def test_a_file_that_takes_too_long_is_refused(settings, monkeypatch):
    settings.PARSE_CPU_S = 0
    # On a busy machine a second of CPU time may take many of the clock's.
    monkeypatch.setattr(sandbox, "GRACE_S", 60)
    with pytest.raises(CannotClean, match="CPU time"):
        clean(b"auth sid= " * (8 << 20))


@pytest.mark.long
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("pack", [bytes, gzipped], ids=["plain", "gzip"])
def test_what_a_windows_shell_saved_is_looked_through(encoding, pack):
    text = "\ufeff" + WRK * 2000 + SECRET_LINE.decode() + WRK
    data = text.encode(encoding)
    unpack = gzip.decompress if pack is gzipped else bytes
    kept = unpack(clean(pack(data)))
    assert kept == text.replace("hush-hush-hush", MARK).encode(encoding)
    other = ("\ufeff" + WRK).encode(encoding) + b"\x0a\xd8!"  # no true UTF-16 at its end
    assert clean(pack(other)) == pack(other)


def test_binary_files_pass():
    gob = b"\x00\x01 http://h/?token=hush-hush-hush \xff" * 10
    assert clean(gob) == gob
    assert clean(gzipped(gob)) == gzipped(gob)


def test_a_private_key_over_two_blocks_is_found():
    key = b"-----BEGIN PRIVATE KEY-----\n" + b"c2VjcmV0\n" * 40 + b"-----END PRIVATE KEY-----\n"
    before = b"0.1 ms\n" * ((redaction.BLOCK_BYTES - 40) // 7)
    kept = clean(before + key + b"200 ok\n")
    assert b"c2VjcmV0" not in kept
    assert kept.startswith(before)
    assert kept.endswith(b"200 ok\n")
