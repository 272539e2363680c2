"""Small uploads are read together, and stay as separate as if each were read alone."""

import gzip
import sys

import pytest
from django.forms.models import model_to_dict

from backend.ingest.envelope.envelope import read_envelope
from backend.ingest.models import State, Upload
from backend.ingest.queue import batches, queue, watching, worker
from backend.ingest.queue.claims import claim_due
from backend.ingest.receiving.priority import SMALL_BYTES, is_small
from backend.runs.models import Cell, Run, Trial
from backend.runs.recording import record_new
from backend.testing.uploads import WRK, make_envelope, make_tenant, make_upload
from backend.untrusted.sandbox.sandbox import Sandbox

pytestmark = pytest.mark.django_db
PLANTED = [sys.executable, "-m", "backend.untrusted.tests.planted_child"]
OWN = {"id", "run", "cell", "recorded_at", "completed_at"}


@pytest.fixture
def tenant():
    return make_tenant()


def states(uploads):
    rows = Upload.objects.in_bulk([upload.pk for upload in uploads])
    return [rows[upload.pk].state for upload in uploads]


def recorded(upload):
    """Everything that was recorded of an upload, without what is its own."""
    upload.refresh_from_db()
    trial = Trial.objects.get(run=upload.run)
    rows = [upload.run, trial.cell, trial]
    figures = [
        {name: value for name, value in model_to_dict(row).items() if name not in OWN}
        for row in rows
    ]
    names = [artefact.name for artefact in trial.artefacts.all()]
    ended = (upload.state, upload.reason, upload.attempts, upload.parser_version, upload.run_id)
    return [*figures, trial.cell.series_id, names, [*ended[:-1], ended[-1] == upload.pk]]


def test_what_is_read_together_is_recorded_as_if_read_alone(tenant):
    alone = make_upload(tenant)
    worker.process(alone.pk)
    together = [make_upload(tenant) for _ in range(3)]
    assert [len(claims) for claims in claim_due()] == [3]
    Upload.objects.filter(pk__in=[each.pk for each in together]).update(
        state=State.RECEIVED, attempts=0
    )
    worker.drain()
    assert {str(recorded(upload)) for upload in together} == {str(recorded(alone))}
    assert Run.objects.count() == Cell.objects.count() == 4


def test_the_statements_do_not_grow_with_the_uploads(tenant, django_assert_max_num_queries):
    make_upload(tenant), make_upload(tenant)
    worker.drain()
    counts = []
    for size in (2, 8):
        for _ in range(size):
            make_upload(tenant)
        with django_assert_max_num_queries(200) as seen:
            worker.drain()
        counts.append(len(seen))
    assert counts[0] == counts[1]


def test_an_unreadable_upload_fails_alone(tenant):
    uploads = [make_upload(tenant), make_upload(tenant, "just some words"), make_upload(tenant)]
    worker.drain()
    assert states(uploads) == [State.PARSED, State.FAILED, State.PARSED]
    uploads[1].refresh_from_db()
    assert len(uploads[1].reason) > 20


@pytest.fixture
def planted(monkeypatch):
    """A parser that misbehaves as the text asks."""
    box = Sandbox(PLANTED)
    for module in (batches, watching, worker):
        monkeypatch.setattr(module, "sandbox", lambda: box)
    yield box
    box.close()


@pytest.mark.processes
def test_a_parser_that_crashes_counts_an_attempt_for_the_upload_it_read(tenant, planted):
    uploads = [make_upload(tenant, f"{order} it") for order in ("FINE", "SEGFAULT", "FINE")]
    (claims,) = claim_due()
    worker._work_on_all(claims)
    assert states(uploads) == [State.FAILED, State.RECEIVED, State.RECEIVED]
    attempts = Upload.objects.order_by("received_at").values_list("attempts", "faults")
    assert list(attempts) == [(1, 0), (1, 0), (0, 0)]
    uploads[1].refresh_from_db()
    assert "SIGSEGV" in uploads[1].reason


@pytest.mark.processes
def test_a_parser_that_hangs_sends_the_upload_it_read_to_the_slow_lane(
    tenant, planted, settings, monkeypatch
):
    settings.QUICK_READ_S = 1
    monkeypatch.setattr(sys.modules["backend.untrusted.sandbox.sandbox"], "MEANWHILE_S", 0.1)
    uploads = [make_upload(tenant, f"{order} it") for order in ("FINE", "SPIN", "FINE")]
    (claims,) = claim_due()
    worker._work_on_all(claims)
    rows = Upload.objects.order_by("received_at").values_list("state", "is_slow", "attempts")
    assert list(rows)[1:] == [(State.RECEIVED, True, 0), (State.RECEIVED, False, 0)]
    assert states(uploads)[0] == State.FAILED


