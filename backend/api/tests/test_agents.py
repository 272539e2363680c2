import uuid
from datetime import datetime, timedelta

import pytest
from django.test import Client
from django.utils import timezone

from backend.accounts.models import Token
from backend.fleet.models import Agent, Progress
from backend.runs.models import Run, Trial

pytestmark = pytest.mark.django_db

AGENT = {"name": "loadsheet-agent", "version": "0.1.0", "hostname": "bench-1"}
CURRENT = {
    "ordinal": 4,
    "server": "gunicorn sync",
    "workload": "hello",
    "connections": 64,
    "rate_rps": None,
    "repeat": 2,
    "phase": "measure",
}


def word(**more):
    return {"id": str(uuid.uuid4()), "state": "running", "trials_done": 4, **more}


def beat(tenant, run=None, agent=AGENT):
    return Client(headers=tenant.headers).post(
        "/api/v1/heartbeat", {"agent": agent, "run": run}, content_type="application/json"
    )


def test_a_token_learns_where_its_results_go_and_what_time_it_is(scene):
    before = timezone.now()
    answer = Client(headers=scene.own.headers).get("/api/v1/me").json()
    assert (answer["kind"], answer["name"]) == ("token", "test")
    assert answer["scopes"] == ["agent", "runs:write", "runs:read"]
    (place,) = answer["workspaces"]
    assert place["slug"] == "own-lab"
    assert place["url"].endswith("/w/own-lab/")
    assert before <= datetime.fromisoformat(answer["time"]) <= timezone.now()


def test_a_user_learns_every_workspace_of_theirs(scene):
    client = Client()
    client.force_login(scene.viewer)
    answer = client.get("/api/v1/me").json()
    assert (answer["kind"], answer["name"], answer["expires_at"]) == ("user", "viewer", None)
    assert [one["slug"] for one in answer["workspaces"]] == ["own-lab"]


def test_an_agent_is_heard(scene):
    run = word(trials_planned=20, current=CURRENT, seconds_left=61.5, silent_s=14.0)
    run["last"] = {"throughput_rps": 812.5, "p99_us": 9100.0, "error_rate": None}
    answer = beat(scene.own, run)
    assert answer.status_code == 200
    assert answer.json()["workspaces"][0]["slug"] == "own-lab"
    progress = Progress.objects.get(run=run["id"])
    assert progress.agent.host_name == "bench-1"
    assert progress.workspace == scene.own.workspace
    assert (progress.trials_done, progress.trials_planned) == (4, 20)
    assert progress.current == CURRENT
    assert progress.last == run["last"]
    assert (progress.silent_until - progress.heard_at).total_seconds() > 14


def test_an_agent_without_a_run_is_heard_too(scene):
    assert beat(scene.own).status_code == 200
    assert Agent.objects.get().token.workspace == scene.own.workspace
    assert not Progress.objects.exists()


@pytest.mark.parametrize(
    ("field", "run"),
    [
        ("run.state", word(state="dead")),
        ("run.id", word(id="1")),
        ("run.trials_done", word(trials_done=-1)),
        ("run.seconds_left", word(seconds_left=1e99)),
        ("run.current.phase", word(current={**CURRENT, "phase": "x"})),
        ("run.current.server", word(current={**CURRENT, "server": "a\0b"})),
    ],
)
def test_a_word_that_is_not_understood_is_refused_by_its_field(scene, field, run):
    answer = beat(scene.own, run)
    assert answer.status_code == 400
    assert [one["field"] for one in answer.json()["errors"]] == [field]
    assert not Agent.objects.exists()


@pytest.mark.parametrize("is_reported", [True, False])
def test_a_run_of_another_workspace_is_as_an_unknown_one(scene, is_reported):
    run = word(id=str(scene.run.pk))
    if is_reported:
        assert beat(scene.own, run).status_code == 200
    unknown = word()
    for report in (run, unknown):
        assert beat(scene.foreign, report).status_code == 200
    told, as_unknown = (
        progress_of(scene.foreign, report["id"]).json() | dict.fromkeys(["run", "heard_at"])
        for report in (run, unknown)
    )
    assert told == as_unknown
    assert told["trials_recorded"] == 0
    assert Trial.objects.filter(run=scene.run).exists()
    assert progress_of(scene.own, run["id"]).json()["trials_recorded"] > 0


