"""Several machines without a shared disk lose nothing when machines are killed for good.

The same with 5,000 uploads, and how reading grows with workers: `scripts/bench scale`.
"""

import pytest

from backend.testing.s3_server import MISSING, find_program
from backend.testing.scale.losses import Plan, as_lines, run
from backend.testing.scale.machines import Cluster
from backend.testing.supervised import open_folder

UPLOADS = 60
# A minute on two idle cores. The limit ends a test that hangs, on any machine.
TIME_LIMIT_S = 600
# Leases are short so that the test is: what is tested is loss, not patience.
VARIABLES = {"LEASE_S": "3", "POLL_INTERVAL_S": "1"}


@pytest.mark.chaos
@pytest.mark.timeout(TIME_LIMIT_S + 120)
def test_machines_are_killed_for_good_and_nothing_is_lost_or_doubled():
    if find_program() is None:
        pytest.skip(MISSING)
    with open_folder("loadsheet-scale-") as folder, Cluster(folder, VARIABLES) as cluster:
        report = run(cluster, Plan(UPLOADS, backlog=20, limit_s=TIME_LIMIT_S))
        lines = "\n".join(as_lines(report))
        data = [
            place
            for machine in cluster.machines
            for place in (machine.folder / "data").rglob("*")
            if place.is_file()
        ]
    assert report.broken_promises == [], lines
    assert report.outcome.read == UPLOADS
    # What they share is in the bucket and in the database.
    assert report.objects >= UPLOADS, lines
    assert data == []
