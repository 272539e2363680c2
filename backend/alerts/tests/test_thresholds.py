"""Error rates, noisy hosts and silent agents."""

from datetime import timedelta

import pytest
from django.utils import timezone

from backend.accounts.models import Token
from backend.alerts import tending
from backend.alerts.models import Alert, AlertRule
from backend.alerts.rules import BadRule, RuleRefused, add_rule, change_rule
from backend.alerts.tending import look_at_agents
from backend.fleet.models import Agent, Progress
from backend.noise.models import HostNoise
from backend.runs.models import Host
from backend.testing.uploads import make_tenant


def test_failed_requests_are_told_when_a_second_run_has_them(workspace, view, history):
    add_rule(workspace, author=None, kind="error_rate", name="errors", view=view.pk, threshold=0.02)
    history.run(error_rate=0.01)
    assert history.states == []
    history.run(error_rate=0.05)
    assert history.states == ["unconfirmed"]
    history.run(error_rate=0.05)
    assert history.states == ["new"]
    text = Alert.objects.get().text
    assert "5 % of requests failed at 64 connections, more than 2 %" in text


def test_unknown_error_rates_neither_raise_nor_end_anything(workspace, view, history):
    add_rule(workspace, author=None, kind="error_rate", name="e", view=view.pk)
    for _ in range(2):
        history.run(error_rate=0.5)
    for _ in range(3):
        history.run(error_rate=None)
    assert history.states == ["new"]


def test_a_noisy_host(workspace, history):
    add_rule(workspace, author=None, kind="noisy_host", name="noise", threshold=0.05)
    history.run()
    host = Host.objects.get()
    for share, states in ((0.02, []), (0.2, ["unconfirmed"]), (0.2, ["new"])):
        HostNoise.objects.update_or_create(host=host, defaults={"floor_share": share})
        history.run()
        assert history.states == states
    assert "bench-1: equal servers differ by up to 20 %, above 5 %" in Alert.objects.get().text


@pytest.fixture
def agent(db):
    tenant = make_tenant("agents")
    add_rule(tenant.workspace, author=None, kind="silent_agent", name="silent", threshold=2.0)
    return Agent.objects.create(
        workspace=tenant.workspace,
        token=Token.objects.get(workspace=tenant.workspace),
        host_name="bench-7",
        program="loadsheet",
        version="1",
    )


def silent_for(hours):
    Agent.objects.update(last_seen_at=timezone.now() - timedelta(hours=hours))


def looked():
    look_at_agents()
    return list(Alert.objects.values_list("state", flat=True))


def five_minutes_later():
    Alert.objects.update(seen_at=timezone.now() - timedelta(minutes=6))


def test_an_agent_that_is_not_heard_for_long(agent):
    silent_for(1)
    assert looked() == []
    silent_for(3)
    assert looked() == ["unconfirmed"]
    assert looked() == ["unconfirmed"]
    five_minutes_later()
    assert looked() == ["new"]
    assert "The agent on bench-7 is silent" in Alert.objects.get().text
    silent_for(0)
    assert looked() == ["fixed"]


def test_an_agent_whose_run_is_overdue(agent):
    progress = Progress.objects.create(
        run=agent.pk, workspace=agent.workspace, agent=agent, state="running"
    )
    silent_for(0.5)
    progress.silent_until = timezone.now() - timedelta(minutes=1)
    progress.save()
    assert looked() == ["unconfirmed"]
    assert "in the middle of a run" in Alert.objects.get().text


def test_an_agent_whose_token_was_revoked_is_silent_on_purpose(agent):
    silent_for(3)
    looked()
    five_minutes_later()
    looked()
    Token.objects.update(revoked_at=timezone.now())
    assert looked() == ["fixed"]


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"kind": "speed"}, "kind"),
        ({"name": ""}, "name"),
        ({"view": None}, "saved view"),
        ({"view": "nonsense"}, "saved view"),
        ({"label": "main"}, "key:value"),
        ({"metrics": ["max"]}, "metrics"),
        ({"kind": "error_rate", "threshold": 1.5}, "threshold"),
        ({"kind": "silent_agent", "threshold": float("nan")}, "threshold"),
    ],
)
def test_a_bad_rule_is_refused_with_what_is_expected(workspace, view, asked, says):
    with pytest.raises(BadRule, match=says):
        add_rule(
            workspace,
            author=None,
            **{"kind": "regression", "name": "a", "view": view.pk, **asked},
        )


def test_a_view_of_another_workspace_is_not_there(workspace, view):
    foreign = make_tenant("foreign").workspace
    with pytest.raises(BadRule, match="saved view"):
        add_rule(foreign, author=None, kind="regression", name="a", view=view.pk)


def test_names_are_unique(rule, workspace, view):
    with pytest.raises(RuleRefused, match="another name"):
        add_rule(workspace, author=None, kind="regression", name="main", view=view.pk)
    change_rule(rule, name="other")
    assert (rule.name, rule.label) == ("other", "branch:main")


def test_a_rule_with_a_fault_stops_no_rule_of_others(agent, monkeypatch, caplog):
    stranger = make_tenant("stranger").workspace
    bad = add_rule(stranger, author=None, kind="silent_agent", name="!first", threshold=2.0)
    silent_for(3)
    judge = tending.apply_sightings

    def apply_sightings(rule, sightings, run):
        if rule == bad:
            raise RuntimeError("unforeseen")
        judge(rule, sightings, run=run)

    monkeypatch.setattr(tending, "apply_sightings", apply_sightings)
    assert looked() == ["unconfirmed"]
    assert "agents_not_judged" in caplog.text


def test_a_rule_that_is_deleted_meanwhile_is_passed_over(agent):
    silent_for(3)
    rule = AlertRule.objects.get()
    AlertRule.objects.all().delete()
    tending._judge_agents(rule)
    assert not Alert.objects.exists()


def test_agents_without_time_are_looked_at_in_the_next_look(agent):
    silent_for(3)
    look_at_agents(budget_s=-1)
    assert not Alert.objects.exists()
    assert looked() == ["unconfirmed"]
