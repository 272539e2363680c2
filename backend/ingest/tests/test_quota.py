"""The bytes that a workspace has stored: what is counted, what is refused, what is freed."""

import json
import re
import uuid
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from types import SimpleNamespace

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import connection, connections
from django.test import Client

from backend.ingest.models import Artefact, StoredBytes, Upload
from backend.ingest.queue.worker import process
from backend.ingest.quota.quota import WorkspaceFull
from backend.ingest.quota.stored_sums import recount, stored_bytes
from backend.ingest.removing.removal import remove_run
from backend.ingest.reprocessing.editing import edit_run
from backend.ingest.reprocessing.merging import merge_names, undo_merged_names
from backend.runs.models import Correction, FormerName, Observation, Run
from backend.testing.uploads import (
    WRK,
    make_envelope,
    make_file,
    make_tenant,
    make_trial,
    make_upload,
)

URL = "/api/v1/uploads"
SIZE = len(WRK.encode())


pytestmark = pytest.mark.usefixtures("own_storage")


@pytest.fixture
def tenant(db):
    return make_tenant()


def used(tenant):
    return stored_bytes(tenant.workspace.pk)


def compact(envelope):
    return json.dumps(envelope, separators=(",", ":"))


def post(tenant, *names, envelope=None):
    data = {"file": [make_file(name=name) for name in names or ("wrk.txt",)]}
    if envelope:
        data["envelope"] = json.dumps(envelope)
    return Client().post(URL, data, headers=tenant.headers)


def test_every_file_of_every_upload_counts(tenant):
    other = make_tenant("other")
    post(tenant, "one.txt", "two.txt")
    post(tenant)
    post(other)

    assert used(tenant) == 3 * SIZE
    assert used(other) == SIZE


def test_the_same_upload_counts_once(tenant):
    envelope = {**make_envelope(0), "id": str(uuid.uuid4())}
    answers = [post(tenant, envelope=envelope).status_code for _ in range(3)]

    assert answers == [202, 200, 200]
    assert used(tenant) == SIZE + len(compact(envelope))


def test_an_envelope_counts_and_is_refused_where_it_finds_no_room(tenant, settings):
    envelope = make_envelope(0) | {"run": {"plan": "x" * 50_000}}
    settings.WORKSPACE_MAX_BYTES = 50_000
    assert post(tenant, envelope=envelope).status_code == 507
    assert used(tenant) == 0

    settings.WORKSPACE_MAX_BYTES = 60_000
    assert post(tenant, envelope=envelope).status_code == 202
    assert used(tenant) > 50_000 + SIZE
    assert recount() == 0


def test_corrections_and_merges_count_and_are_refused_where_they_find_no_room(
    tenant, settings, django_capture_on_commit_callbacks
):
    """50 corrections of notes and labels stored 5 MB, of which 0 bytes were counted."""
    for name in ("one", "other"):
        envelope = make_envelope(0) | {"trials": [make_trial(0, server={"name": name})]}
        process(make_upload(tenant, WRK, envelope=envelope).pk)
    run = Run.objects.first()
    # Rows of the helper are stored without the receiver that counts.
    recount()
    before = used(tenant)
    with django_capture_on_commit_callbacks(execute=True):
        (made,) = edit_run(run, {"notes": "x" * 5_000}, author=tenant.user)
    assert before + 5_000 < (after := used(tenant)) < before + 5_100
    with django_capture_on_commit_callbacks(execute=True):
        merged = merge_names(tenant.workspace, FormerName.Kind.SERVER, "one", "other", tenant.user)
    assert used(tenant) > after + 100
    assert undo_merged_names(merged, by=tenant.user)
    assert recount() == 0

    settings.WORKSPACE_MAX_BYTES = used(tenant) + 5_000
    with pytest.raises(WorkspaceFull):
        edit_run(run, {"notes": "y" * 5_000}, author=tenant.user)
    assert list(Correction.objects.filter(run=run)) == [made]
    remove_run(run)
    assert recount() == 0


def test_envelopes_of_before_are_counted_by_the_upgrade(tenant, monkeypatch):
    post(tenant, envelope=make_envelope(0))
    post(tenant)
    Upload.objects.update(envelope_bytes=0)

    migration = import_module("backend.ingest.migrations.0010_fill_envelope_bytes")
    monkeypatch.setattr(migration, "BATCH", 1)
    migration.fill(apps, SimpleNamespace(connection=connection))
    call_command("collect")

    sizes = sorted(Upload.objects.values_list("envelope_bytes", flat=True))
    assert sizes[0] == 0
    assert sizes[1] >= len(compact(make_envelope(0)))
    assert used(tenant) == 2 * SIZE + sizes[1]


def observe(tenant, run, samples=300, host=None):
    body = {
        "id": str(uuid.UUID(int=samples)),
        "host": host or {"name": "server-1"},
        "uncertainty_s": 0.01,
        "samples": [{"at_s": 1.7e9 + second, "cpu_s": second / 7} for second in range(samples)],
    }
    path = f"/api/v1/runs/{run.pk}/observations"
    return Client().post(path, body, content_type="application/json", headers=tenant.headers)


