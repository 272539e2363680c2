"""Alerts, rules and channels on the pages and through the API."""

import pytest
from django.test import Client

from backend.accounts.models import Membership, Role
from backend.accounts.tokens.token_making import TokenRequest, make_token
from backend.accounts.workspace.scopes import Scope
from backend.alerts.models import Alert, AlertRule
from backend.deliveries.models import Channel, Delivery
from backend.deliveries.signing import secret_of
from backend.testing.scenes import make_alerts, make_saved_view
from backend.web.tests.pages import html_of

W = "/w/own-lab"


@pytest.fixture
def member(scene):
    scene.own.user.memberships.update(role=Role.MEMBER)
    client = Client()
    client.force_login(scene.own.user)
    return client


@pytest.fixture
def api(scene):
    return Client(headers=scene.own.headers)


def bearer(tenant, *scopes):
    _, clear = make_token(tenant.user, tenant.workspace, TokenRequest("x", scopes))
    return Client(headers={"Authorization": f"Bearer {clear}"})


def test_the_list_shows_open_alerts_with_their_range_and_chart(owner, scene):
    ids = make_alerts(scene.own, scene.run)
    html = html_of(owner.get(f"{W}/alerts"))
    assert "secret-alert" in html
    assert f"{W}/alerts/{ids['alert']}" in html
    assert "Since the run of 2026-01-31 12:00 UTC." in html
    Alert.objects.update(state="fixed")
    assert "secret-alert" not in html_of(owner.get(f"{W}/alerts"))
    assert "secret-alert" in html_of(owner.get(f"{W}/alerts?state=all"))


def test_a_member_answers_and_the_page_says_who_and_when(member, scene):
    ids = make_alerts(scene.own, scene.run)
    page = f"{W}/alerts/{ids['alert']}"
    form = {"state": "acknowledged", "note": "<b>Looking</b> into it."}
    html = html_of(member.post(f"{page}/answer", form, follow=True))
    assert "Acknowledged" in html
    assert "&lt;b&gt;Looking&lt;/b&gt; into it." in html
    assert ">own-lab</bdi>" in html
    assert member.post(f"{page}/answer", {"state": "new"}).status_code == 400
    member.post(f"{page}/answer", {"state": "fixed"})
    assert "Mark as fixed" not in html_of(member.get(page))
    assert member.post(f"{page}/answer", {"state": "fixed"}).status_code == 409


def test_a_viewer_reads_and_is_offered_no_answer(scene):
    ids = make_alerts(scene.own, scene.run)
    client = Client()
    client.force_login(scene.viewer)
    assert "Mark as fixed" not in html_of(client.get(f"{W}/alerts/{ids['alert']}"))
    assert "Add rule" not in html_of(client.get(f"{W}/alerts/rules"))
    html = html_of(client.get(f"{W}/channels"))
    assert "Add channel" not in html
    assert "https://secret-hook.example/…" in html


def test_a_rule_is_added_turned_off_and_deleted(member, scene):
    view = make_saved_view(scene.own.workspace)
    form = {
        "kind": "regression",
        "name": "main",
        "view": view.pk,
        "label": "branch:main",
        "metrics": ["p99", "throughput"],
    }
    html = html_of(member.post(f"{W}/alerts/rules", form, follow=True))
    assert "Regressions of p99 and throughput in runs of the view secret-view" in html
    rule = AlertRule.objects.get()
    member.post(f"{W}/alerts/rules/{rule.pk}/change", {"is_enabled": "0"})
    rule.refresh_from_db()
    assert not rule.is_enabled
    assert ">Off<" in html_of(member.get(f"{W}/alerts/rules"))
    member.post(f"{W}/alerts/rules/{rule.pk}/delete")
    assert not AlertRule.objects.exists()


def test_percents_of_a_form_are_shares(member, scene):
    form = {"kind": "noisy_host", "name": "noise", "threshold": "7.5"}
    member.post(f"{W}/alerts/rules", form)
    assert AlertRule.objects.get().threshold == pytest.approx(0.075)


def test_a_refused_rule_keeps_what_was_typed(member, scene):
    form = {"kind": "noisy_host", "name": "noise", "threshold": "many"}
    answer = member.post(f"{W}/alerts/rules", form)
    html = html_of(answer)
    assert answer.status_code == 400
    assert "expected a number" in html
    assert 'value="noise"' in html
    assert not AlertRule.objects.exists()


def test_an_admin_adds_a_channel_sees_its_secret_and_tests_it(owner, scene):
    form = {
        "kind": "webhook",
        "name": "ci",
        "address": "https://hooks.example/secret-path",
        "topics": ["alerts", "runs"],
    }
    html = html_of(owner.post(f"{W}/channels", form, follow=True))
    channel = Channel.objects.get()
    assert secret_of(channel) in html
    page = f"{W}/channels/{channel.pk}"
    assert "Waiting" in html_of(owner.post(f"{page}/test", follow=True))
    assert Delivery.objects.get().event == "test"
    earlier = secret_of(channel)
    html = html_of(owner.post(f"{page}/secret", follow=True))
    assert earlier not in html
    assert "A secret that you replace stops at once" in html
    listed = html_of(owner.get(f"{W}/channels"))
    assert "secret-path" not in listed
    owner.post(f"{page}/delete")
    assert not Channel.objects.exists()


def test_each_kind_of_channel_says_which_address_it_takes(owner, scene):
    html = html_of(owner.get(f"{W}/channels"))
    assert "an https:// address. Email: the address of a member" in html


def test_the_page_of_channels_says_how_a_member_confirms_an_address(owner, scene, settings):
    settings.SENDS_MAIL = True
    html = html_of(owner.get(f"{W}/channels"))
    assert "Email: the confirmed address of a member" in html
    assert 'To confirm an address, a member opens <a href="/accounts/email/">Email</a>' in html
    settings.SENDS_MAIL = False
    assert "confirm an address" not in html_of(owner.get(f"{W}/channels"))


