"""The audit log: each act leaves one event, and nothing changes an event."""

import io
import uuid

import pytest
from django.core.management import call_command
from django.db import DatabaseError, transaction
from django.test import Client

from backend.accounts import audit
from backend.accounts.limits import limiters, throttle
from backend.accounts.models import Act, AuditEvent, Membership, Role, Token, User, Workspace
from backend.accounts.sign_in import leaks
from backend.accounts.tokens import token_making, tokens
from backend.accounts.workspace import invitations
from backend.deliveries.models import Channel
from backend.feeds.models import FeedToken
from backend.ingest.removing.purging import purge_deleted_workspaces
from backend.ingest.removing.trash import remove_expired_runs
from backend.runs.models import Run
from backend.sharing.models import ResultSet, Visibility
from backend.testing.scenes import (
    make_alerts,
    make_result_set,
    make_saved_view,
    make_scene,
    make_shared_run,
)
from backend.testing.uploads import make_tenant

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("own_storage")]
SETTINGS = {"relevant_percent": "2", "min_trials": "3"}


@pytest.fixture
def scene():
    return make_scene()


@pytest.fixture
def owner(scene):
    client = Client(REMOTE_ADDR="192.0.2.7")
    client.force_login(scene.own.user)
    return client


def since(count):
    """The acts after the first `count` events, oldest first."""
    return [event.act for event in AuditEvent.objects.order_by("at")[count:]]


def latest():
    return AuditEvent.objects.earliest("-at")


# A form of a page, and the acts that it leaves.
ACTS = [
    ("/w/own-lab/tokens", {"name": "x", "scope": "runs:read"}, [Act.TOKEN_CREATED]),
    ("/w/own-lab/first-token", {}, [Act.TOKEN_CREATED]),
    ("/w/own-lab/agents", {"name": "x"}, [Act.TOKEN_CREATED]),
    ("/w/own-lab/agents/{token}/revoke", {}, [Act.TOKEN_REVOKED]),
    ("/w/own-lab/members", {"role": "viewer"}, [Act.INVITATION_CREATED]),
    ("/w/own-lab/members/{viewer}/role", {"role": "admin"}, [Act.MEMBER_ROLE]),
    ("/w/own-lab/members/{viewer}/remove", {}, [Act.MEMBER_REMOVED]),
    ("/w/own-lab/rename", {"name": "B", "slug": "b"}, [Act.WORKSPACE_RENAMED]),
    ("/w/own-lab/rename", {"name": "Own-Lab", "slug": "own-lab"}, []),
    ("/w/own-lab/settings", SETTINGS | {"min_trials": "5"}, [Act.WORKSPACE_SETTINGS]),
    ("/w/own-lab/settings/readers", {"is_public": "1"}, [Act.WORKSPACE_VISIBILITY]),
    ("/w/own-lab/delete", {"confirm": "own-lab"}, [Act.WORKSPACE_DELETED]),
    ("/new-workspace", {"name": "Another"}, [Act.WORKSPACE_CREATED]),
    ("/r/{run}/delete", {}, [Act.RUN_TRASHED]),
    ("/r/{run}/erase", {"is_confirmed": "yes"}, [Act.RUN_DELETED]),
    ("/r/{run}/share", {"visibility": "public"}, [Act.RUN_VISIBILITY]),
    ("/r/{run}/share", {"visibility": "private"}, []),
    ("/r/{shared}/share/revoke", {"replace": "1"}, [Act.RUN_LINK_REVOKED]),
    ("/r/{shared}/share/revoke", {}, [Act.RUN_VISIBILITY]),
    ("/w/own-lab/servers/{server}/merge", {"into": "other-server"}, [Act.MERGE_MADE]),
    (
        "/w/own-lab/result-sets/new",
        {"query": "run={run}", "title": "T", "visibility": "private"},
        [Act.SHARE_CREATED],
    ),
    ("/s/{set}/edit", {"visibility": "public"}, [Act.SHARE_VISIBILITY]),
    ("/s/{set}/edit", {"notes": "n"}, [Act.SHARE_CHANGED]),
    ("/s/{set}/edit", {"visibility": "private"}, []),
    ("/s/{set}/withdraw", {"reason": "wrong"}, [Act.SHARE_WITHDRAWN]),
    ("/s/{set}/revoke", {}, [Act.SHARE_REVOKED]),
    ("/w/own-lab/views/{view}/delete", {}, [Act.VIEW_DELETED]),
    ("/w/own-lab/alerts/rules/{rule}/delete", {}, [Act.ALERT_RULE_DELETED]),
]


