import uuid
from datetime import timedelta

import pytest
from django.utils import timezone

from backend.accounts.models import Token, TokenKind
from backend.accounts.tokens import tokens
from backend.fleet import heartbeats
from backend.fleet.heartbeats import (
    GRACE,
    HOST_KEPT,
    KEPT,
    Heartbeat,
    TooManyHosts,
    record_heartbeat,
)
from backend.fleet.models import Agent, Progress
from backend.fleet.roster import roster
from backend.runs.tables.names import TOKEN_HOSTS
from backend.testing.uploads import make_tenant

pytestmark = pytest.mark.django_db


@pytest.fixture
def tenant():
    return make_tenant("lab")


def token_of(tenant):
    return Token.objects.get(workspace=tenant.workspace)


def say(tenant, heartbeat=None, *, host="bench-1", version="0.1.0"):
    return record_heartbeat(
        token_of(tenant),
        host_name=host,
        program="loadsheet-agent",
        version=version,
        heartbeat=heartbeat,
    )


def running(run=None, **more):
    return Heartbeat(
        run=run or uuid.uuid4(), state="running", trials_done=2, trials_planned=9, **more
    )


def test_a_token_on_a_host_is_one_agent_however_often_it_is_heard(tenant):
    first = say(tenant)
    again = say(tenant, version="0.2.0")
    other = say(tenant, host="bench-2")
    assert again.pk == first.pk != other.pk
    assert Agent.objects.get(pk=first.pk).version == "0.2.0"
    assert Agent.objects.count() == 2


def test_a_run_is_alive_while_its_agent_is_silent_as_it_said(tenant):
    heartbeat = running(silent_s=600)
    say(tenant, heartbeat)
    progress = Progress.objects.get(run=heartbeat.run)
    within, after = timedelta(seconds=600), timedelta(seconds=601) + GRACE
    assert progress.state_at(progress.heard_at + within) == "running"
    assert progress.state_at(progress.heard_at + after) == "silent"


def test_a_run_that_ended_is_never_silent(tenant):
    heartbeat = Heartbeat(run=uuid.uuid4(), state="finished", trials_done=9)
    say(tenant, heartbeat)
    progress = Progress.objects.get(run=heartbeat.run)
    assert progress.state_at(progress.heard_at + timedelta(days=9)) == "finished"


def test_the_last_word_of_a_run_stands(tenant):
    heartbeat = running()
    say(tenant, heartbeat)
    say(tenant, Heartbeat(run=heartbeat.run, state="interrupted", trials_done=5))
    progress = Progress.objects.get(run=heartbeat.run)
    assert (progress.state, progress.trials_done, progress.trials_planned) == (
        "interrupted",
        5,
        None,
    )


def test_a_run_of_another_workspace_is_not_touched(tenant):
    heartbeat = running()
    say(make_tenant("other"), heartbeat)
    say(tenant, Heartbeat(run=heartbeat.run, state="finished", trials_done=0))
    rows = Progress.objects.filter(run=heartbeat.run)
    assert rows.get(workspace=tenant.workspace).state == "finished"
    assert rows.exclude(workspace=tenant.workspace).get().state == "running"


def test_what_was_said_long_ago_is_forgotten(tenant):
    old = running()
    say(tenant, old)
    Progress.objects.update(heard_at=timezone.now() - KEPT - timedelta(minutes=1))
    say(tenant, running())
    assert not Progress.objects.filter(run=old.run).exists()


def test_of_ever_new_runs_the_last_are_kept(tenant, monkeypatch):
    """A token may report 60,000 of them a minute."""
    monkeypatch.setattr(heartbeats, "MOST_HEARD", 3)
    runs = [uuid.uuid4() for _ in range(5)]
    other = make_tenant("other")
    say(other, running(runs[0]))
    for run in runs:
        say(tenant, running(run))
    say(tenant, running(runs[2]))
    assert set(kept(tenant)) == set(runs[2:])
    say(tenant, running(runs[0]))
    assert set(kept(tenant)) == {runs[0], runs[2], runs[4]}
    assert kept(other) == [runs[0]]


