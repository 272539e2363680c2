"""What strangers send is bounded: each of these once stopped the site, or was a fault of it."""

import gzip
import io
import json
import random
import time
import uuid
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from backend.api.limits import counter_table, limit_table
from backend.ingest.models import Artefact, Upload
from backend.storage import storage
from backend.testing.uploads import WRK, make_envelope, make_file, make_tenant, make_trial
from backend.untrusted import limits
from backend.untrusted.archives import decompress
from backend.untrusted.json import plain_json
from backend.untrusted.json.json_refusals import JsonRefused
from backend.untrusted.json.plain_json import read_json
from backend.untrusted.sandbox import fair_slots, slots
from backend.untrusted.secrets import cleaning

pytestmark = pytest.mark.django_db
UPLOADS, PREVIEW = "/api/v1/uploads", "/api/v1/uploads/preview"


@pytest.fixture
def folder(settings, tmp_path):
    settings.DATA_DIR = tmp_path
    storage.cache_clear()
    yield tmp_path / "artefacts"
    storage.cache_clear()


@pytest.fixture
def tenant(folder):
    return make_tenant()


@pytest.fixture
def client(tenant):
    return Client(headers=tenant.headers)


def stored_files(folder):
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def send(client, *files, envelope=None, url=UPLOADS):
    fields = {"file": [make_file(data, f"{number}.txt") for number, data in enumerate(files)]}
    if envelope is not None:
        fields["envelope"] = json.dumps(envelope)
    return client.post(url, fields)


def problem(answer, status):
    assert answer.status_code == status, answer.content
    assert answer["Content-Type"] == "application/problem+json"
    return answer.json()


class Refusing:
    """Stands for the child that cleans: nothing may ask it."""

    def __init__(self, *_):
        pass

    def __enter__(self):
        raise AssertionError("the child was asked")

    def __exit__(self, *_):
        pass


LARGE = WRK.encode() + b'"sid":[' * (1 << 20)
NOT_INLINE = {
    "large": b"x" * (limits.INLINE_FILE_BYTES + 1),
    "gzip": gzip.compress(WRK.encode()),
    "zstd": b"\x28\xb5\x2f\xfd",
    "utf-16": ("\ufeff" + WRK).encode("utf-16-le"),
}


@pytest.mark.parametrize("name", NOT_INLINE)
def test_only_small_plain_text_is_cleaned_in_the_web_process(name, monkeypatch):
    monkeypatch.setattr(cleaning, "cleaner", Refusing)
    small = b"x" * limits.INLINE_FILE_BYTES
    assert b"".join(cleaning.Cleaning().cleaned(io.BytesIO(small))) == small
    with pytest.raises(AssertionError, match="asked"):
        list(cleaning.Cleaning().cleaned(io.BytesIO(NOT_INLINE[name])))