@pytest.mark.parametrize(("path", "form", "acts"), ACTS)
def test_each_act_leaves_one_event(path, form, acts, owner, scene):
    ids = {
        "token": Token.objects.get(workspace=scene.own.workspace).pk,
        "viewer": scene.viewer.pk,
        "run": scene.run.pk,
        "server": scene.trial.cell.series.server_id,
        "set": make_result_set(scene.own.workspace, Visibility.PRIVATE).link,
        "shared": make_shared_run(scene.own.workspace).run_id,
        "view": make_saved_view(scene.own.workspace).pk,
        "rule": make_alerts(scene.own, scene.run)["rule"],
    }
    # The form leaves out the factors that a new workspace has.
    owner.post("/w/own-lab/settings", SETTINGS)
    count = AuditEvent.objects.count()
    data = {name: value.format(**ids) for name, value in form.items()}
    assert owner.post(path.format(**ids), data).status_code in (200, 302)
    assert since(count) == acts
    for event in AuditEvent.objects.order_by("at")[count:]:
        assert (event.actor_name, event.address) == ("own-lab", "192.0.2.7")
        if event.act != Act.WORKSPACE_CREATED:
            assert event.workspace_id == scene.own.workspace.pk


def test_the_api_records_deleted_views_and_rules_too(scene):
    view = make_saved_view(scene.own.workspace)
    rule = make_alerts(scene.own, scene.run)["rule"]
    for path, act, subject in (
        (f"views/{view.pk}", Act.VIEW_DELETED, "secret-view"),
        (f"alert-rules/{rule}", Act.ALERT_RULE_DELETED, "secret-rule"),
    ):
        assert Client().delete(f"/api/v1/{path}", headers=scene.own.headers).status_code == 204
        assert (latest().act, latest().subject) == (act, subject)
        assert latest().token_id is not None


def test_restoring_undoing_and_superseding_leave_theirs(owner, scene):
    owner.post(f"/r/{scene.run.pk}/delete")
    owner.post(f"/r/{scene.run.pk}/restore")
    assert latest().act == Act.RUN_RESTORED
    server = scene.trial.cell.series.server_id
    owner.post(f"/w/own-lab/servers/{server}/merge", {"into": "other-server"})
    merge = latest().subject_id
    owner.post(f"/w/own-lab/merges/{merge}/undo")
    assert latest().act == Act.MERGE_UNDONE
    old, new = (make_result_set(scene.own.workspace, Visibility.PRIVATE) for _ in range(2))
    owner.post(f"/s/{old.link}/supersede", {"by": str(new.link)})
    assert latest().act == Act.SHARE_SUPERSEDED


def test_joining_leaving_and_revoking_leave_theirs(owner, scene):
    workspace, guest = scene.own.workspace, scene.foreign.user
    invitations.accept(invitations.invite(scene.own.user, workspace, Role.VIEWER), guest)
    assert (latest().act, latest().actor_name) == (Act.MEMBER_JOINED, "foreign-lab")
    client = Client()
    client.force_login(guest)
    client.post(f"/w/own-lab/members/{guest.pk}/remove")
    assert latest().act == Act.MEMBER_LEFT
    invitations.invite(scene.own.user, workspace, Role.VIEWER)
    invitations.revoke(workspace, latest().subject_id)
    assert latest().act == Act.INVITATION_REVOKED


