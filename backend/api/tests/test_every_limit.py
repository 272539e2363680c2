"""Each limit of the table: one more is refused with the status of the table, by the limit's value.

Limits of a workspace have tests of their own: test_quota.py and test_quotas.py.
"""

import base64
import gzip
import hashlib
import io
import json
import tarfile
import uuid
import zipfile
from functools import partial

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from backend.accounts.limits.limiters import LIMITERS, MAILS
from backend.accounts.models import Token
from backend.api.limits.limit_table import limits as table_of_limits
from backend.api.uploads.observations import MAX_SAMPLES
from backend.config.serving.bodies import REFUSAL_KEY, Unread
from backend.fleet.models import Agent
from backend.ingest.models import Upload
from backend.runs.tables.names import TOKEN_HOSTS
from backend.storage import storage
from backend.testing.uploads import WRK, gzip_of_zeros, make_envelope, make_tenant, make_trial
from backend.untrusted import limits
from backend.untrusted.archives import decompress, tar_members
from backend.untrusted.body_refusals import BodyTooLarge
from backend.untrusted.json import plain_json
from backend.untrusted.sandbox.parser_failures import CpuUsedUp, MemoryUsedUp
from backend.untrusted.sandbox.sandbox import Sandbox

pytestmark = pytest.mark.django_db
URL = "/api/v1/uploads"
# What it bounds is counted when an upload is read: test_large_runs.py and test_early_trials.py.
# The last two: formats/autocannon/tests/test_autocannon.py, formats/tests/test_gathering.py.
OF_READING = {
    *("run_trials", "run_configurations", "run_configuration_bytes"),
    *("report_bytes", "line_bytes"),
}
# runs/tests/test_editing.py and test_dismissals.py.
OF_A_RUN = {"run_corrections", "run_dismissals"}
# runs/tests/test_merging.py and test_merge_rows.py.
OF_A_MERGE = {"merge_runs", "merge_trials", "merge_rows", "merge_row_bytes", "merge_related_bytes"}
# ingest/tests/test_quotas_at_once.py; the last one accounts/tests/test_audit.py.
MADE_IN_A_WORKSPACE = {
    *("workspace_tokens", "workspace_invitations", "workspace_channels", "workspace_rules"),
    *("workspace_views", "feed_tokens", "owned_workspaces"),
}
# web/tests/test_every_limiter.py
BY_TIME = {limiter.id for limiter in LIMITERS if limiter is not MAILS}
# Before a view sees the request: config/tests/test_web_server.py.
OF_THE_WEB_SERVER = {"address_bytes", "header_bytes", "header_fields", "header_field_bytes"}
OF_A_WORKSPACE = {"workspace_bytes", "workspace_uploads_per_day", "workspace_members"}
SHA256 = "0" * 64
SOME_ID = str(uuid.UUID(int=1))


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


def observation_sent(client):
    return observed(client, '"' + "x" * limits.OBSERVATION_BYTES + '"')


def many_samples_sent(client):
    samples = [{"at_s": 1}] * (MAX_SAMPLES + 1)
    return observed(
        client, {"id": SOME_ID, "host": {"name": "a"}, "uncertainty_s": 1, "samples": samples}
    )


def observed(client, body):
    return client.post(f"/api/v1/runs/{heard_run(client)}/observations", body, "application/json")


def heard_run(client):
    """The id of a run that the service heard of."""
    run = {"id": str(uuid.uuid4()), "state": "running", "trials_done": 0}
    agent = {"name": "agent", "version": "1", "hostname": "host"}
    told = client.post("/api/v1/heartbeat", {"agent": agent, "run": run}, "application/json")
    assert told.status_code == 200
    return run["id"]


def envelope_sent(**change):
    text = json.dumps(make_envelope(1) | change)
    return lambda client: client.post(URL, {"file": file_of(WRK), "envelope": text})


def run_sent(**members):
    return envelope_sent(run=members)


def facts_sent(facts):
    return envelope_sent(hosts={"client": {"facts": facts}})


def trial_sent(**members):
    return envelope_sent(trials=[make_trial(0, **members)])


def zip_of_files(count):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for number in range(count):
            archive.writestr(str(number), "")
    return packed.getvalue()


def tar_of_far_files(client):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for size in (tar_members.KEPT_TAR_BYTES, *[1] * (tar_members.MAX_FAR_FILES + 1)):
            info = tarfile.TarInfo(f"{archive.offset}")
            info.size = size
            archive.addfile(info, io.BytesIO(bytes(size)))
    return file_sent(packed.getvalue())(client)


def many(count):
    return dict.fromkeys(map(str, range(count)), "")


def part_sent(number, data, upload_id=None):
    path = f"{URL}/{upload_id or uuid.uuid4()}/parts/{SHA256}/{number}"
    digest = base64.b64encode(hashlib.sha256(data).digest()).decode()
    headers = {"content-digest": f"sha-256=:{digest}:"}
    return lambda client: client.put(path, data, "application/octet-stream", headers=headers)


