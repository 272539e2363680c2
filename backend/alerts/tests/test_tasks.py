"""What a worker does beside reading: judging, sending, and what beat asks for."""

import pytest
from django.conf import settings
from django.db import OperationalError

from backend.alerts import tasks
from backend.alerts.models import PendingRun
from backend.alerts.tasks import judge, send, tend
from backend.config.celery import app
from backend.deliveries.models import Delivery
from backend.deliveries.queue import Message, enqueue_for
from backend.ingest.queue import poller
from backend.ingest.queue.poller import Poller
from backend.testing.rows import CellSpec, make_run


def test_every_task_of_beat_is_one_that_workers_have():
    app.loader.import_default_modules()
    asked = {entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()}
    assert asked <= set(app.tasks)


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["look_at_agents", "forget_old", "forget_turns"])
def test_a_fault_of_one_step_of_the_clock_stops_no_other(name, monkeypatch, caplog):
    def fault():
        raise RuntimeError("unforeseen")

    fault.__name__ = name
    ended = []
    monkeypatch.setattr(tasks, name, fault)
    monkeypatch.setattr(tasks, "forget_suspicions", lambda: ended.append(name))
    tend()
    assert (ended, caplog.messages.count("step_failed")) == ([name], 1)


@pytest.fixture
def this_connection(monkeypatch):
    """The thread of a worker has a connection of its own, which the test has not."""
    monkeypatch.setattr(poller, "close_old_connections", lambda: None)


def test_pollers_judge_and_send(rule, channel, workspace, this_connection, monkeypatch):
    monkeypatch.setattr("backend.deliveries.queue.send", lambda _: 200)
    run = make_run(workspace, CellSpec())
    PendingRun.objects.create(run=run, workspace=workspace)
    enqueue_for(channel, Message("test", "a", "b", "http://127.0.0.1:8000/"))
    for work in (judge, send):
        Poller(work, fault="not_polled").poll()
    assert not PendingRun.objects.exists()
    assert set(Delivery.objects.values_list("state", flat=True)) == {"delivered"}


@pytest.mark.parametrize("fault", [OperationalError("away"), RuntimeError("unforeseen")])
def test_a_messenger_outlives_faults(fault, this_connection, monkeypatch, caplog):
    def fail():
        raise fault

    monkeypatch.setattr(tasks, "judge_next", fail)
    Poller(judge, fault="runs_not_judged").poll()
    assert "runs_not_judged" in caplog.text


def test_a_messenger_stops_when_it_is_told(monkeypatch):
    monkeypatch.setattr(settings, "POLL_INTERVAL_S", 60)
    messenger = Poller(judge, fault="runs_not_judged")
    messenger.start()
    messenger.stop()
    assert not messenger._thread.is_alive()
