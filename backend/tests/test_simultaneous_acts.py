"""Each destructive act beside each kind of writer. `scripts/bench locks` does it many times."""

import os

import pytest

from backend.runs.models import Server
from backend.testing.simultaneous.acts import ACTS
from backend.testing.simultaneous.campaign import strike
from backend.testing.simultaneous.writers import make_world

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("own_storage", "_small_parts"),
    pytest.mark.long,
    pytest.mark.processes,
]
ROUNDS = int(os.environ.get("SIMULTANEOUS_ROUNDS", "1"))


@pytest.fixture
def _small_parts(monkeypatch):
    monkeypatch.setattr("backend.ingest.artefacts.parts.LEAST_PART_BYTES", 1)


def test_what_acts_strike_is_there_before_any_writer_begins():
    workspace = make_world().busy.workspace
    # By name: merge_names and rename_server.
    names = {"secret-server", "other-server", "hello"}
    assert names <= set(Server.objects.filter(workspace=workspace).values_list("name", flat=True))


@pytest.mark.parametrize("kind", ACTS)
def test_no_act_meets_a_deadlock_or_leaves_anything(kind):
    for act in ACTS[kind] * ROUNDS:
        report = strike(act)
        assert report.broken == [], (act.__name__, report.answers)