def two_small_parts(client):
    upload_id = uuid.uuid4()
    assert part_sent(1, b"x", upload_id)(client).status_code == 201
    return part_sent(0, b"x", upload_id)(client)


def stranger_sends(_client):
    # So the bridge brings a large body.
    unread = Unread(BodyTooLarge(limits.ANONYMOUS_BYTES, limits.ANONYMOUS_BYTES + 1))
    return Client().post("/accounts/login/", "x", "text/plain", **{"wsgi.input": unread})


def long_form(client):
    # So the bridge tells that it left the body unread.
    refusal = BodyTooLarge(limits.PAGE_FORM_BYTES, limits.PAGE_FORM_BYTES + 1)
    return client.post(URL, "x=1", limits.URLENCODED, **{REFUSAL_KEY: refusal})


def many_files(client):
    files = [file_of(b"") for _ in range(limits.FILES + 1)]
    return client.post(URL, {"file": files})


def heartbeat_of_a_new_host(client):
    token = Token.objects.get()
    hosts = map(str, range(TOKEN_HOSTS))
    rows = [Agent(workspace=token.workspace, token=token, host_name=host) for host in hosts]
    Agent.objects.bulk_create(rows)
    agent = {"name": "agent", "version": "1", "hostname": "new"}
    return client.post("/api/v1/heartbeat", {"agent": agent}, "application/json")


