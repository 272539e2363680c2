import uuid
from datetime import datetime

import pytest
from django.test import Client
from django.utils import timezone

from backend.accounts.models import Token
from backend.fleet.models import Agent, Progress

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
    assert answer["scopes"] == ["runs:write", "runs:read"]
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


def test_a_run_id_of_another_workspace_is_a_conflict_that_tells_nothing(scene):
    run = word()
    assert beat(scene.foreign, run).status_code == 200
    answer = beat(scene.own, run)
    assert answer.status_code == 409
    assert "foreign" not in answer.content.decode()


def test_a_token_that_only_reads_says_nothing(scene):
    Token.objects.filter(workspace=scene.own.workspace).update(scopes=["runs:read"])
    assert beat(scene.own).status_code == 403