def test_channels_and_feed_tokens_leave_theirs_without_secrets(owner, scene):
    form = {"kind": "slack", "name": "chat", "topics": "alerts"}
    form["address"] = "https://hooks.example/T/secret"
    owner.post("/w/own-lab/channels", form)
    channel = Channel.objects.get()
    created = latest()
    owner.post(f"/w/own-lab/channels/{channel.pk}/secret")
    owner.post(f"/w/own-lab/channels/{channel.pk}/delete")
    owner.post("/w/own-lab/feed-tokens", {"name": "reader"})
    token = FeedToken.objects.get()
    owner.post(f"/w/own-lab/feed-tokens/{token.pk}/revoke")
    acts = [Act.CHANNEL_CREATED, Act.CHANNEL_SECRET, Act.CHANNEL_DELETED]
    acts += [Act.FEED_TOKEN_CREATED, Act.FEED_TOKEN_REVOKED]
    assert since(AuditEvent.objects.count() - 5) == acts
    assert (created.subject, created.subject_id) == ("chat", channel.pk)
    assert created.detail == {"kind": "slack", "host": "hooks.example"}
    assert (latest().subject, latest().subject_id) == ("reader", token.pk)
    kept = str(list(AuditEvent.objects.values()))
    assert "T/secret" not in kept
    assert "ls_feed_" not in kept


def test_a_token_is_named_with_its_maker(scene):
    asked = token_making.TokenRequest("nightly", ["runs:read", "runs:write"])
    _, clear = token_making.make_token(scene.own.user, scene.own.workspace, asked)
    client = Client(headers={"authorization": f"Bearer {clear}"})
    client.delete(f"/api/v1/runs/{scene.run.pk}")
    event = latest()
    assert (event.act, event.actor_name, event.token_name) == (
        Act.RUN_TRASHED,
        "own-lab",
        "nightly",
    )


def test_a_published_token_leaves_two_events_without_its_text(scene):
    leaks.end_leaked(leaks.Leak(scene.own.token, "https://ex.org/a?token=secret"))
    assert since(AuditEvent.objects.count() - 2) == [Act.TOKEN_LEAKED, Act.TOKEN_REVOKED]
    kept = str(list(AuditEvent.objects.values()))
    assert "https://ex.org/a" in kept
    assert "secret" not in kept
    assert scene.own.token not in kept


def test_what_was_and_is_are_named(owner, scene):
    owner.post(f"/w/own-lab/members/{scene.viewer.pk}/role", {"role": "admin"})
    assert latest().detail == {"role": {"was": "viewer", "is": "admin"}}
    owner.post("/w/own-lab/settings", SETTINGS)
    owner.post("/w/own-lab/settings/readers", {"is_public": "1"})
    assert latest().detail == {"visibility": {"was": "private", "is": "public"}}


def test_the_service_itself_is_nobody(scene):
    call_command("make_token", "--workspace", "own-lab", "--name", "x", stdout=io.StringIO())
    assert (latest().actor_name, latest().address) == ("", None)
    Run.with_trash.update(trashed_at="2026-01-01T00:00Z")
    remove_expired_runs()
    assert (latest().act, latest().actor_id) == (Act.RUN_DELETED, None)


@pytest.mark.parametrize("change", ["update", "delete"])
def test_an_event_is_neither_changed_nor_deleted(change, scene):
    rows = AuditEvent.objects.all()
    assert rows.exists()
    with pytest.raises(DatabaseError, match="cannot be changed"), transaction.atomic():
        rows.update(act="x") if change == "update" else rows.delete()


def test_deleting_a_person_changes_no_event(scene):
    before = list(AuditEvent.objects.values())
    User.objects.filter(pk=scene.foreign.user.pk).delete()
    assert list(AuditEvent.objects.values()) == before


def test_of_a_deleted_workspace_only_its_deletion_stays(owner, scene):
    workspace = scene.own.workspace
    owner.post("/w/own-lab/delete", {"confirm": "own-lab"})
    purge_deleted_workspaces()
    assert not Workspace.objects.filter(pk=workspace.pk).exists()
    (event,) = AuditEvent.objects.filter(workspace_id=workspace.pk)
    assert (event.act, event.actor_name, event.subject) == (Act.WORKSPACE_DELETED, "own-lab", "")
    assert AuditEvent.objects.filter(workspace_id=scene.foreign.workspace.pk).exists()
    # Other events stay protected after a purge.
    with pytest.raises(DatabaseError), transaction.atomic():
        AuditEvent.objects.all().delete()


