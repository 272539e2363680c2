"""Interactive uploads are read before archives and what programs send, and no workspace loses its
turn by it."""

import gzip
import io
import uuid
import zipfile
from datetime import timedelta

import pytest
from django.db.models import F

from backend.ingest.models import State, Upload
from backend.ingest.queue import queue
from backend.ingest.queue.claims import claim_due
from backend.ingest.queue.turn_statement import HEAD_START_S
from backend.ingest.receiving.receive import Sender, receive
from backend.testing.uploads import (
    WRK,
    claim_next,
    make_envelope,
    make_file,
    make_tenant,
    make_upload,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def lab():
    return make_tenant("lab")


def send_by_program(tenant, *files, envelope=None):
    """As a script with a token does."""
    sender = Sender(tenant.workspace.pk, token_id=None, user_id=None)
    return receive(sender, files or [make_file()], raw_envelope=envelope).upload


def send_early_trial(tenant):
    """A trial of a run that goes on."""
    envelope = make_envelope(1)
    envelope["run"] |= {"id": str(uuid.uuid4())}
    return send_by_program(tenant, make_file(name="0.txt"), envelope=envelope)


def zip_of(*texts):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for number, text in enumerate(texts):
            archive.writestr(f"{number}.txt", text)
    return make_file(data.getvalue(), "results.zip")


def reading_order(count):
    """The uploads in the order in which one reader takes them, one after the other."""
    order = []
    for _ in range(count):
        held = claim_next()
        order.append(held.upload_id)
        queue.finish(held, State.PARSED)
    return order


def test_interactive_uploads_go_before_archives_of_the_workspace(lab):
    archives = [send_by_program(lab, zip_of(WRK, WRK)).pk for _ in range(3)]
    pasted, live = make_upload(lab).pk, send_early_trial(lab).pk
    assert reading_order(5) == [pasted, live, *archives]


def test_in_the_slow_lane_too(lab):
    archive, pasted = send_by_program(lab, zip_of(WRK)).pk, make_upload(lab).pk
    Upload.objects.update(is_slow=True)
    assert reading_order(2) == [pasted, archive]


@pytest.mark.parametrize(
    ("text", "is_interactive"),
    [(WRK, True), (WRK + "# padding\n" * 40_000, True), (gzip.compress(WRK.encode()), False)],
    ids=["report", "large", "packed"],
)
def test_what_a_person_sends_is_interactive_unless_it_is_packed(lab, text, is_interactive):
    assert make_upload(lab, text).is_interactive is is_interactive


def test_the_end_of_a_run_that_came_trial_by_trial_is_interactive(lab):
    envelope = make_envelope(2)
    envelope["trials"][0] |= {"artefacts": [], "upload": str(uuid.uuid4())}
    last = send_by_program(lab, make_file(name="1.txt"), envelope=envelope)
    whole = send_by_program(lab, make_file(name="0.txt"), envelope=make_envelope(1))
    assert (last.is_interactive, whole.is_interactive) == (True, False)


def test_a_workspace_takes_no_turn_of_another(lab):
    other = make_tenant("other")
    theirs = [send_by_program(other, zip_of(WRK)).pk for _ in range(2)]
    mine = [make_upload(lab).pk for _ in range(4)]
    order = reading_order(6)
    assert {order[0], order[1]} == {theirs[0], mine[0]}
    assert {order[2], order[3]} == {theirs[1], mine[1]}
    assert order[4:] == mine[2:]


def test_nothing_waits_for_ever_behind_interactive_uploads(lab):
    archive = send_by_program(lab, zip_of(WRK)).pk
    long_ago = timedelta(seconds=HEAD_START_S + 1)
    Upload.objects.update(received_at=F("received_at") - long_ago)
    pasted = make_upload(lab).pk
    assert reading_order(2) == [archive, pasted]


def test_what_is_read_again_is_not_interactive(lab):
    failed = make_upload(lab, "just some words")
    held = claim_next()
    queue.finish(held, State.FAILED)
    queue.reopen(failed.pk)
    pasted = make_upload(lab).pk
    assert reading_order(2) == [pasted, failed.pk]


def test_after_a_fault_it_waits_for_its_pause_like_all(lab):
    pasted, archive = make_upload(lab).pk, send_by_program(lab, zip_of(WRK)).pk
    held = claim_next()
    assert held.upload_id == pasted
    queue.postpone(held, "The storage was away.")
    assert reading_order(1) == [archive]
    Upload.objects.filter(pk=pasted).update(retry_at=F("received_at") - timedelta(hours=1))
    assert reading_order(1) == [pasted]


def test_small_uploads_that_are_read_with_others_go_by_the_same_order(lab):
    other = make_tenant("other")
    for _ in range(3):
        send_by_program(other)
    queue.finish(claim_next(), State.PARSED)
    pasted, first = make_upload(other).pk, make_upload(lab).pk
    # The turn is the lab's, and it brings one upload of the other workspace along.
    claimed = [held.upload_id for group in claim_due(most=2) for held in group]
    assert claimed == [first, pasted]
