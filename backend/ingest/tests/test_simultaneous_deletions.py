"""Two members who delete runs of one host at the same time."""

import threading

import pytest
from django.db import connection, transaction

from backend.ingest.removing.trash import trash_run
from backend.noise.models import HostNoise
from backend.noise.record import refresh_hosts
from backend.runs.models import Host, Run
from backend.testing.rows import MACHINE, CellSpec, make_run
from backend.testing.uploads import make_tenant

pytestmark = pytest.mark.django_db(transaction=True)
PATIENCE_S = 60
# Other processes of the tests have databases on the same server.
_WAITING = """
    SELECT count(*) FROM pg_stat_activity
    WHERE wait_event_type = 'Lock' AND datname = current_database()
"""


@pytest.fixture
def host():
    workspace = make_tenant("lab").workspace
    for rate in (1000.0, 1100.0, 1300.0, 900.0, 1600.0):
        rates = tuple(rate + step for step in range(4))
        make_run(workspace, CellSpec("caddy", rates=rates), host=MACHINE)
    host = Host.objects.get()
    with transaction.atomic():
        refresh_hosts([host.pk])
    return host


def noise_of(host):
    return HostNoise.objects.filter(host=host).values_list("run_sd", "run_freedom").get()


def test_the_noise_of_the_host_leaves_out_both(host):
    before = noise_of(host)
    first, second, *_ = Run.objects.order_by("recorded_at", "pk")
    is_second_done = threading.Event()

    def delete_second():
        try:
            trash_run(second, by=None)
        finally:
            is_second_done.set()
            connection.close()

    other = threading.Thread(target=delete_second)
    with transaction.atomic():
        trash_run(first, by=None)
        other.start()
        _wait_until_blocked_or(is_second_done)
    other.join(PATIENCE_S)
    assert Run.objects.count() == 3
    stored = noise_of(host)
    with transaction.atomic():
        refresh_hosts([host.pk])
    assert stored == noise_of(host) != before


def _wait_until_blocked_or(is_done):
    """Until the other transaction waits for this one, or has ended without waiting."""
    while not is_done.wait(0.05):
        with connection.cursor() as cursor:
            cursor.execute(_WAITING)
            if cursor.fetchone()[0]:
                return
