import uuid
from datetime import timedelta

import pytest
from django.utils import timezone

from backend.accounts import tokens
from backend.accounts.models import Token, TokenKind
from backend.fleet.hearing import GRACE, KEPT, RunElsewhere, Word, hear
from backend.fleet.models import Agent, Progress
from backend.fleet.roster import roster
from backend.testing.uploads import make_tenant

pytestmark = pytest.mark.django_db


@pytest.fixture
def tenant():
    return make_tenant("lab")


def token_of(tenant):
    return Token.objects.get(workspace=tenant.workspace)


def say(tenant, word=None, *, host="bench-1", version="0.1.0"):
    return hear(
        token_of(tenant), host_name=host, program="loadsheet-agent", version=version, word=word
    )


def running(run=None, **more):
    return Word(run=run or uuid.uuid4(), state="running", trials_done=2, trials_planned=9, **more)


def test_a_token_on_a_host_is_one_agent_however_often_it_is_heard(tenant):
    first = say(tenant)
    again = say(tenant, version="0.2.0")
    other = say(tenant, host="bench-2")
    assert again.pk == first.pk != other.pk
    assert Agent.objects.get(pk=first.pk).version == "0.2.0"
    assert Agent.objects.count() == 2


def test_a_run_is_alive_while_its_agent_is_silent_as_it_said(tenant):
    word = running(silent_s=600)
    say(tenant, word)
    progress = Progress.objects.get(run=word.run)
    within, after = timedelta(seconds=600), timedelta(seconds=601) + GRACE
    assert progress.state_at(progress.heard_at + within) == "running"
    assert progress.state_at(progress.heard_at + after) == "silent"


def test_a_run_that_ended_is_never_silent(tenant):
    word = Word(run=uuid.uuid4(), state="finished", trials_done=9)
    say(tenant, word)
    progress = Progress.objects.get(run=word.run)
    assert progress.state_at(progress.heard_at + timedelta(days=9)) == "finished"


def test_the_last_word_of_a_run_stands(tenant):
    word = running()
    say(tenant, word)
    say(tenant, Word(run=word.run, state="interrupted", trials_done=5))
    progress = Progress.objects.get(run=word.run)
    assert (progress.state, progress.trials_done, progress.trials_planned) == (
        "interrupted",
        5,
        None,
    )


def test_a_run_of_another_workspace_is_not_touched(tenant):
    word = running()
    say(make_tenant("other"), word)
    with pytest.raises(RunElsewhere):
        say(tenant, Word(run=word.run, state="finished", trials_done=0))
    assert Progress.objects.get(run=word.run).state == "running"
    assert not Agent.objects.filter(workspace=tenant.workspace).exists()


def test_what_was_said_long_ago_is_forgotten(tenant):
    old = running()
    say(tenant, old)
    Progress.objects.update(heard_at=timezone.now() - KEPT - timedelta(minutes=1))
    say(tenant, running())
    assert not Progress.objects.filter(run=old.run).exists()


def test_the_roster_lists_every_valid_token_with_its_hosts(tenant):
    word = running()
    say(tenant, word)
    say(tenant, host="bench-2")
    unused = tokens.issue(
        TokenKind.AGENT, tenant.workspace, user=tenant.user, name="new", lifetime=timedelta(days=1)
    )
    rows = {
        row.agent.host_name if row.agent else row.token.name: row
        for row in roster(tenant.workspace)
    }
    assert set(rows) == {"bench-1", "bench-2", "new"}
    assert (rows["bench-1"].run, rows["bench-1"].state) == (word.run, "running")
    assert rows["bench-1"].shared_with == ("bench-2",)
    assert rows["new"].last_seen_at is None
    tokens.revoke(tokens.find(unused, TokenKind.AGENT))
    assert "new" not in {row.token.name for row in roster(tenant.workspace)}


def test_the_roster_holds_nothing_of_other_workspaces(tenant):
    say(make_tenant("other"), running())
    (row,) = roster(tenant.workspace)
    assert (row.agent, row.run) == (None, None)