def test_a_member_adds_no_channel(member):
    form = {"kind": "webhook", "name": "ci", "address": "https://h.example/", "topics": ["alerts"]}
    assert member.post(f"{W}/channels", form).status_code == 404
    assert not Channel.objects.exists()


def test_alerts_through_the_api(api, scene):
    ids = make_alerts(scene.own, scene.run)
    (listed,) = api.get("/api/v1/alerts?state=open").json()["alerts"]
    assert listed["id"] == str(ids["alert"])
    assert listed["runs"]["first"]["id"] == str(scene.run.pk)
    asked = {"state": "not_a_regression", "note": "Expected."}
    alert = f"/api/v1/alerts/{ids['alert']}"
    body = api.patch(alert, asked, content_type="application/json").json()
    assert (body["state"], body["changes"][-1]["by"]) == ("not_a_regression", "own-lab")
    assert api.get("/api/v1/alerts?state=open").json()["alerts"] == []
    assert api.get("/api/v1/alerts?state=nonsense").status_code == 400
    wrong = api.patch(alert, {"state": "new"}, content_type="application/json")
    assert wrong.status_code == 400


def test_lists_are_paged(api, scene):
    ids = make_alerts(scene.own, scene.run)
    rule = AlertRule.objects.get()
    for n in range(3):
        Alert.objects.create(workspace=rule.workspace, rule=rule, subject=str(n), text=str(n))
    first = api.get("/api/v1/alerts?limit=3").json()
    rest = api.get(first["next"]).json()
    seen = [alert["id"] for alert in first["alerts"] + rest["alerts"]]
    assert (len(seen), len(set(seen)), rest["next"]) == (4, 4, None)
    assert str(ids["alert"]) in seen


def test_rules_through_the_api(api, scene):
    view = make_saved_view(scene.own.workspace)

    def send(method, path, **asked):
        return getattr(api, method)(path, asked, content_type="application/json")

    made = send(
        "post", "/api/v1/alert-rules", kind="error_rate", name="errors", view=str(view.pk)
    ).json()
    assert (made["threshold"], made["metrics"], made["view"]) == (0.01, [], str(view.pk))
    rule = f"/api/v1/alert-rules/{made['id']}"
    assert send("patch", rule, threshold=0.05).json()["threshold"] == 0.05
    refused = send("patch", rule, threshold=7.0)
    assert (refused.status_code, "threshold" in refused.json()["detail"]) == (400, True)
    assert len(api.get("/api/v1/alert-rules").json()["rules"]) == 1
    assert api.delete(rule).status_code == 204


def test_channels_through_the_api_are_for_admins(api, owner, scene):
    asked = {"kind": "slack", "name": "chat", "address": "https://h.example/T/secret"}
    post = {"data": asked, "content_type": "application/json"}
    assert api.post("/api/v1/channels", **post).status_code == 403
    made = owner.post("/api/v1/channels", {**asked, "workspace": "own-lab"}, post["content_type"])
    assert made.status_code == 201
    channel = made.json()
    assert (channel["address"], channel["topics"]) == ("https://h.example/…", ["alerts"])
    test = owner.post(f"/api/v1/channels/{channel['id']}/test")
    assert (test.status_code, test.json()["state"]) == (202, "waiting")
    log = owner.get(f"/api/v1/channels/{channel['id']}/deliveries").json()
    assert [delivery["event"] for delivery in log["deliveries"]] == ["test"]


def test_a_token_with_the_scopes_admin_and_read_manages_channels(scene):
    asked = {"kind": "slack", "name": "chat", "address": "https://h.example/T/secret"}
    api = bearer(scene.own, Scope.ADMIN, Scope.RUNS_READ)
    made = api.post("/api/v1/channels", asked, "application/json")
    assert made.status_code == 201
    listed = api.get("/api/v1/channels?workspace=own-lab").json()["channels"]
    assert listed == [made.json()]
    channel = f"/api/v1/channels/{made.json()['id']}"
    stranger = bearer(scene.foreign, Scope.ADMIN)
    assert stranger.get("/api/v1/channels").json()["channels"] == []
    assert stranger.get("/api/v1/channels?workspace=own-lab").status_code == 400
    assert stranger.delete(channel).status_code == 404
    assert api.post(f"{channel}/test").status_code == 202
    assert len(api.get(f"{channel}/deliveries").json()["deliveries"]) == 1
    assert api.delete(channel).status_code == 204
    assert not Channel.objects.exists()


def test_addresses_are_for_sessions_and_the_scope_admin(member, scene):
    Channel.objects.create(
        workspace=scene.own.workspace, kind="mail", name="ada", address="ada@lab.example"
    )

    def addresses(client):
        return [row["address"] for row in client.get("/api/v1/channels").json()["channels"]]

    assert addresses(member) == ["ada@lab.example"]
    scene.own.user.memberships.update(role=Role.OWNER)
    assert addresses(bearer(scene.own, Scope.RUNS_READ)) == [None]
    assert addresses(bearer(scene.own, Scope.RUNS_READ, Scope.ADMIN)) == ["ada@lab.example"]


def test_a_public_workspace_shows_strangers_no_alerts(scene, stranger):
    ids = make_alerts(scene.own, scene.run)
    scene.own.workspace.is_public = True
    scene.own.workspace.save()
    for path in ("alerts", f"alerts/{ids['alert']}", "alerts/rules", "channels", "alerts.atom"):
        assert stranger.get(f"{W}/{path}").status_code == 404, path
    assert Membership.objects.exists()
