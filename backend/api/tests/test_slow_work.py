"""What takes long for one viewer or one run leaves an answer for everybody else."""

import threading
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from django.db import connections
from django.test import Client

from backend.analysis.compare import comparison
from backend.analysis.loading.viewer_slots import MEMBERS, RETRY_AFTER_S, VISITORS
from backend.fleet.models import Progress
from backend.ingest.queue.worker import process
from backend.links import run_link
from backend.runs.models import Run, Trial
from backend.runs.recording import trial_row
from backend.testing.scenes import make_scene
from backend.testing.uploads import (
    WRK,
    make_envelope,
    make_tenant,
    make_trial,
    make_upload,
)
from backend.untrusted.sandbox import fair_slots

pytestmark = pytest.mark.django_db(transaction=True)
# Of a busy machine.
PATIENCE_S = 60.0


class Hold:
    """Work that stands still until it is let go."""

    def __init__(self):
        self.begun, self.released = threading.Semaphore(0), threading.Event()

    def wait(self):
        self.begun.release()
        self.released.wait(PATIENCE_S)

    def wait_until_begun(self, times=1):
        for _ in range(times):
            assert self.begun.acquire(timeout=PATIENCE_S)


@pytest.fixture
def hold():
    hold = Hold()
    yield hold
    hold.released.set()


def in_thread(pool, work, *arguments):
    def run():
        try:
            return work(*arguments)
        finally:
            connections.close_all()

    return pool.submit(run)


def compare(number, *, headers=None, slug=None, address="192.0.2.1"):
    """A question of its own, so that no kept answer is given."""
    asked = {"limit": number + 1} | ({} if slug is None else {"workspace": slug})
    return Client(headers=headers, REMOTE_ADDR=address).get("/api/v1/compare", asked)


@pytest.fixture
def slow(hold, monkeypatch):
    """The workspaces whose comparisons stand still."""
    slow = set()
    monkeypatch.setattr(fair_slots, "PATIENCE_S", PATIENCE_S)
    compute = comparison.compare

    def compare_slowly(query, *, workspace_ids):
        if slow.intersection(workspace_ids):
            hold.wait()
        return compute(query, workspace_ids=workspace_ids)

    monkeypatch.setattr(comparison, "compare", compare_slowly)
    return slow


@contextmanager
def flooded(hold, ask, slots=MEMBERS):
    """A viewer has every slot of a viewer while the block runs; yields the answers to come."""
    running, places = slots._running_of_owner, slots.of_owner
    with ThreadPoolExecutor(places) as pool:
        try:
            held = [in_thread(pool, ask, number) for number in range(places)]
            hold.wait_until_begun(running)
            while len(slots._queue) < places - running:
                threading.Event().wait(0.01)
            yield held
        finally:
            hold.released.set()


def test_a_viewers_flood_of_comparisons_gets_429_and_another_viewer_an_answer(hold, slow):
    scene = make_scene()
    slow.add(scene.own.workspace.pk)

    def ask(number):
        return compare(number, headers=scene.own.headers)

    with flooded(hold, ask) as held:
        flood = [ask(100 + number) for number in range(20)]
        other = compare(0, headers=scene.foreign.headers)
        hold.released.set()
        answered = [future.result(PATIENCE_S) for future in held]

    assert [answer.status_code for answer in flood] == [429] * 20
    assert {answer["Retry-After"] for answer in flood} == {str(RETRY_AFTER_S)}
    assert all("wait" in answer.json()["detail"] for answer in flood)
    assert other.status_code == 200
    assert [answer.status_code for answer in answered] == [200] * MEMBERS.of_owner
    assert ask(200).status_code == 200


def make_public(tenant):
    tenant.workspace.is_public = True
    tenant.workspace.save()


def test_a_strangers_flood_leaves_other_visitors_of_a_public_workspace_an_answer(hold, slow):
    public = make_scene().own
    make_public(public)
    slow.add(public.workspace.pk)

    def ask(number, address="192.0.2.1"):
        return compare(number, slug=public.workspace.slug, address=address)

    with flooded(hold, ask, VISITORS):
        assert ask(100).status_code == 429
        slow.clear()
        assert ask(101, address="192.0.2.2").status_code == 200
        assert compare(102, headers=public.headers).status_code == 200