def test_many_small_files_are_not_all_cleaned_in_the_web_process(monkeypatch):
    monkeypatch.setattr(cleaning, "cleaner", Refusing)
    request = cleaning.Cleaning()
    size = limits.INLINE_FILE_BYTES
    for _ in range(limits.INLINE_REQUEST_BYTES // size):
        list(request.cleaned(io.BytesIO(b"x" * size)))
    with pytest.raises(AssertionError, match="asked"):
        list(request.cleaned(io.BytesIO(b"x")))


def test_only_a_small_envelope_is_cleaned_in_the_web_process(monkeypatch):
    monkeypatch.setattr(cleaning, "cleaner", Refusing)
    plan = {"run": {"plan": '"sid":[' * 9}}
    assert cleaning.clean_envelope(plan, size_bytes=limits.INLINE_FILE_BYTES)
    with pytest.raises(AssertionError, match="asked"):
        cleaning.clean_envelope(plan, size_bytes=limits.INLINE_FILE_BYTES + 1)


def test_a_megabyte_of_open_lists_is_received(client):
    assert send(client, LARGE).status_code == 202
    stored = Artefact.objects.get()
    assert stored.size_bytes < len(WRK) + 100, "the list without an end is one value"


def give_slots(monkeypatch, places):
    """Previews and long work of uploads take these slots."""
    monkeypatch.setattr("backend.untrusted.secrets.cleaners.LONG_WORK", places)
    for module in (
        "untrusted.secrets.cleaners",
        "ingest.preview.dry_run",
        "untrusted.sandbox.quick_sandbox",
    ):
        monkeypatch.setattr(f"backend.{module}.PREVIEWS", places)


@pytest.mark.parametrize("url", [UPLOADS, PREVIEW])
def test_where_all_turns_are_taken_the_answer_says_when_to_come_back(
    client, folder, monkeypatch, caplog, url
):
    monkeypatch.setattr(fair_slots, "PATIENCE_S", 0.0)
    none_left = slots.Slots(running=1, waiting=1)
    none_left._running.append("other")
    give_slots(monkeypatch, none_left)
    client.raise_request_exception = False
    answer = send(client, WRK, LARGE, url=url)
    assert problem(answer, 503)["title"] == "Busy"
    assert int(answer["Retry-After"]) > 0
    assert [(line.levelname, line.getMessage()) for line in caplog.records] == [
        ("WARNING", "not_available")
    ]
    assert (Upload.objects.count(), stored_files(folder)) == (0, [])
    none_left._running.remove("other")
    assert send(client, LARGE, url=url).status_code in {200, 202}


@pytest.mark.parametrize("url", [UPLOADS, PREVIEW])
def test_who_has_long_work_here_waits_for_it_and_others_do_not(client, tenant, monkeypatch, url):
    monkeypatch.setattr(fair_slots, "PATIENCE_S", 0.0)
    places = slots.Slots(running=2, waiting=1, of_owner=1)
    # Both are counted by person: one may have many workspaces.
    places._running.append(tenant.user.pk if url == UPLOADS else f"user:{tenant.user.pk}")
    give_slots(monkeypatch, places)
    packed = large_archive()
    answer = send(client, packed, url=url)
    assert problem(answer, 429)["detail"] == "Other files of yours are being searched here."
    assert int(answer["Retry-After"]) > 0
    places._running[0] = "another"
    assert send(client, packed, url=url).status_code in {200, 202}


def large_archive():
    """Longer than what has a short attempt."""
    padding = random.Random(1).randbytes(limits.SHORT_BYTES).hex()
    return gzip.compress(f"{WRK}# {padding}\n".encode())


def test_a_small_archive_has_a_short_attempt_and_then_waits_behind_long_work(client, monkeypatch):
    monkeypatch.setattr(fair_slots, "PATIENCE_S", 0.0)
    none_left = slots.Slots(running=1, waiting=1)
    none_left._running.append("other")
    for module in ("secrets.cleaners", "sandbox.slots"):
        monkeypatch.setattr(f"backend.untrusted.{module}.LONG_WORK", none_left)
    client.raise_request_exception = False
    archive = gzip.compress(f"{WRK}# password=hunter22hunter22\n".encode())
    assert send(client, archive).status_code == 202
    stored = Artefact.objects.get()
    assert b"hunter22" not in gzip.decompress(storage().open(stored.sha256).read())
    # 60 MB in 60 KB, and a second is not enough.
    bomb = gzip.compress(b"a-b-c-d-" * (60 << 17))
    assert len(bomb) < limits.SHORT_BYTES
    assert send(client, bomb).status_code == 503


def test_a_text_of_150_kilobytes_does_not_wait_behind_archives(client, monkeypatch):
    monkeypatch.setattr(fair_slots, "PATIENCE_S", 0.0)
    none_left = slots.Slots(running=1, waiting=1)
    none_left._running.append("other")
    for module in ("secrets.cleaners", "sandbox.slots"):
        monkeypatch.setattr(f"backend.untrusted.{module}.LONG_WORK", none_left)
    text = WRK + "# padding\n" * 15_000
    assert len(text) > limits.INLINE_FILE_BYTES
    client.raise_request_exception = False
    assert send(client, large_archive()).status_code == 503
    assert send(client, text).status_code == 202
    large_envelope = make_envelope(1, notes="")
    large_envelope["unknown"] = "x" * 2 * limits.INLINE_FILE_BYTES
    assert send(client, WRK, envelope=large_envelope).status_code == 202


def test_a_gzip_of_empty_members_is_refused_by_their_number(client):
    answer = send(client, gzip.compress(b"") * (decompress.MAX_MEMBERS + 1), url=PREVIEW)
    (refused,) = answer.json()["files"][0]["refusals"]
    assert "10000 compressed members" in refused["sentence"]


def test_an_output_with_a_number_of_five_thousand_digits_is_refused_with_a_sentence(client):
    text = '{"metrics": {"http_reqs": {"count": ' + "9" * 5000 + "}}}"
    (file,) = send(client, text, url=PREVIEW).json()["files"]
    (refused,) = file["refusals"]
    assert refused["sentence"].startswith("We don't recognise this file.")


@pytest.mark.parametrize("as_file", [True, False], ids=["file", "field"])
def test_an_envelope_above_the_limit_is_refused(client, folder, as_file):
    envelope = {**make_envelope(0), "padding": "x" * limits.ENVELOPE_BYTES}
    text = json.dumps(envelope)
    part = SimpleUploadedFile("envelope", text.encode()) if as_file else text
    answer = client.post(UPLOADS, {"file": make_file(), "envelope": part})
    assert f"{limits.ENVELOPE_BYTES:,}" in problem(answer, 413)["detail"]
    assert stored_files(folder) == []


def test_an_envelope_with_a_quarter_of_a_million_unknown_members_is_refused(client, folder):
    unknown = dict.fromkeys((f"u{number}" for number in range(250_000)), 1)
    refused = problem(send(client, WRK, envelope={**make_envelope(1), **unknown}), 400)
    assert f"more than {plain_json.JSON_OBJECT_MEMBERS} members" in refused["detail"]
    assert "/api/v1/limits" in refused["hint"]
    assert stored_files(folder) == []


@pytest.mark.parametrize("number", [b"1e308", b"5e-324", b"1.7976931348623157e308"])
def test_numbers_at_the_ends_of_floats_take_as_long_as_others(number):
    """Before, 1e308 took 60 times as long as 0.1, and no other thread ran meanwhile."""

    def cpu_s(number):
        raw = b"[" + b",".join([number] * (200_000 // len(number))) + b"]"
        began_s = time.thread_time()
        read_json(raw, limit_bytes=len(raw), subject="The body")
        return time.thread_time() - began_s

    plain = b"0." + b"1" * max(len(number) - 2, 1)
    assert min(cpu_s(number) / cpu_s(plain) for _ in range(5)) < 10


@pytest.mark.parametrize("number", [b"1e309", b"-1e309", b"1" + b"0" * 400 + b".5"])
def test_a_number_that_no_float_holds_is_out_of_range(number):
    with pytest.raises(JsonRefused, match="number out of range"):
        read_json(b"[" + number + b"]", limit_bytes=1000, subject="The body")


def test_an_envelope_of_ten_thousand_trials_is_not_refused_for_its_members():
    envelope = make_envelope(10_000)
    raw = json.dumps(envelope, separators=(",", ":")).encode()
    subject = "The envelope"
    assert read_json(raw, limit_bytes=limits.ENVELOPE_BYTES, subject=subject) == envelope


@pytest.mark.parametrize(
    ("where", "change"),
    [
        ("trials[0].ordinal", {"trials": [make_trial(0, ordinal=2**31)]}),
        ("trials[0].artefacts", {"trials": [make_trial(0, artefacts=["0.txt", "0.txt"])]}),
        ("run.labels.a", {"run": {"labels": {"a": "x" * 2001}}}),
        ("run.labels.a", {"run": {"labels": {"a": ["x" * 2001]}}}),
        ("run.labels", {"run": {"labels": {str(number): "" for number in range(101)}}}),
        ("run.plan", {"run": {"plan": "x" * 200_001}}),
        ("hosts.client.facts.a", {"hosts": {"client": {"facts": {"a": "x" * 20_001}}}}),
        (
            "hosts.client.facts",
            {"hosts": {"client": {"facts": dict.fromkeys(map(str, range(1001)))}}},
        ),
        (
            "trials[0].workload.headers",
            {"trials": [make_trial(0, workload={"headers": {"x" * 201: ""}})]},
        ),
        ("trials[0].command", {"trials": [make_trial(0, command=["x"] * 1001)]}),
    ],
)
def test_an_envelope_beyond_a_limit_is_refused_by_its_place(client, where, change):
    answer = send(client, WRK, envelope=make_envelope(1) | change)
    assert where in problem(answer, 400)["detail"]


RUN = str(uuid.UUID(int=7))
BODIES = ("heartbeat", "sessions", f"runs/{RUN}/observations", "result-sets")
MANY_MEMBERS = dict.fromkeys(map(str, range(plain_json.JSON_OBJECT_MEMBERS + 1)))
BAD_JSON = {
    "deep": ("[" * 100_000, "50 levels"),
    "51 levels": ("[" * 51 + "]" * 51, "50 levels"),
    "brackets": ("[" + "{}," * plain_json.JSON_BRACKETS + "{}]", str(plain_json.JSON_BRACKETS)),
    "commas": ("[" + "1," * plain_json.JSON_COMMAS + "1,1]", str(plain_json.JSON_COMMAS)),
    "members of an object": (json.dumps(MANY_MEMBERS), str(plain_json.JSON_OBJECT_MEMBERS)),
    "digits": ('{"a": ' + "9" * 5000 + "}", "64 bits"),
    "bits": ('{"a": ' + "9" * 50 + "}", "64 bits"),
    "nan": ('{"a": NaN}', "not JSON"),
    "infinity": ('{"a": 1e999}', "out of range"),
    "nul": ('{"a": {"b": "x\\u0000"}}', "NUL"),
    "surrogate": ('{"a": "\\ud800"}', "surrogate"),
}


@pytest.mark.parametrize("kind", BAD_JSON)
@pytest.mark.parametrize("path", BODIES)
def test_json_beyond_a_limit_is_refused_by_every_endpoint(client, tenant, path, kind):
    body, word = BAD_JSON[kind]
    if "observations" in path:  # of a run that was heard of
        run = {"id": RUN, "state": "running", "trials_done": 0}
        agent = {"name": "a", "version": "1", "hostname": "h"}
        heard = client.post("/api/v1/heartbeat", {"agent": agent, "run": run}, "application/json")
        assert heard.status_code == 200
    answer = client.post(f"/api/v1/{path}", body, "application/json")
    assert word in problem(answer, 400)["detail"]


@pytest.mark.parametrize("path", ["runs", "servers", "hosts", "workloads", "result-sets"])
def test_a_nul_in_an_address_is_refused(client, path):
    assert problem(client.get(f"/api/v1/{path}?workspace=%00"), 400)["field"] == "workspace"


def test_a_nul_in_a_field_of_the_form_is_refused(tenant):
    person = Client()
    person.force_login(tenant.user)
    answer = person.post(UPLOADS, {"file": make_file(), "workspace": "a\0b"})
    assert "NUL" in problem(answer, 400)["detail"]


def test_a_refused_upload_leaves_no_file(client, folder):
    envelope = make_envelope(1)
    assert send(client, WRK, envelope=envelope).status_code == 202
    kept = stored_files(folder)
    problem(send(client, WRK + "other", envelope=envelope), 409)
    assert stored_files(folder) == kept
    # Bytes that an accepted upload has stay, whoever is refused with them.
    problem(send(client, WRK, envelope={**envelope, "same_host": False}), 409)
    assert stored_files(folder) == kept


def test_bytes_that_another_upload_put_meanwhile_stay(folder):
    refused, accepted = storage().put([b"bytes"]), storage().put([b"bytes"])
    storage().take_back(refused)
    assert stored_files(folder) == [accepted.sha256]
    alone = storage().put([b"other"])
    storage().take_back(alone)
    storage().take_back(alone)
    assert stored_files(folder) == [accepted.sha256]


def test_the_limits_are_served(client):
    served = {row["name"]: row for row in Client().get("/api/v1/limits").json()["limits"]}
    assert served["envelope_bytes"]["value"] == limits.ENVELOPE_BYTES
    assert served["anonymous_bytes"]["status"] == 413


def test_the_documentation_has_the_table_of_limits():
    text = (Path(__file__).parents[3] / "docs/operations.md").read_text()
    assert limit_table.as_markdown() in text, "run: scripts/fix"
    assert counter_table.as_markdown() in text, "run: scripts/fix"
