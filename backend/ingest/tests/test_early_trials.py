"""A run that comes trial by trial while it goes on is, in the end, the run that came whole."""

import json
import uuid

import pytest
from django.test import Client

from backend.accounts.models import Token
from backend.fleet.heartbeats import Heartbeat, record_heartbeat
from backend.ingest.models import Artefact, State, Upload
from backend.ingest.queue.worker import process
from backend.ingest.reprocessing.reprocess import reprocess
from backend.runs.models import Cell, Run, Trial
from backend.runs.recording import configurations, record, refusals
from backend.testing.uploads import (
    WRK,
    make_envelope,
    make_file,
    make_tenant,
    make_trial,
    make_upload,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("own_storage")]


@pytest.fixture
def tenant():
    return make_tenant("lab")


def report(ordinal):
    """Another throughput each time: 6000 requests/s and 100 more a trial."""
    return WRK.replace("18000 requests", f"{18000 + 300 * ordinal} requests")


def trial_at(ordinal, **more):
    server = {"name": ("nginx", "caddy")[ordinal % 2], "version": "1", "configuration": {}}
    return make_trial(ordinal, server=server, repeat=ordinal // 2, phase="measure", **more)


def send(tenant, envelope, *reports):
    upload = make_upload(tenant, *reports, envelope=envelope)
    process(upload.pk)
    upload.refresh_from_db()
    return upload


def send_early(tenant, run_id, ordinal, text=None, **run):
    envelope = make_envelope(0)
    envelope["trials"] = [{**trial_at(ordinal), "artefacts": ["0.txt"]}]
    envelope["run"] |= {"id": str(run_id), "plan": "[load]", **run}
    return send(tenant, envelope, report(ordinal) if text is None else text)


def send_last(tenant, run_id, count, early, *, own=None, **run):
    """The last word of a run: every trial, the artefacts of those that did not come early."""
    own = count - 1 if own is None else own
    envelope = make_envelope(0, id=str(run_id))
    envelope["run"] |= {"id": str(run_id), "plan": "[load]", "trials_planned": count, **run}
    envelope["trials"] = [
        {**trial_at(ordinal), "artefacts": ["0.txt"]}
        if ordinal == own
        else {**trial_at(ordinal), "artefacts": [], "upload": str(early[ordinal])}
        for ordinal in range(count)
    ]
    return send(tenant, envelope, report(own))


def shape_of(run_id):
    """Everything of a run that does not depend on when and in how many pieces it came."""
    cells = {
        str(cell): (
            cell.trial_count,
            cell.checks,
            [(trial.ordinal, trial.throughput_rps, trial.error) for trial in cell.trials.all()],
        )
        for cell in Cell.objects.filter(run=run_id).select_related("series__server")
    }
    run = Run.objects.get(pk=run_id)
    return cells, run.is_open, run.interrupted, run.trials_planned


def whole(tenant, count):
    run_id = uuid.uuid4()
    envelope = make_envelope(0, id=str(run_id))
    envelope["run"] |= {"id": str(run_id), "plan": "[load]", "trials_planned": count}
    envelope["trials"] = [
        {**trial_at(ordinal), "artefacts": [f"{ordinal}.txt"]} for ordinal in range(count)
    ]
    upload = send(tenant, envelope, *(report(ordinal) for ordinal in range(count)))
    assert upload.run_id == run_id
    return run_id


@pytest.mark.parametrize("order", [(0, 1, 2, 3, 4), (4, 2, 0, 3, 1)])
def test_it_is_the_run_that_came_whole(tenant, order):
    run_id, early = uuid.uuid4(), {}
    for ordinal in order:
        early[ordinal] = send_early(tenant, run_id, ordinal).pk
        assert Run.objects.get(pk=run_id).is_open
    send_last(tenant, run_id, 6, early)
    assert shape_of(run_id) == shape_of(whole(tenant, 6))


def test_parts_after_the_last_word_find_their_place(tenant):
    run_id = uuid.uuid4()
    early = {ordinal: uuid.uuid4() for ordinal in range(3)}
    send_last(tenant, run_id, 4, early)
    waiting = Trial.objects.filter(run=run_id).exclude(error="")
    assert [trial.ordinal for trial in waiting] == [0, 1, 2]
    assert f"in upload {early[0]}, which is not read yet" in waiting[0].error
    for ordinal in range(3):
        send_early(tenant, run_id, ordinal)
    assert shape_of(run_id) == shape_of(whole(tenant, 4))


def test_a_trial_that_is_sent_twice_is_there_once_and_keeps_its_link(tenant):
    run_id = uuid.uuid4()
    first = send_early(tenant, run_id, 0)
    trial = Trial.objects.get(run=run_id)
    again = send_last(tenant, run_id, 1, {})
    assert again.run_id == run_id
    assert Trial.objects.get(run=run_id).pk == trial.pk
    assert first.artefacts.get().trials.count() == 0
    assert Cell.objects.filter(run=run_id).count() == 1


def test_an_open_run_is_listed_compared_and_grows(tenant):
    run_id = uuid.uuid4()
    send_early(tenant, run_id, 0)
    client = Client(headers=tenant.headers)
    version = type(tenant.workspace).objects.get(pk=tenant.workspace.pk).data_version
    for ordinal in (1, 2, 3):
        send_early(tenant, run_id, ordinal)
    assert type(tenant.workspace).objects.get(pk=tenant.workspace.pk).data_version == version + 3
    (row,) = client.get("/api/v1/runs").json()["runs"]
    assert (row["trials"], row["open"]) == (4, True)
    figures = client.get(f"/api/v1/compare?run={run_id}").json()
    assert sum(point["trials"] for one in figures["series"] for point in one["points"]) == 4


def test_an_early_trial_whose_output_cannot_be_read_is_a_trial_with_its_error(tenant):
    run_id = uuid.uuid4()
    upload = send_early(tenant, run_id, 0, text="no output of a load tool")
    assert upload.state == State.PARSED
    assert Trial.objects.get(run=run_id).error == upload.reason.partition(": ")[2]


def test_an_early_trial_of_a_run_of_another_workspace_is_refused(tenant):
    run_id = whole(make_tenant("other"), 1)
    before = shape_of(run_id)
    upload = send_early(tenant, run_id, 0)
    assert upload.state == State.FAILED
    assert "not one of this workspace" in upload.reason
    assert shape_of(run_id) == before


def test_an_early_trial_leads_to_its_run(tenant):
    run_id = uuid.uuid4()
    upload = send_early(tenant, run_id, 0)
    assert upload.run_id is None
    answer = Client(headers=tenant.headers).get(f"/api/v1/uploads/{upload.pk}").json()
    assert answer["run"] == str(run_id)
    client = Client()
    client.force_login(tenant.user)
    assert f'href="/r/{run_id}"' in client.get(f"/u/{upload.pk}").content.decode()


def test_reading_again_changes_nothing_of_what_the_other_uploads_brought(tenant):
    run_id, early = uuid.uuid4(), {}
    for ordinal in range(3):
        early[ordinal] = send_early(tenant, run_id, ordinal).pk
    last = send_last(tenant, run_id, 4, early)
    before, ids = shape_of(run_id), set(Trial.objects.filter(run=run_id).values_list("pk"))
    for upload in Upload.objects.filter(pk__in=[*early.values(), last.pk]):
        assert reprocess(upload.pk).changes == []
    assert shape_of(run_id) == before
    assert set(Trial.objects.filter(run=run_id).values_list("pk")) == ids
    read = Client(headers=tenant.headers).get(f"/api/v1/runs/{run_id}").json()["rereadings"]
    assert len(read) == 4


def test_a_trial_of_another_load_leaves_no_empty_cell_behind(tenant):
    run_id = uuid.uuid4()
    send_early(tenant, run_id, 0)
    envelope = make_envelope(0)
    envelope["trials"] = [{**trial_at(0), "artefacts": ["0.txt"]}]
    envelope["trials"][0]["load"] = {"tool": "wrk", "loop": "closed", "connections": 99}
    envelope["run"] |= {"id": str(run_id), "plan": "[load]"}
    send(tenant, envelope, report(0))
    assert [cell.connections for cell in Cell.objects.filter(run=run_id)] == [99]


def test_a_deleted_run_leaves_nothing_of_its_early_trials(tenant):
    run_id = uuid.uuid4()
    token = Token.objects.get(workspace=tenant.workspace)
    heartbeat = Heartbeat(run=run_id, state="running", trials_done=1)
    record_heartbeat(
        token, host_name="h", program="loadsheet-agent", version="0.1.0", heartbeat=heartbeat
    )
    early = {0: send_early(tenant, run_id, 0).pk}
    for spelt in (str(run_id), str(run_id).upper(), run_id.hex):
        unread = make_envelope(0)
        unread["run"] |= {"id": spelt}
        make_upload(tenant, WRK, envelope=unread)
    send_last(tenant, run_id, 2, early)
    other = whole(tenant, 1)
    client = Client()
    client.force_login(tenant.user)
    assert client.post(f"/r/{run_id}/delete").status_code == 302
    shown = Upload.objects.filter(is_in_trash=False)
    assert list(shown.values_list("pk", flat=True)) == [other]
    assert client.post(f"/r/{run_id}/erase", {"is_confirmed": "yes"}).status_code == 302
    assert list(Run.objects.values_list("pk", flat=True)) == [other]
    assert list(Upload.objects.values_list("pk", flat=True)) == [other]
    assert client.get(f"/r/{run_id}").status_code == 404


def test_a_run_has_no_more_early_trials_than_a_run_may_have(tenant, monkeypatch):
    """An envelope has at most 5,000 trials, but envelopes of one open run came without end."""
    monkeypatch.setattr(record, "MAX_TRIALS", 2)
    monkeypatch.setattr(refusals, "MAX_TRIALS", 2)
    run_id = uuid.uuid4()
    uploads = [send_early(tenant, run_id, ordinal) for ordinal in range(3)]
    assert [upload.state for upload in uploads] == [State.PARSED, State.PARSED, State.FAILED]
    assert uploads[2].reason == "A run has at most 2 trials."
    assert Trial.objects.filter(run=run_id).count() == 2


@pytest.mark.parametrize(
    ("limit", "most"), [("MAX_CONFIGURATIONS", 2), ("MAX_CONFIGURATION_BYTES", 250)]
)
def test_a_run_has_no_more_configurations_than_it_may_have(tenant, monkeypatch, limit, most):
    """A correction of 5,700 servers with 19 KB each took 1 GB and 20 s of a web process."""
    monkeypatch.setattr(configurations, "FEW_CELLS", 1)
    monkeypatch.setattr(configurations, limit, most)
    run_id = uuid.uuid4()
    uploads = []
    for ordinal in range(3):
        envelope = make_envelope(0)
        server = {"name": "hello", "configuration": {f"key {ordinal}": "x" * 80}}
        entry = {**trial_at(ordinal), "server": server, "artefacts": ["0.txt"]}
        envelope["trials"] = [entry]
        envelope["run"] |= {"id": str(run_id), "plan": "[load]"}
        uploads.append(send(tenant, envelope, report(ordinal)))
    assert [upload.state for upload in uploads] == [State.PARSED, State.PARSED, State.FAILED]
    assert uploads[2].reason.startswith("A run has at most 5,000 servers and as many workloads")
    assert Trial.objects.filter(run=run_id).count() == 2


def test_a_whole_run_has_no_more_configurations_than_it_may_have(tenant, monkeypatch):
    monkeypatch.setattr(record, "FEW_CELLS", 1)
    monkeypatch.setattr(configurations, "FEW_CELLS", 1)
    monkeypatch.setattr(configurations, "MAX_CONFIGURATIONS", 2)
    envelope = make_envelope(3)
    for entry in envelope["trials"]:
        entry |= {"artefacts": ["0.txt"], "server": {"name": f"server {entry['ordinal']}"}}
    upload = send(tenant, envelope, report(0))
    assert (upload.state, Run.objects.count()) == (State.FAILED, 0)


def test_the_configuration_of_all_results_counts_for_each_server(tenant, monkeypatch):
    """Made first, 9,900 servers of 20 KB took 755 MiB and 43 s of a worker, of 65 KB sent."""
    monkeypatch.setattr(configurations, "FEW_CELLS", 1)
    monkeypatch.setattr(configurations, "MAX_CONFIGURATION_BYTES", 250)
    monkeypatch.setattr(record, "series_of", None)  # is not reached
    text = "\n".join(WRK.replace("127.0.0.1:8080", f"host-{at}:8080") for at in range(3))
    configuration = {"name": "x" * 100}
    envelope = {"schema": 1, "id": str(uuid.uuid4()), "server": {"configuration": configuration}}
    upload = send(tenant, envelope, text)
    assert (upload.state, Run.objects.count()) == (State.FAILED, 0)
    assert upload.reason.startswith("A run has at most 5,000 servers")


def test_a_run_with_more_configurations_than_one_has_now_stays_as_it_was_read(tenant, monkeypatch):
    run_id = whole(tenant, 2)
    monkeypatch.setattr(configurations, "FEW_CELLS", 1)
    monkeypatch.setattr(configurations, "MAX_CONFIGURATIONS", 0)
    upload = Upload.objects.get(pk=run_id)
    assert reprocess(upload.pk).refused.startswith("A run has at most 5,000 servers")
    assert Trial.objects.filter(run=run_id).count() == 2


def test_the_last_word_of_a_run_adds_no_more_trials_than_a_run_may_have(tenant, monkeypatch):
    """It has as many as an envelope, beside as many as came early."""
    run_id = uuid.uuid4()
    early = {ordinal: send_early(tenant, run_id, ordinal).pk for ordinal in (0, 1)}
    early |= dict.fromkeys(range(2, 4), early[1])
    monkeypatch.setattr(record, "MAX_TRIALS", 2)
    monkeypatch.setattr(refusals, "MAX_TRIALS", 2)
    upload = send_last(tenant, run_id, 4, early, own=3)
    assert (upload.state, upload.reason) == (State.FAILED, "A run has at most 2 trials.")
    assert Trial.objects.filter(run=run_id).count() == 2


def test_a_run_tells_nothing_of_an_upload_of_another_workspace_that_names_it(tenant):
    """Its refusal quotes names of files, and words of whoever sent it."""
    run_id = whole(tenant, 1)
    refused = send_early(make_tenant("other"), run_id, 0)
    assert reprocess(refused.pk).refused
    answer = Client(headers=tenant.headers).get(f"/api/v1/runs/{run_id}").json()
    assert answer["rereadings"] == []


def post(tenant, envelope, text):
    data = {"envelope": json.dumps(envelope), "file": make_file(text, "0.txt")}
    return Client().post("/api/v1/uploads", data, headers=tenant.headers)


def test_nobody_else_takes_the_id_of_the_last_upload(tenant):
    """The id of an open run stands on the pages of a public workspace before that upload comes."""
    stranger, run_id = make_tenant("stranger"), uuid.uuid4()
    early = [send_early(tenant, run_id, 0).pk]
    answer = post(stranger, {"schema": 1, "id": str(run_id)}, report(5))
    assert answer.status_code == 409
    assert str(run_id) in answer.json()["detail"]
    assert not Upload.objects.filter(workspace=stranger.workspace).exists()
    assert Artefact.objects.filter(upload__workspace=stranger.workspace).count() == 0

    envelope = make_envelope(0, id=str(run_id))
    envelope["run"] |= {"id": str(run_id), "plan": "[load]", "trials_planned": 2}
    envelope["trials"] = [
        {**trial_at(0), "artefacts": [], "upload": str(early[0])},
        {**trial_at(1), "artefacts": ["0.txt"]},
    ]
    answer = post(tenant, envelope, report(1))
    assert answer.status_code == 202, answer.content
    process(run_id)
    assert not Run.objects.get(pk=run_id).is_open