def test_a_token_that_only_reads_says_nothing(scene):
    Token.objects.filter(workspace=scene.own.workspace).update(scopes=["runs:read"])
    assert beat(scene.own).status_code == 403


def progress_of(tenant, run_id, etag=""):
    client = Client(headers={**tenant.headers, "if-none-match": etag})
    return client.get(f"/api/v1/runs/{run_id}/progress")


def test_a_run_is_known_from_its_first_word_on(scene):
    run = word(trials_planned=20, current=CURRENT, seconds_left=61.5, silent_s=14.0)
    assert progress_of(scene.own, run["id"]).status_code == 404
    beat(scene.own, run)
    answer = progress_of(scene.own, run["id"])
    assert answer.json() == {
        "run": run["id"],
        "state": "running",
        "trials_recorded": 0,
        "trials_done": 4,
        "trials_planned": 20,
        "current": CURRENT,
        "last": None,
        "seconds_left": 61.5,
        "heard_at": answer.json()["heard_at"],
    }
    assert progress_of(scene.foreign, run["id"]).status_code == 404


def test_it_is_answered_anew_only_when_something_changed(scene):
    run = word()
    beat(scene.own, run)
    etag = progress_of(scene.own, run["id"])["ETag"]
    again = progress_of(scene.own, run["id"], etag)
    assert (again.status_code, again.content) == (304, b"")
    beat(scene.own, {**run, "trials_done": 5})
    assert progress_of(scene.own, run["id"], etag).status_code == 200


def test_an_agent_that_is_not_heard_in_time_leaves_its_run_silent(scene):
    run = word(current=CURRENT)
    beat(scene.own, run)
    long_ago = timezone.now() - timedelta(hours=1)
    Progress.objects.update(heard_at=long_ago, silent_until=long_ago)
    answer = progress_of(scene.own, run["id"]).json()
    assert (answer["state"], answer["current"]) == ("silent", None)


@pytest.mark.parametrize(
    ("fields", "state"),
    [
        ({}, "finished"),
        ({"interrupted": True}, "interrupted"),
        ({"stopped": "by a rule", "interrupted": True}, "stopped"),
        ({"is_open": True}, "running"),
    ],
)
def test_what_came_of_the_run_counts_more_than_what_was_said(scene, fields, state):
    beat(scene.own, {**word(silent_s=60), "id": str(scene.run.pk)})
    Run.objects.filter(pk=scene.run.pk).update(**fields)
    answer = progress_of(scene.own, scene.run.pk).json()
    assert (answer["state"], answer["trials_recorded"]) == (state, 12)


def test_agents_meet_over_the_api(scene):
    client = Client(headers=scene.own.headers)

    def meet(run, **more):
        wish = {"name": "big", "parts": 2, "plan_sha256": "a" * 64, "seed": 5, "run": str(run)}
        body = {**wish, "host_name": "client", "step": 0, **more}
        return client.post("/api/v1/sessions", body, content_type="application/json")

    first, second, third = (uuid.uuid4() for _ in range(3))
    assert meet(first).json()["starts_at"] is None
    answer = meet(second).json()
    assert (answer["seats"], answer["parts"], answer["seed"]) == (2, 2, 5)
    assert datetime.fromisoformat(answer["starts_at"]) > datetime.fromisoformat(answer["time"])
    refused = meet(third)
    assert refused.status_code == 409
    assert "All 2 agents" in refused.json()["detail"]
    for field, value in (("name", "a/b"), ("parts", 1), ("plan_sha256", "x"), ("step", -1)):
        bad = meet(first, **{field: value})
        assert [one["field"] for one in bad.json()["errors"]] == [field]