def test_a_user_has_one_share_whatever_public_workspace_is_asked_for(hold, slow):
    scene = make_scene()
    own, other = scene.own, scene.foreign
    make_public(other)
    slow.add(own.workspace.pk)
    slow.add(other.workspace.pk)

    def ask(number):
        slug = (own, other)[number % 2].workspace.slug
        return compare(number, headers=own.headers, slug=slug)

    with flooded(hold, ask):
        assert [ask(100).status_code, ask(101).status_code] == [429, 429]


def test_where_others_have_all_places_a_visitor_gets_503(monkeypatch):
    public = make_scene().own
    make_public(public)
    monkeypatch.setattr(VISITORS, "running", 0)
    monkeypatch.setattr(VISITORS, "_most_waiting", 0)

    answer = compare(0, slug=public.workspace.slug)

    assert answer.status_code == 503
    assert answer["Retry-After"] == str(RETRY_AFTER_S)
    assert answer.json()["hint"].startswith("Wait")


def trial(ordinal, **more):
    return {**make_trial(ordinal), "phase": "measure", **more}


def heartbeat(tenant, run_id, done):
    run = {"id": str(run_id), "state": "running", "trials_done": done, "trials_planned": 9}
    body = {"agent": {"name": "a", "version": "1", "hostname": "bench-1"}, "run": run}
    headers = tenant.headers
    return Client().post(
        "/api/v1/heartbeat", body, content_type="application/json", headers=headers
    )


def send_early(tenant, run_id):
    envelope = make_envelope(0)
    envelope["trials"] = [trial(0, artefacts=["0.txt"])]
    envelope["run"] |= {"id": str(run_id), "plan": "[load]"}
    upload = make_upload(tenant, WRK, envelope=envelope)
    process(upload.pk)
    return upload


def send_whole(tenant, run_id, early):
    """The upload that ends the run: eight more trials."""
    envelope = make_envelope(0, id=str(run_id))
    envelope["run"] |= {"id": str(run_id), "plan": "[load]", "trials_planned": 9}
    others = [trial(ordinal, artefacts=["0.txt"]) for ordinal in range(1, 9)]
    envelope["trials"] = [trial(0, artefacts=[], upload=str(early.pk)), *others]
    return make_upload(tenant, WRK.replace("18000", "18300"), envelope=envelope)


def test_a_run_that_is_written_slowly_is_shown_as_it_was_and_its_agent_is_heard(hold, monkeypatch):
    tenant, run_id = make_tenant(), uuid.uuid4()
    assert heartbeat(tenant, run_id, 1).status_code == 200
    early = send_early(tenant, run_id)
    whole = send_whole(tenant, run_id, early)
    viewer = Client()
    viewer.force_login(tenant.user)
    check = trial_row.check_trial

    def check_slowly(figures):
        hold.wait()
        return check(figures)

    monkeypatch.setattr(trial_row, "check_trial", check_slowly)
    progress = f"/api/v1/runs/{run_id}/progress"
    with ThreadPoolExecutor(1) as pool:
        writing = in_thread(pool, process, whole.pk)
        hold.wait_until_begun()

        for done in range(2, 9):
            assert heartbeat(tenant, run_id, done).status_code == 200
            told = viewer.get(progress).json()
            assert (told["state"], told["trials_recorded"]) == ("running", 1)
            assert told["trials_done"] == done
            assert viewer.get(run_link(run_id)).status_code == 200
        trials = viewer.get(f"/api/v1/runs/{run_id}").json()["trials"]
        hold.released.set()
        writing.result(PATIENCE_S)

    assert [entry["ordinal"] for entry in trials] == [0]
    assert Trial.objects.filter(run=run_id).count() == 9
    assert not Run.objects.get(pk=run_id).is_open
    assert Progress.objects.get(run=run_id).trials_done == 8
    told = viewer.get(progress).json()
    assert (told["state"], told["trials_recorded"]) == ("finished", 9)
