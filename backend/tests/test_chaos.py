"""Workers are killed at random points and the broker is flushed: nothing lost, nothing doubled."""

import random
import time
from collections import Counter

import pytest
import redis
from django.conf import settings as django_settings

from backend.ingest.models import State, Upload
from backend.runs.models import Run, Trial
from backend.testing.running import environment, kill, start_worker
from backend.testing.uploads import make_tenant, make_upload

UPLOADS, FLUSHES, TIME_LIMIT_S = 200, 3, 240
SEED = random.randrange(1 << 30)


# Short clocks, and room for many kills: what is tested is loss, not patience.
CLOCKS = {"LEASE_S": "2", "POLL_INTERVAL_S": "1", "MAX_ATTEMPTS": "50"}


@pytest.fixture
def clocks(settings, tmp_path):
    from backend.ingest.storage import storage

    settings.DATA_DIR = tmp_path
    settings.LEASE_S, settings.MAX_ATTEMPTS = 2, 50
    storage.cache_clear()
    yield environment(tmp_path, **CLOCKS)
    storage.cache_clear()


@pytest.mark.chaos
@pytest.mark.timeout(TIME_LIMIT_S + 60)
@pytest.mark.django_db(transaction=True)
def test_two_hundred_uploads_survive_killed_workers_and_a_flushed_broker(clocks):
    chance = random.Random(SEED)
    broker = redis.Redis.from_url(django_settings.REDIS_URL)
    tenant = make_tenant()
    flush_at = set(chance.sample(range(20, UPLOADS), FLUSHES))
    worker, kills, deadline = start_worker(clocks), 0, time.monotonic() + TIME_LIMIT_S
    next_kill = time.monotonic() + 2.5
    try:
        for number in range(UPLOADS):
            make_upload(tenant)
            time.sleep(chance.uniform(0, 0.25))
            if number in flush_at:
                broker.flushall()
            if time.monotonic() > next_kill:
                kill(worker)
                kills += 1
                worker = start_worker(clocks)
                next_kill = time.monotonic() + chance.uniform(1.5, 4)
        while Upload.objects.exclude(state=State.PARSED).exists():
            assert time.monotonic() < deadline, (SEED, states())
            time.sleep(0.5)
            if kills < 6 and time.monotonic() > next_kill:
                kill(worker)
                kills += 1
                worker = start_worker(clocks)
                next_kill = time.monotonic() + chance.uniform(2, 4)
    finally:
        kill(worker)
    print(f"{UPLOADS} uploads, {kills} kills, {FLUSHES} flushes, seed {SEED}")  # noqa: T201
    assert kills >= 3
    assert states() == {State.PARSED: UPLOADS}
    assert Run.objects.count() == Trial.objects.count() == UPLOADS


def states():
    return Counter(Upload.objects.values_list("state", flat=True))