# What goes one beyond the limit.
BEYOND = {
    "upload_bytes": file_sent("x" * 2001),
    "unpacked_bytes": file_sent(gzip.compress(b"1 ms\n" * 20_001)),
    "waiting_part_bytes": part_sent(0, b"x"),
    "search_cpu_s": file_sent(gzip.compress(b"x")),
    "search_memory_mib": file_sent(gzip.compress(b"x")),
    "unpacked_ratio": file_sent(gzip_of_zeros(65 << 20)),
    "compressed_members": file_sent(gzip.compress(b"") * (decompress.MAX_MEMBERS + 1)),
    "archive_files": file_sent(zip_of_files(decompress.MAX_FILES + 1)),
    "far_files": tar_of_far_files,
    "files": many_files,
    "part_bytes": part_sent(0, b"x" * (limits.MAX_PART_BYTES + 1)),
    "least_part_bytes": two_small_parts,
    "parts": part_sent(limits.MAX_PARTS, b"x"),
    "form_bytes": lambda client: client.post(URL, {"tool": "x" * (limits.FORM_BYTES + 1)}),
    "form_fields": lambda client: client.post(URL, many(limits.FORM_FIELDS + 1)),
    "anonymous_bytes": stranger_sends,
    "page_form_bytes": long_form,
    "json_bytes": json_sent('"' + "x" * limits.JSON_BYTES + '"'),
    "observation_bytes": observation_sent,
    "observation_samples": many_samples_sent,
    "json_levels": json_sent("[" * 51 + "]" * 51),
    "json_brackets": json_sent("[" + "{}," * plain_json.JSON_BRACKETS + "{}]"),
    "json_commas": json_sent("[" + "1," * plain_json.JSON_COMMAS + "1,1]"),
    "json_object_members": json_sent(json.dumps(many(plain_json.JSON_OBJECT_MEMBERS + 1))),
    "json_integer_bits": json_sent('{"a": 18446744073709551616}'),
    "envelope_bytes": envelope_sent(unknown="x" * limits.ENVELOPE_BYTES),
    "envelope_trials": envelope_sent(trials=[{}] * (limits.ENVELOPE_TRIALS + 1)),
    "labels": run_sent(labels=many(limits.LABELS + 1)),
    "labels_bytes": run_sent(labels={f"a{number}": "x" * 2_000 for number in range(10)}),
    "map_members": facts_sent(many(limits.MAP_MEMBERS + 1)),
    # The facts themselves are the first level.
    "map_levels": facts_sent({"a": json.loads("[" * limits.MAP_LEVELS + "]" * limits.MAP_LEVELS)}),
    # The member itself is a value.
    "map_values": facts_sent({"a": [1] * limits.MAP_VALUES}),
    # With the name and the punctuation, a byte more than the limit.
    "identity_map_bytes": trial_sent(
        server={"configuration": {"a": ["x" * (limits.IDENTITY_MAP_BYTES - 9)]}}
    ),
    "name_length": trial_sent(server={"name": "x" * (limits.NAME_LENGTH + 1)}),
    "text_length": run_sent(labels={"a": "x" * (limits.TEXT_LENGTH + 1)}),
    "notes_length": run_sent(notes="x" * (limits.NOTES_LENGTH + 1)),
    "plan_length": run_sent(plan="x" * (limits.PLAN_LENGTH + 1)),
    "tail_length": trial_sent(server_tail="x" * (limits.TAIL_LENGTH + 1)),
    "events": run_sent(events=[{}] * (limits.EVENTS + 1)),
    "command_words": trial_sent(command=["x"] * (limits.COMMAND_WORDS + 1)),
    "command_length": trial_sent(command=["x" * (limits.COMMAND_LENGTH // 2)] * 2 + ["x"]),
    # With the name and the punctuation, a byte more than the limit.
    "trial_map_bytes": trial_sent(
        resources={"a": ["x" * 16_000] * 4 + ["x" * (limits.TRIAL_MAP_BYTES - 64_000 - 21)]}
    ),
    "facts_bytes": facts_sent(
        {"a": ["x" * 16_000] * 4 + ["x" * (limits.FACTS_BYTES - 64_000 - 21)]}
    ),
    "trial_artefacts": trial_sent(artefacts=["x"] * (limits.TRIAL_ARTEFACTS + 1)),
    "trial_artefacts_together": envelope_sent(
        trials=[{"artefacts": [str(number) for number in range(1_000)]}] * 21
    ),
    "token_hosts": heartbeat_of_a_new_host,
}


# What the answer says of it, without commas.
ITEMS, MEMBERS, CHARACTERS = "list of at most {} items", "at most {} members", "most {} characters."
SENTENCES = {
    "upload_bytes": "This upload has 2001 bytes; at most {} are accepted.",
    "unpacked_bytes": "unpacks to more than {} bytes the limit for one upload.",
    "waiting_part_bytes": "of parts wait in this workspace for the rest of their uploads each "
    "counted as 262144 at least; at most {} are kept.",
    "search_cpu_s": "The search for secrets in a file needed more than {} s of CPU time.",
    "search_memory_mib": "The search for secrets in a file needed more than {} MiB of memory.",
    "unpacked_ratio": "expected at most {} times its size.",
    "compressed_members": "The file has more than {} compressed members.",
    "archive_files": "The zip archive has more than {} files.",
    "far_files": "The tar archive has more than {} files behind its first 64 MiB.",
    "files": "The form has more than {} files the limit.",
    "part_bytes": "at most {} are accepted.",
    "least_part_bytes": "Part 0 has 1 bytes and is not the last; expected at least {}.",
    "parts": "and a number below {}.",
    "form_bytes": "The fields beside the files have more than {} bytes the limit.",
    "form_fields": "The form has more than {} fields the limit.",
    "anonymous_bytes": "at most {} are accepted.",
    "page_form_bytes": "at most {} are accepted.",
    "json_bytes": "The body is refused. It has more than {} bytes the limit.",
    "observation_bytes": "The body is refused. It has more than {} bytes the limit.",
    "observation_samples": "has no more than {} elements.",
    "json_levels": "It has more than {} levels the limit.",
    "json_brackets": "It has more than {} opening brackets the limit.",
    "json_commas": "It has more than {} commas the limit.",
    "json_object_members": "An object in it has more than {} members the limit.",
    "json_integer_bits": "expected whole numbers of at most {} bits",
    "envelope_bytes": "The field envelope is refused. It has more than {} bytes the limit.",
    "envelope_trials": ITEMS,
    "labels": MEMBERS,
    "labels_bytes": "an object of at most {} bytes of JSON.",
    "map_members": MEMBERS,
    "map_levels": "at most {} levels.",
    "map_values": "at most {} values at all levels.",
    "identity_map_bytes": "an object of at most {} bytes of JSON.",
    "name_length": CHARACTERS,
    "text_length": CHARACTERS,
    "notes_length": CHARACTERS,
    "plan_length": CHARACTERS,
    "tail_length": CHARACTERS,
    "events": ITEMS,
    "command_words": ITEMS,
    "command_length": "words of at most {} characters together.",
    "trial_map_bytes": "an object of at most {} bytes of JSON.",
    "facts_bytes": "an object of at most {} bytes of JSON.",
    "trial_artefacts_together": "at most {} files of all trials together",
    "trial_artefacts": ITEMS,
    "token_hosts": "This token is already used on {} hosts the limit.",
}


USED_UP = {"search_cpu_s": CpuUsedUp(), "search_memory_mib": MemoryUsedUp()}


def test_each_limit_has_what_goes_beyond_it():
    elsewhere = OF_A_WORKSPACE | OF_A_RUN | OF_READING | OF_THE_WEB_SERVER
    elsewhere |= OF_A_MERGE | MADE_IN_A_WORKSPACE | BY_TIME
    assert {row.name for row in table_of_limits()} == set(BEYOND) | elsewhere


@pytest.mark.parametrize("name", BEYOND)
def test_beyond_a_limit_the_answer_names_it(client, settings, monkeypatch, name):
    if name == "upload_bytes":
        settings.UPLOAD_MAX_BYTES = 2000
    if name == "unpacked_bytes":
        settings.DECOMPRESSED_MAX_BYTES = 100_000
    if name == "waiting_part_bytes":
        settings.PARTS_MAX_BYTES = 100_000
    if name in USED_UP:
        monkeypatch.setattr(Sandbox, "request", partial(fail, USED_UP[name]))
    limit = next(row for row in table_of_limits() if row.name == name)
    answer = BEYOND[name](client)
    assert answer.status_code == limit.status, answer.content
    sentence = SENTENCES[name].format(limit.value)
    assert sentence in answer.content.decode().replace(",", "")
    assert not Upload.objects.exists()


def fail(failed, *_):
    raise failed
