"""From the upload to the rules: no run is missed, and a fault of one stops no other."""

from datetime import timedelta

import pytest
from django.utils import timezone

from backend.alerts import pending
from backend.alerts.models import PendingRun
from backend.alerts.noting import note_runs
from backend.alerts.pending import judge_next
from backend.alerts.rules import add_rule
from backend.deliveries.channels import add_channel
from backend.deliveries.models import Delivery
from backend.ingest.queue.worker import drain, process
from backend.testing.rows import CellSpec, make_run
from backend.testing.uploads import make_tenant, make_upload
from backend.testing.worked_off import judge_due

pytestmark = pytest.mark.django_db


@pytest.fixture
def tenant():
    return make_tenant("lab")


def test_a_run_that_was_read_waits_for_the_rules_and_is_announced(tenant, settings):
    settings.WEBHOOKS = "any"
    add_channel(
        tenant.workspace,
        author=None,
        kind="webhook",
        name="ci",
        address="http://127.0.0.1:1/",
        topics=["runs"],
    )
    upload = make_upload(tenant)
    process(upload.pk)
    assert PendingRun.objects.get().run_id == upload.pk
    assert judge_due() == 1
    assert (PendingRun.objects.count(), judge_due()) == (0, 0)
    assert Delivery.objects.get().event == "run.read"


def test_runs_that_were_read_together_wait_as_well(tenant):
    add_rule(tenant.workspace, author=None, kind="noisy_host", name="noise")
    uploads = [make_upload(tenant) for _ in range(3)]
    drain()
    assert {row.pk for row in PendingRun.objects.all()} == {upload.pk for upload in uploads}


def test_where_nothing_watches_nothing_waits(tenant):
    process(make_upload(tenant).pk)
    assert not PendingRun.objects.exists()


def test_a_fault_is_tried_three_times_and_stops_no_other(tenant, monkeypatch):
    add_rule(tenant.workspace, author=None, kind="noisy_host", name="noise")
    bad, good = (make_run(tenant.workspace, CellSpec()) for _ in range(2))
    for run in (bad, good):
        note_runs(run.workspace_id, [run.pk])
    judged = []

    def judge(run):
        judged.append(run)
        if run == bad:
            raise RuntimeError("unforeseen")

    monkeypatch.setattr(pending, "judge_run", judge)
    for _ in range(5):
        judge_due()
        PendingRun.objects.update(due_at=timezone.now() - timedelta(seconds=1))
    assert (judged.count(bad), judged.count(good)) == (3, 1)
    assert not PendingRun.objects.exists()


def test_many_runs_of_a_workspace_hold_up_no_other(tenant, monkeypatch):
    flood, quiet = tenant.workspace, make_tenant("quiet").workspace
    for workspace in (flood, quiet):
        add_rule(workspace, author=None, kind="noisy_host", name="noise")
    for _ in range(30):
        note_runs(flood.pk, [make_run(flood, CellSpec()).pk])
    note_runs(quiet.pk, [make_run(quiet, CellSpec()).pk])
    judged = []
    monkeypatch.setattr(pending, "judge_run", lambda run: judged.append(run.workspace))
    # By lots of two, one of 20 is the other workspace's but for once in a million times.
    for _ in range(20):
        judge_next()
    assert quiet in judged
