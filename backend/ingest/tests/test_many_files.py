"""An upload of many small files: stored as rows with one commit, read with few messages."""

import uuid

import pytest
from django.db import transaction

from backend.ingest.models import SmallContent, State, Upload
from backend.ingest.queue import claims, worker
from backend.ingest.reading import answers, questions
from backend.ingest.receiving import receive as receiving
from backend.ingest.receiving.hints import hint_soon
from backend.ingest.receiving.priority import SMALL_BYTES
from backend.ingest.receiving.receive import Sender, receive
from backend.runs.models import Trial
from backend.storage import open_artefact, storage
from backend.testing.uploads import WRK, make_envelope, make_file, make_tenant
from backend.untrusted.sandbox.sandbox import Sandbox

pytestmark = pytest.mark.django_db
MANY_FILES = 16


@pytest.fixture
def sender():
    return Sender(make_tenant().workspace.pk, token_id=None, user_id=None)


def requests_of(number):
    return 18_000 + number


def files(count):
    """Outputs of trials, each with other figures; no other test has stored the same bytes."""
    figures = [f"{requests_of(each)} requests" for each in range(count)]
    nonce = f"# {uuid.uuid4()}\n"
    texts = [WRK.replace("18000 requests", each) + nonce for each in figures]
    return [make_file(text, f"{number}.txt") for number, text in enumerate(texts)]


def test_their_bytes_are_rows_and_no_files(sender):
    upload = receive(sender, files(MANY_FILES), raw_envelope=make_envelope(MANY_FILES)).upload
    assert SmallContent.objects.count() == MANY_FILES
    for artefact in upload.artefacts.all():
        assert not storage().rest.has(artefact.sha256)
        with open_artefact(artefact.sha256) as stored:
            assert f"{requests_of(artefact.position)} requests".encode() in stored.read()


def test_a_large_file_beside_them_is_a_file(sender):
    large = make_file(WRK + "#" * SMALL_BYTES, "large.txt")
    upload = receive(sender, [*files(MANY_FILES), large]).upload
    assert storage().rest.has(upload.artefacts.get(name="large.txt").sha256)
    assert SmallContent.objects.count() == MANY_FILES


def test_rows_end_where_writing_them_would_keep_others_waiting(sender, monkeypatch):
    given = files(MANY_FILES)
    monkeypatch.setattr(receiving, "ROWS_BYTES", sum(file.size for file in given[:-2]))
    upload = receive(sender, given, raw_envelope=make_envelope(MANY_FILES)).upload
    assert SmallContent.objects.count() == MANY_FILES - 2
    kept = [storage().rest.has(artefact.sha256) for artefact in upload.artefacts.all()]
    assert sum(kept) == 2


def test_a_refused_upload_leaves_no_rows(sender):
    envelope = make_envelope(MANY_FILES)
    receive(sender, files(MANY_FILES), raw_envelope=envelope)
    before = SmallContent.objects.count()
    others = [make_file(WRK + f"# {number}\n", f"{number}.txt") for number in range(MANY_FILES)]
    with pytest.raises(Exception, match="is already in use"):
        receive(sender, others, raw_envelope=envelope)
    assert SmallContent.objects.count() == before


def test_each_trial_gets_its_own_output_from_one_message(sender, monkeypatch):
    worker.sandbox().prepare()
    send, messages = Sandbox._send, []

    def counted(self, message):
        messages.append(message)
        return send(self, message)

    monkeypatch.setattr(Sandbox, "_send", counted)
    upload = receive(sender, files(MANY_FILES), raw_envelope=make_envelope(MANY_FILES)).upload
    worker.process(upload.pk)
    upload.refresh_from_db()
    assert (upload.state, upload.reason) == (State.PARSED, "")
    read = Trial.objects.order_by("ordinal").values_list("requests_completed", flat=True)
    assert list(read) == list(map(requests_of, range(MANY_FILES)))
    assert len(messages) == 1


def test_the_claim_is_renewed_before_each_answer(sender):
    upload = receive(sender, files(MANY_FILES), raw_envelope=make_envelope(MANY_FILES)).upload
    renewed = []
    with answers.Answers(lambda: renewed.append(1)) as asked:
        asked.ask_ahead([([artefact], "") for artefact in upload.artefacts.all()])
    assert len(renewed) >= MANY_FILES


def test_a_message_has_so_many_bytes_also_where_trials_share_their_files(sender, monkeypatch):
    upload = receive(sender, files(MANY_FILES), raw_envelope=make_envelope(MANY_FILES)).upload
    artefacts = list(upload.artefacts.all())
    whole = sum(artefact.size_bytes for artefact in artefacts)
    monkeypatch.setattr(questions, "MESSAGE_BYTES", 2 * whole)
    send, sizes = Sandbox._send, []
    monkeypatch.setattr(
        Sandbox, "_send", lambda *given: sizes.append(len(given[1])) or send(*given)
    )
    shared = [(artefacts[number:] + artefacts[:number], "") for number in range(MANY_FILES)]
    with answers.Answers(lambda: None) as asked:
        asked.ask_ahead(shared)
    assert len(sizes) == MANY_FILES / 2
    assert max(sizes) < 4 * whole


def test_who_reads_its_upload_itself_tells_no_worker(
    sender, django_capture_on_commit_callbacks, monkeypatch
):
    work_on, due = worker._work_on, []

    def look(held):
        due.extend(claims.claim_due())
        return work_on(held)

    monkeypatch.setattr(worker, "_work_on", look)
    with django_capture_on_commit_callbacks() as callbacks, transaction.atomic():
        receipt = worker.receive_and_read(sender, files(1), make_envelope(1))
    assert Upload.objects.get(pk=receipt.upload.pk).state == State.PARSED
    assert due == []
    assert hint_soon not in callbacks