class TestReading:
    def test_owners_read_the_page(self, owner, scene):
        owner.post(f"/w/own-lab/members/{scene.viewer.pk}/role", {"role": "admin"})
        page = owner.get("/w/own-lab/audit").content.decode()
        assert "Role changed" in page
        assert "viewer → admin" in page
        chosen = owner.get("/w/own-lab/audit?act=token.created").content.decode()
        assert "Role changed</th>" not in chosen

    def test_a_token_without_networks_is_accepted_from_all(self, owner, scene):
        asked = token_making.TokenRequest("reader", ["runs:read"])
        token_making.make_token(scene.own.user, scene.own.workspace, asked)
        assert "networks</span> <bdi>all</bdi>" in owner.get("/w/own-lab/audit").content.decode()

    def test_the_api_gives_pages(self, scene):
        asked = token_making.TokenRequest("reader", ["admin", "runs:read"])
        _, clear = token_making.make_token(scene.own.user, scene.own.workspace, asked)
        for number in range(4):
            record_of(scene.own.workspace, number)
        client = Client(headers={"authorization": f"Bearer {clear}"})
        seen, path = [], "/api/v1/audit?limit=2"
        while path:
            page = client.get(path).json()
            seen += [event["subject"] for event in page["events"]]
            path = page["next"]
        assert seen[:5] == ["3", "2", "1", "0", "reader"]
        assert client.get("/api/v1/audit?act=nonsense").status_code == 400

    def test_another_workspace_is_not_in_it(self, owner, scene):
        record_of(scene.foreign.workspace, "secret-subject")
        assert b"secret-subject" not in owner.get("/w/own-lab/audit").content
        assert b"secret-subject" not in owner.get("/api/v1/audit?workspace=own-lab").content
        assert owner.get("/api/v1/audit?workspace=foreign-lab").status_code == 404

    def test_members_do_not_read_it(self, owner):
        Membership.objects.update(role=Role.MEMBER)
        assert owner.get("/w/own-lab/audit").status_code == 404
        assert owner.get("/api/v1/audit?workspace=own-lab").status_code == 404


def record_of(workspace, subject):
    audit.record(Act.SHARE_CREATED, workspace, subject=subject)


def test_a_failed_act_leaves_no_event():
    tenant = make_tenant()
    before = AuditEvent.objects.count()
    with pytest.raises(token_making.TokenNotMade):
        token_making.make_token(tenant.user, tenant.workspace, token_making.TokenRequest("", []))
    tokens.revoke(Token.objects.get())
    tokens.revoke(Token.objects.get())
    assert since(before) == [Act.TOKEN_REVOKED]
    assert not ResultSet.objects.exists()


def test_a_person_does_so_many_acts_in_a_day_and_may_take_access_away(scene, owner, monkeypatch):
    monkeypatch.setattr(limiters, "ACTS_PER_DAY", 2)
    asked = {"name": "a", "scopes": ["runs:read"], "workspace": scene.own.workspace.slug}
    made = [owner.post("/api/v1/tokens", asked, "application/json") for _ in range(3)]
    assert [answer.status_code for answer in made] == [201, 201, 429]
    assert "2 things that the audit log records" in made[2].json()["detail"]
    assert 0 < int(made[2]["Retry-After"]) <= 86_400
    assert Token.objects.filter(name="a").count() == 2
    revoked = owner.delete(f"/api/v1/tokens/{made[0].json()['id']}")
    assert revoked.status_code == 204
    assert latest().act == Act.TOKEN_REVOKED


def test_acts_of_many_subjects_count_each_and_others_go_on(scene, owner, monkeypatch):
    monkeypatch.setattr(limiters, "ACTS_PER_DAY", 2)
    workspace, count = scene.own.workspace, AuditEvent.objects.count()
    with audit.acting(audit.Origin(lambda: scene.own.user, None)), pytest.raises(throttle.TooOften):
        audit.record_each(Act.RUN_TRASHED, workspace, [uuid.uuid4() for _ in range(3)])
    other = User.objects.create_user("somebody else")
    with audit.acting(audit.Origin(lambda: other, None)):
        audit.record(Act.RUN_TRASHED, workspace)
    audit.record_each(Act.RUN_TRASHED, workspace, [uuid.uuid4() for _ in range(3)])
    assert AuditEvent.objects.count() == count + 4