def make_run(tenant):
    upload = make_upload(tenant, WRK)
    process(upload.pk)
    return Run.objects.get(upload=upload.pk)


def test_observations_count_once_until_their_run_is_deleted(
    tenant, django_capture_on_commit_callbacks
):
    run = make_run(tenant)
    with django_capture_on_commit_callbacks(execute=True):
        answers = [observe(tenant, run).status_code for _ in range(2)]

    assert answers == [201, 201]
    observation = Observation.objects.get()
    assert used(tenant) == SIZE + len(observation.packed) + len(json.dumps(observation.host))
    assert recount() == 0
    remove_run(run)
    assert used(tenant) == recount() == 0


def test_the_host_of_an_observation_is_bounded_and_counts(
    tenant, django_capture_on_commit_callbacks
):
    """3.9 MB of facts were kept for 10 bytes of the quota."""
    run = make_run(tenant)
    unknown = {"name": "server-1", "unknown": "x" * 1_000_000}
    assert observe(tenant, run, samples=0, host=unknown).status_code == 201
    assert Observation.objects.get().host == {"name": "server-1"}
    facts = {f"fact {at}": "x" * 2_000 for at in range(30)}
    with django_capture_on_commit_callbacks(execute=True):
        assert observe(tenant, run, samples=1, host={"facts": facts}).status_code == 201
    assert used(tenant) > 60_000
    facts |= {"one more": "x" * 6_000}
    refused = observe(tenant, run, samples=2, host={"facts": facts})
    assert refused.status_code == 400
    assert "an object of at most 65,536 bytes of JSON" in refused.json()["detail"]


def test_an_observation_beyond_the_quota_is_not_kept(tenant, settings):
    run = make_run(tenant)
    settings.WORKSPACE_MAX_BYTES = SIZE

    assert observe(tenant, run).status_code == 507
    assert not Observation.objects.exists()


def test_a_full_workspace_says_what_came_and_what_to_do(tenant, settings, tmp_path):
    envelope = {**make_envelope(0), "id": str(uuid.uuid4())}
    stored = SIZE + len(compact(envelope))
    settings.WORKSPACE_MAX_BYTES = stored + SIZE - 1
    assert post(tenant, envelope=envelope).status_code == 202

    refused = post(tenant)

    assert refused.status_code == 507
    problem = refused.json()
    assert f"it stores {stored:,} bytes" in problem["detail"]
    assert f"{SIZE:,} more came; at most {stored + SIZE - 1:,}" in problem["detail"]
    assert "Delete runs" in problem["hint"]
    assert int(refused["Retry-After"]) > 0
    assert Upload.objects.count() == Artefact.objects.count() == 1
    # What was received stays received, and others have room of their own.
    assert post(tenant, envelope=envelope).status_code == 200
    assert post(make_tenant("other")).status_code == 202


def test_the_upload_form_of_a_full_workspace_says_so(client, tenant, settings):
    settings.WORKSPACE_MAX_BYTES = SIZE - 1
    client.force_login(tenant.user)

    page = client.post("/w/lab/upload", {"action": "save", "file": make_file()})

    assert page.status_code == 507
    assert b"This workspace is full" in page.content
    assert b"Delete runs" in page.content


def test_deleted_runs_do_not_count(tenant):
    deleted, kept = make_upload(tenant, WRK, WRK + "\n"), make_upload(tenant, WRK)
    for upload in (deleted, kept):
        process(upload.pk)

    remove_run(Run.objects.get(upload=deleted.pk))

    assert used(tenant) == SIZE


def test_a_wrong_sum_is_corrected_by_the_collector(tenant):
    post(tenant)
    StoredBytes.objects.update(size_bytes=-5)
    without_files = make_tenant("other").workspace
    StoredBytes.objects.create(workspace=without_files, share=3, size_bytes=7)

    call_command("collect")

    assert used(tenant) == SIZE
    assert stored_bytes(without_files.pk) == 0
    assert recount() == 0


@pytest.mark.django_db(transaction=True)
def test_uploads_at_the_same_time_all_count():
    tenant = make_tenant()

    def send(_):
        try:
            return post(tenant).status_code
        finally:
            connections.close_all()

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(send, range(40))) == [202] * 40

    assert used(tenant) == 40 * SIZE
    assert recount() == 0


def test_owners_and_programs_see_how_full_a_workspace_is(client, tenant, settings):
    settings.WORKSPACE_MAX_BYTES = 3 << 30
    make_tenant("other")
    post(tenant)

    client.force_login(tenant.user)
    page = client.get("/w/lab/settings").content.decode()
    answer = client.get("/api/v1/limits").json()

    assert re.findall(r'<data value="(\d+)" data-format="bytes"\s*>', page) == [
        str(SIZE),
        str(3 << 30),
    ]
    assert answer["workspaces"] == [
        {"workspace": "lab", "stored_bytes": SIZE, "max_bytes": 3 << 30}
    ]
    (limit,) = [row for row in answer["limits"] if row["name"] == "workspace_bytes"]
    assert (limit["value"], limit["status"]) == (3 << 30, 507)
    assert Client().get("/api/v1/limits").json()["workspaces"] == []