def test_a_fault_while_they_are_recorded_leaves_each_to_be_read_alone(tenant, monkeypatch):
    def fault(*_):
        raise KeyError("a fault of ours")

    monkeypatch.setattr(record_new, "write_new", fault)
    uploads = [make_upload(tenant), make_upload(tenant)]
    worker.drain()
    assert states(uploads) == [State.PARSED, State.PARSED]
    assert Run.objects.count() == 2


def test_a_run_that_is_stored_already_is_recorded_again_alone(tenant):
    first = make_upload(tenant)
    worker.drain()
    queue.reopen(first.pk)
    Upload.objects.filter(pk=first.pk).update(state=State.RECEIVED, attempts=0, run=None)
    uploads = [first, make_upload(tenant)]
    worker.drain()
    assert states(uploads) == [State.PARSED, State.PARSED]
    assert Run.objects.count() == 2


def test_a_fault_of_one_upload_gives_its_neighbours_no_answer_of_others(tenant, monkeypatch):
    """Each run has the figures of its own file, whatever went wrong with the first."""
    counts = [18000, 18030, 18060, 18090]
    uploads = [make_upload(tenant, WRK.replace("18000", str(count))) for count in counts]
    real = batches.read_plain

    def fail_once(envelope, artefacts, answers):
        if artefacts[0].upload_id == uploads[0].pk:
            raise ValueError("unforeseen")
        return real(envelope, artefacts, answers)

    monkeypatch.setattr(batches, "read_plain", fail_once)
    worker.drain()
    assert states(uploads)[1:] == [State.PARSED] * 3
    read = [Trial.objects.get(run=upload.pk).requests_completed for upload in uploads[1:]]
    assert read == counts[1:]


def test_a_malformed_url_is_no_fault(tenant):
    upload = make_upload(tenant, WRK.replace("http://127.0.0.1", "http://[node-1]"))
    worker.drain()
    assert states([upload]) == [State.PARSED]


def test_a_claim_that_is_lost_writes_nothing(tenant):
    uploads = [make_upload(tenant), make_upload(tenant)]
    (claims,) = claim_due()
    Upload.objects.filter(pk=uploads[0].pk).update(fence=99)
    worker._work_on_all(claims)
    assert states(uploads) == [State.PARSING, State.PARSED]
    assert Run.objects.get().pk == uploads[1].pk


def test_workspaces_share_what_is_claimed_together(tenant):
    other = make_tenant("other")
    for _ in range(30):
        make_upload(tenant)
    for _ in range(3):
        make_upload(other)
    assert sorted(len(claims) for claims in claim_due(most=8)) == [3, 4]
    # The second reader: both have one claim; nothing is left of the other workspace.
    assert [len(claims) for claims in claim_due(most=8)] == [8]


def test_what_is_claimed_together_counts_as_one_reading(tenant, settings):
    settings.READS_PER_WORKSPACE = 2
    for _ in range(12):
        make_upload(tenant)
    assert [len(claim_due(most=4)[0]) for _ in range(2)] == [4, 4]
    assert claim_due(most=4) == []


@pytest.mark.parametrize("setback", ["faults", "attempts"])
@pytest.mark.parametrize(("place", "together"), [(0, [1, 2]), (1, [2, 1])])
def test_an_upload_after_a_fault_or_an_attempt_is_read_alone(tenant, setback, place, together):
    uploads = [make_upload(tenant) for _ in range(3)]
    Upload.objects.filter(pk=uploads[place].pk).update(**{setback: 1})
    assert [len(claims) for _ in range(2) for claims in claim_due()] == together


def test_a_large_upload_keeps_its_place_before_small_ones(tenant):
    large = make_upload(tenant, WRK, envelope=make_envelope(1))
    make_upload(tenant), make_upload(tenant)
    ((held,),) = claim_due()
    assert held.upload_id == large.pk


@pytest.mark.parametrize(
    ("envelope", "files", "is_it"),
    [
        ({}, [b"text"], True),
        ({"run": {"labels": {"commit": "1a2b"}}}, [b"text"], True),
        ({}, [b"text"] * 5, False),
        ({}, [b"x" * (SMALL_BYTES + 1)], False),
        ({}, [gzip.compress(b"text")], False),
        ({"hosts": {"client": {"name": "rig"}}}, [b"text"], False),
        ({"trials": [{"artefacts": ["0.txt"]}]}, [b"text"], False),
    ],
)
def test_only_a_few_small_texts_without_a_plan_are_small(envelope, files, is_it):
    assert is_small(read_envelope({"schema": 1, **envelope}), files) is is_it


def test_the_bytes_of_any_file_reach_the_parser(tenant):
    make_upload(tenant, bytes(range(1, 256)) * 4), make_upload(tenant)
    (claims,) = claim_due()
    batch = batches.read_batch(claims, meanwhile=lambda: None)
    assert [len(batch.readings), len(batch.refused)] == [1, 1]
