from datetime import timedelta

import pytest
from django.utils import timezone

from backend.ingest import queue
from backend.ingest.models import State, Upload
from backend.testing.uploads import make_tenant, make_upload

pytestmark = pytest.mark.django_db

LONG_AGO = timedelta(hours=1)


@pytest.fixture
def hints(monkeypatch):
    sent = []
    monkeypatch.setattr(queue, "hint", sent.append)
    return sent


@pytest.fixture
def upload():
    return make_upload(make_tenant())


def change(upload, **fields):
    Upload.objects.filter(pk=upload.pk).update(**fields)


def test_a_forgotten_upload_is_sent_again_once(upload, hints):
    change(upload, dispatched_at=timezone.now() - LONG_AGO)
    assert queue.sweep() == 1
    assert queue.sweep() == 0
    assert hints == [upload.pk]


def test_a_fresh_upload_is_left_to_its_first_hint(upload, hints):
    assert queue.sweep() == 0


def test_an_abandoned_upload_is_sent_again(upload, hints):
    queue.claim(upload.pk)
    change(upload, lease_until=timezone.now() - LONG_AGO)
    assert queue.sweep() == 1
    assert queue.claim(upload.pk).attempt == 2


def test_after_three_attempts_an_upload_is_quarantined_with_its_reason(upload, hints):
    for _ in range(3):
        assert queue.claim(upload.pk)
        change(upload, lease_until=timezone.now() - LONG_AGO)
    queue.sweep()
    upload.refresh_from_db()
    assert upload.state == State.QUARANTINED
    assert "3 times" in upload.reason
    assert hints == []
    assert queue.claim(upload.pk) is None


def test_a_lost_claim_cannot_finish(upload):
    held = queue.claim(upload.pk)
    change(upload, fence=2)
    assert not queue.finish(held, State.FAILED, reason="late")
    with pytest.raises(queue.ClaimLost):
        queue.lock_claimed(held)


def test_a_broker_that_is_away_does_not_disturb_receiving(upload, monkeypatch):
    def refuse(*_, **__):
        raise ConnectionError

    monkeypatch.setattr(queue.current_app, "send_task", refuse, raising=False)
    queue.hint(upload.pk)
