from datetime import timedelta
from types import SimpleNamespace

import psycopg
import pytest
from django.contrib.postgres.functions import TransactionNow
from django.db import connection
from django.utils import timezone

from backend.broker import Guard
from backend.ingest.models import State, Upload
from backend.ingest.queue import budget, queue, worker
from backend.ingest.queue.claims import claim_due
from backend.ingest.receiving import hints
from backend.testing.uploads import claim_next, make_tenant, make_upload
from backend.untrusted.sandbox import sandbox

pytestmark = pytest.mark.django_db

LONG_AGO = timedelta(hours=1)


@pytest.fixture
def sent_hints(monkeypatch):
    """The hints that reach the broker."""
    sent = []
    monkeypatch.setattr(hints, "_send_hint", lambda: sent.append(1))
    monkeypatch.setattr(hints, "BROKER", Guard("broker"))
    hints.hint_arrived()
    yield sent
    hints.hint_arrived()


@pytest.fixture
def tenant():
    return make_tenant()


@pytest.fixture
def upload(tenant):
    return make_upload(tenant)


def states():
    return list(Upload.objects.values_list("state", flat=True))


def change(upload, **fields):
    Upload.objects.filter(pk=upload.pk).update(**fields)


def abandon(upload):
    """Its worker died, and the lease is over."""
    change(upload, lease_until=timezone.now() - LONG_AGO)
    assert queue.requeue_abandoned() == 1


def wait_out(upload):
    change(upload, retry_at=timezone.now() - LONG_AGO)


def test_an_abandoned_upload_is_claimed_again(upload):
    queue.claim_one(upload.pk)
    assert queue.requeue_abandoned() == 0
    assert claim_next() is None
    abandon(upload)
    assert claim_next().attempt == 1


def test_the_lease_of_a_dead_worker_is_part_of_the_pause(upload, settings):
    settings.LEASE_S = queue.FIRST_PAUSE_S
    queue.claim_one(upload.pk)
    abandon(upload)
    upload.refresh_from_db()
    assert (upload.faults, upload.retry_at) == (1, None)
    queue.claim_one(upload.pk)
    abandon(upload)
    assert claim_next() is None  # the second pause is longer than the lease
    wait_out(upload)
    assert claim_next().attempt == 1


@pytest.mark.django_db(transaction=True)
def test_an_abandoned_upload_that_is_being_written_is_left_alone(upload):
    held = queue.claim_one(upload.pk)
    change(upload, lease_until=timezone.now() - LONG_AGO)
    writer = connection.copy()
    try:
        writer.set_autocommit(False)
        with writer.cursor() as cursor:
            cursor.execute("SELECT 1 FROM ingest_upload WHERE id = %s FOR UPDATE", [upload.pk])
        assert queue.requeue_abandoned() == 0
    finally:
        writer.close()
    assert queue.finish(held, State.PARSED)


def test_a_lease_from_before_the_clock_was_set_back_is_ended(upload):
    queue.claim_one(upload.pk)
    change(upload, lease_until=timezone.now() + LONG_AGO)
    assert queue.requeue_abandoned() == 1
    wait_out(upload)
    assert claim_next().upload_id == upload.pk


def test_a_pause_from_before_the_clock_was_set_back_is_over(upload):
    change(upload, retry_at=timezone.now() + LONG_AGO)
    assert claim_next().upload_id == upload.pk


@pytest.mark.parametrize("setbacks", [{"faults": 1}, {"attempts": 1}])
def test_a_short_pause_is_over_where_the_clock_was_set_back_by_ten_minutes(upload, setbacks):
    change(upload, **setbacks, retry_at=timezone.now() + timedelta(minutes=10, seconds=5))
    assert claim_next().upload_id == upload.pk


def test_a_pause_is_waited_for(upload):
    change(upload, faults=8, retry_at=timezone.now() + timedelta(minutes=10))
    assert claim_next() is None
    change(upload, faults=0, attempts=2, retry_at=timezone.now() + timedelta(minutes=5))
    assert claim_next() is None
    change(upload, attempts=0, retry_at=TransactionNow() + timedelta(seconds=4))
    assert claim_next() is None


def test_the_one_that_waits_longest_is_claimed_first(tenant, upload):
    later = make_upload(tenant)
    assert [claim_next().upload_id, claim_next().upload_id] == [upload.pk, later.pk]
    assert claim_next() is None


