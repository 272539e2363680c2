"""Workers find uploads without a hint: with the broker away, and whatever their clock says."""

import time

import pytest
from django.db import OperationalError

from backend.broker import Guard
from backend.ingest.models import State, Upload
from backend.ingest.queue import poller, worker
from backend.ingest.queue.poller import Poller
from backend.ingest.queue.worker import drain, read_due
from backend.ingest.receiving import hints
from backend.storage import storage
from backend.testing.running import make_machine
from backend.testing.uploads import make_tenant, make_upload

# Nobody listens there.
NO_BROKER = "redis://127.0.0.1:1/0"
PATIENCE_S = 120


@pytest.fixture
def data_dir(settings, tmp_path):
    settings.DATA_DIR = tmp_path
    storage.cache_clear()
    yield tmp_path
    storage.cache_clear()


def wait_until_read():
    deadline = time.monotonic() + PATIENCE_S
    while Upload.objects.exclude(state=State.PARSED).exists():
        assert time.monotonic() < deadline, list(Upload.objects.values_list("state", flat=True))
        time.sleep(0.1)


@pytest.mark.processes
@pytest.mark.timeout(PATIENCE_S + 60)
@pytest.mark.django_db(transaction=True)
def test_without_a_broker_workers_read_what_is_committed(data_dir, monkeypatch):
    guard = Guard("broker")
    guard.pause(float("inf"))
    monkeypatch.setattr(hints, "BROKER", guard)  # not one hint is sent
    tenant = make_tenant()
    worker = make_machine("worker", data_dir, REDIS_URL=NO_BROKER, POLL_INTERVAL_S="1")
    try:
        worker.start_worker(readers=2)
        for _ in range(5):
            make_upload(tenant)
        wait_until_read()
        make_upload(tenant)
        wait_until_read()
    finally:
        worker.kill()


def test_no_message_expires(monkeypatch):
    """Celery compares the end of a message with the worker's own clock."""
    sent = {}
    monkeypatch.setattr(
        hints.current_app, "send_task", lambda name, **options: sent.update({name: options}), False
    )
    hints._send_hint()
    assert "expires" not in sent[hints.DRAIN_TASK]
    for entry in hints.current_app.conf.beat_schedule.values():
        assert "expires" not in entry.get("options", {})


def test_a_database_that_is_away_does_not_end_the_polling(monkeypatch):
    def away(**_):
        raise OperationalError("connection refused")

    monkeypatch.setattr(worker, "drain", away)
    monkeypatch.setattr(poller, "close_old_connections", lambda: None)
    Poller(read_due, fault="queue_not_polled").poll()


@pytest.mark.django_db
def test_a_reader_that_stops_claims_nothing_more():
    upload = make_upload(make_tenant())
    drain(is_stopping=lambda: True)
    upload.refresh_from_db()
    assert upload.state == State.RECEIVED


def test_a_poller_ends_when_it_is_stopped(settings):
    settings.POLL_INTERVAL_S = 3600
    poller = Poller(read_due, fault="queue_not_polled")
    poller.start()
    poller.stop()
    assert not poller._thread.is_alive()
