"""Each limit of the table: one more is refused with the status of the table, by the limit's value.

Limits of a workspace have tests of their own: test_quota.py and test_quotas.py.
"""

import base64
import gzip
import hashlib
import io
import json
import uuid
import zipfile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from backend.ingest import limits
from backend.ingest.models import Upload
from backend.ingest.sandbox import ParserFailed, Sandbox
from backend.ingest.storage import storage
from backend.testing.uploads import WRK, gzip_of_zeros, make_envelope, make_tenant, make_trial

pytestmark = pytest.mark.django_db
URL = "/api/v1/uploads"
OF_A_WORKSPACE = {"workspace_bytes", "workspace_uploads_per_day", "workspace_members"}
SHA256 = "0" * 64


@pytest.fixture
def client(settings, tmp_path):
    settings.DATA_DIR = tmp_path
    storage.cache_clear()
    yield Client(headers=make_tenant().headers)
    storage.cache_clear()


def file_of(data):
    return SimpleUploadedFile("0.txt", data if isinstance(data, bytes) else data.encode())


def file_sent(data):
    return lambda client: client.post(URL, {"file": file_of(data)})


def json_sent(body):
    return lambda client: client.post("/api/v1/sessions", body, "application/json")


def envelope_sent(**change):
    text = json.dumps(make_envelope(1) | change)
    return lambda client: client.post(URL, {"file": file_of(WRK), "envelope": text})


def run_sent(**members):
    return envelope_sent(run=members)


def trial_sent(**members):
    return envelope_sent(trials=[make_trial(0, **members)])


def zip_of_files(count):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for number in range(count):
            archive.writestr(str(number), "")
    return packed.getvalue()


def many(count):
    return dict.fromkeys(map(str, range(count)), "")


def part_sent(number, data):
    path = f"{URL}/{uuid.uuid4()}/parts/{SHA256}/{number}"
    digest = base64.b64encode(hashlib.sha256(data).digest()).decode()
    headers = {"content-digest": f"sha-256=:{digest}:"}
    return lambda client: client.put(path, data, "application/octet-stream", headers=headers)


def stranger_sends(_client):
    return Client().post("/accounts/login/", "x" * (limits.ANONYMOUS_BYTES + 1), "text/plain")


def many_files(client):
    files = [file_of(b"") for _ in range(limits.FILES + 1)]
    return client.post(URL, {"file": files})


# What goes one beyond the limit.
BEYOND = {
    "upload_bytes": file_sent("x" * 2001),
    "unpacked_bytes": file_sent(gzip.compress(b"1 ms\n" * 20_001)),
    "search_cpu_s": file_sent(gzip.compress(b"x")),
    "unpacked_ratio": file_sent(gzip_of_zeros(65 << 20)),
    "compressed_members": file_sent(gzip.compress(b"") * (limits.MAX_MEMBERS + 1)),
    "archive_files": file_sent(zip_of_files(limits.MAX_FILES + 1)),
    "files": many_files,
    "part_bytes": part_sent(0, b"x" * (limits.MAX_PART_BYTES + 1)),
    "parts": part_sent(limits.MAX_PARTS, b"x"),
    "form_bytes": lambda client: client.post(URL, {"tool": "x" * (limits.FORM_BYTES + 1)}),
    "form_fields": lambda client: client.post(URL, many(limits.FORM_FIELDS + 1)),
    "anonymous_bytes": stranger_sends,
    "json_bytes": json_sent('"' + "x" * limits.JSON_BYTES + '"'),
    "json_levels": json_sent("[" * 51 + "]" * 51),
    "json_brackets": json_sent("[" + "{}," * limits.JSON_BRACKETS + "{}]"),
    "json_members": json_sent("[" + "1," * limits.JSON_MEMBERS + "1]"),
    "json_object_members": json_sent(json.dumps(many(limits.JSON_OBJECT_MEMBERS + 1))),
    "json_integer_bits": json_sent('{"a": 18446744073709551616}'),
    "envelope_bytes": envelope_sent(unknown="x" * limits.ENVELOPE_BYTES),
    "envelope_trials": envelope_sent(trials=[{}] * (limits.ENVELOPE_TRIALS + 1)),
    "labels": run_sent(labels=many(limits.LABELS + 1)),
    "map_members": envelope_sent(hosts={"client": {"facts": many(limits.MAP_MEMBERS + 1)}}),
    "name_length": trial_sent(server={"name": "x" * (limits.NAME_LENGTH + 1)}),
    "text_length": run_sent(labels={"a": "x" * (limits.TEXT_LENGTH + 1)}),
    "notes_length": run_sent(notes="x" * (limits.NOTES_LENGTH + 1)),
    "plan_length": run_sent(plan="x" * (limits.PLAN_LENGTH + 1)),
    "tail_length": trial_sent(command=["x" * (limits.TAIL_LENGTH + 1)]),
    "events": run_sent(events=[{}] * (limits.EVENTS + 1)),
    "command_words": trial_sent(command=["x"] * (limits.COMMAND_WORDS + 1)),
    "trial_artefacts": trial_sent(artefacts=["x"] * (limits.TRIAL_ARTEFACTS + 1)),
}


def test_each_limit_has_what_goes_beyond_it():
    assert {row.name for row in limits.limits()} == set(BEYOND) | OF_A_WORKSPACE


@pytest.mark.parametrize("name", BEYOND)
def test_beyond_a_limit_the_answer_names_it(client, settings, monkeypatch, name):
    if name == "upload_bytes":
        settings.UPLOAD_MAX_BYTES = 2000
    if name == "unpacked_bytes":
        settings.DECOMPRESSED_MAX_BYTES = 100_000
    if name == "search_cpu_s":
        monkeypatch.setattr(Sandbox, "request", out_of_time)
    limit = next(row for row in limits.limits() if row.name == name)
    answer = BEYOND[name](client)
    assert answer.status_code == limit.status, answer.content
    assert f"{limit.value}" in answer.content.decode().replace(",", "")
    assert not Upload.objects.exists()


def out_of_time(*_):
    raise ParserFailed("Reading this upload took more than 300 s of CPU time.")