def test_no_token_pushes_out_the_runs_of_another(tenant, monkeypatch):
    monkeypatch.setattr(heartbeats, "MOST_HEARD", 2)
    measured = running(silent_s=7200)
    say(tenant, measured)
    clear = tokens.issue(
        TokenKind.AGENT, tenant.workspace, user=tenant.user, name="other", lifetime=GRACE
    )
    runs = [uuid.uuid4() for _ in range(4)]
    for run in runs:
        record_heartbeat(
            tokens.find(clear, TokenKind.AGENT),
            host_name="bench-2",
            program="loadsheet-agent",
            version="0.1.0",
            heartbeat=running(run),
        )
    assert set(kept(tenant)) == {measured.run, *runs[2:]}


def kept(tenant):
    rows = Progress.objects.filter(workspace=tenant.workspace)
    return list(rows.values_list("run", flat=True))


def test_the_roster_lists_the_hosts_of_every_valid_token(tenant):
    heartbeat = running()
    say(tenant, heartbeat)
    say(tenant, host="bench-2")
    rows = {row.agent.host_name: row for row in roster(tenant.workspace)}
    assert set(rows) == {"bench-1", "bench-2"}
    assert (rows["bench-1"].run, rows["bench-1"].state) == (heartbeat.run, "running")
    assert rows["bench-1"].shared_with == ("bench-2",)
    tokens.revoke(token_of(tenant))
    assert roster(tenant.workspace) == []


def test_a_token_that_only_curl_used_is_no_agent(tenant):
    Token.objects.filter(pk=token_of(tenant).pk).update(used_at=timezone.now())
    assert roster(tenant.workspace) == []


def test_the_roster_holds_nothing_of_other_workspaces(tenant):
    say(make_tenant("other"), running())
    assert roster(tenant.workspace) == []


@pytest.fixture
def many_hosts(tenant):
    """As many agents of one token as there may be."""
    agents = [
        Agent(workspace=tenant.workspace, token=token_of(tenant), host_name=f"ci-{number:03}")
        for number in range(TOKEN_HOSTS)
    ]
    return Agent.objects.bulk_create(agents)


def test_one_more_host_of_a_token_is_refused(tenant, many_hosts):
    with pytest.raises(TooManyHosts):
        say(tenant, host="one-more")
    say(tenant, host="ci-007")
    say(make_tenant("other"), host="one-more")
    assert Agent.objects.filter(token=token_of(tenant)).count() == TOKEN_HOSTS


def test_silent_hosts_make_room_but_not_one_that_measures(tenant, many_hosts):
    say(tenant, running(silent_s=600), host="ci-000")
    long_ago = timezone.now() - HOST_KEPT - timedelta(minutes=1)
    Agent.objects.filter(host_name__in=["ci-000", "ci-001"]).update(last_seen_at=long_ago)
    say(tenant, host="one-more")
    hosts = set(Agent.objects.values_list("host_name", flat=True))
    assert {"ci-000", "one-more"} <= hosts
    assert "ci-001" not in hosts


def test_a_row_of_the_roster_names_few_of_many_other_hosts(tenant, many_hosts):
    rows = {row.agent.host_name: row.shared_with for row in roster(tenant.workspace)}
    others = ("ci-001", "ci-002", "ci-003", "ci-004", "ci-005", "and 94 more")
    assert rows["ci-000"] == others
    assert rows["ci-099"] == ("ci-000", *others[:4], "and 94 more")
    Agent.objects.filter(host_name__gte="ci-006").delete()
    assert {len(row.shared_with) for row in roster(tenant.workspace)} == {5}


def test_a_token_that_was_deleted_meanwhile_is_refused(tenant):
    token = Token.objects.get(workspace=tenant.workspace)
    Token.objects.filter(pk=token.pk).delete()

    with pytest.raises(tokens.TokenRefused):
        record_heartbeat(token, host_name="host", program="agent", version="1", heartbeat=None)
    assert not Agent.objects.filter(host_name="host").exists()