def test_an_upload_whose_worker_was_killed_three_times_is_still_read(upload, sent_hints):
    for faults in (1, 2, 3):
        assert claim_next().upload_id == upload.pk
        abandon(upload)
        upload.refresh_from_db()
        assert (upload.state, upload.attempts, upload.faults) == (State.RECEIVED, 0, faults)
        assert upload.reason.startswith("The worker stopped while it read this upload.")
        wait_out(upload)
    worker.drain()
    upload.refresh_from_db()
    assert (upload.state, upload.reason) == (State.PARSED, "")


def test_an_upload_that_its_worker_never_survives_is_read_alone_and_ends_after_a_day(
    tenant, upload
):
    while upload.state == State.RECEIVED:
        assert claim_next().upload_id == upload.pk
        abandon(upload)
        upload.refresh_from_db()
        assert upload.is_slow == (upload.faults >= queue.ALONE_FROM_FAULT)
        change(upload, retry_at=None)
    pauses_s = [queue.pause_s_after(faults) for faults in range(upload.faults)]
    assert 0 <= sum(pauses_s) - timedelta(days=1).total_seconds() < queue.LONGEST_PAUSE_S
    assert (upload.state, upload.attempts) == (State.FAILED, 1)
    assert upload.reason.startswith("The worker stopped while it read this upload. ")
    assert "for a day" in upload.reason
    assert queue.claim_one(upload.pk) is None


def test_uploads_that_end_their_workers_leave_a_reader_for_the_others(tenant, upload):
    uploads = [upload, make_upload(tenant), make_upload(tenant)]
    change_all = Upload.objects.filter(pk__in=[each.pk for each in uploads]).update
    change_all(faults=queue.ALONE_FROM_FAULT - 1)
    for each in uploads:
        queue.claim_one(each.pk)
    change_all(lease_until=timezone.now() - LONG_AGO)
    assert queue.requeue_abandoned() == 3
    change_all(retry_at=None)
    good = make_upload(tenant)
    claims = [claim_next() for _ in range(3)]
    assert [held is not None and held.is_slow for held in claims].count(True) == 1
    assert good.pk in {held.upload_id for held in claims if held}


def test_the_start_of_a_parser_is_not_counted_as_reading(upload, sent_hints, monkeypatch):
    monkeypatch.setattr(sandbox, "MEANWHILE_S", 0.0)
    parser = sandbox.sandbox()
    parser.close()

    # A start that takes 1,000 s by the clock of the worker.
    def seconds():
        return 1000.0 if parser.child else 0.0

    monkeypatch.setattr(budget, "time", SimpleNamespace(monotonic=seconds, process_time=seconds))
    worker.drain()
    upload.refresh_from_db()
    assert (upload.state, upload.is_slow) == (State.PARSED, False)


def test_many_commits_need_one_hint_until_it_arrives(sent_hints):
    for _ in range(5):
        hints.hint()
    assert sent_hints == [1]
    hints.hint_arrived()
    hints.hint()
    assert sent_hints == [1, 1]


def test_a_drain_reads_all_that_is_due_and_wakes_another_worker_once(tenant, upload, sent_hints):
    make_upload(tenant)
    worker.drain()
    assert set(states()) == {State.PARSED}
    assert sent_hints == [1]


def test_a_worker_whose_shift_is_over_leaves_the_rest_to_the_next(
    tenant, upload, sent_hints, monkeypatch
):
    make_upload(tenant)
    monkeypatch.setattr(worker, "SHIFT_S", -1.0)
    monkeypatch.setattr(worker, "claim_due", lambda: claim_due(most=1))
    worker.drain()
    assert sorted(states()) == [State.PARSED, State.RECEIVED]
    assert sent_hints


def test_a_lost_claim_cannot_finish(upload):
    held = queue.claim_one(upload.pk)
    change(upload, fence=2)
    assert not queue.finish(held, State.FAILED, reason="late")
    with pytest.raises(queue.ClaimLost):
        queue.lock_claimed(held)


def test_a_broker_that_is_away_does_not_disturb_receiving(upload, monkeypatch):
    def refuse(*_, **__):
        raise ConnectionError

    monkeypatch.setattr(hints.current_app, "send_task", refuse, raising=False)
    hints.hint_arrived()
    hints.hint()


@pytest.mark.django_db(transaction=True)
def test_an_upload_that_is_being_ended_is_not_abandoned(upload):
    """Its holder has the row locked: to wait for it would hold up every reader."""
    queue.claim_one(upload.pk)
    change(upload, lease_until=timezone.now() - LONG_AGO)
    settings = connection.settings_dict
    with psycopg.connect(
        host=settings["HOST"], user=settings["USER"], dbname=settings["NAME"]
    ) as holder:
        holder.execute("SELECT 1 FROM ingest_upload FOR UPDATE")
        assert queue.requeue_abandoned() == 0
    assert queue.requeue_abandoned() == 1
