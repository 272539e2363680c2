"""Atom feeds: what they hold, and who may read them."""

import hashlib
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from django.test import Client

from backend.accounts.credentials import token_format
from backend.accounts.models import Act, AuditEvent, Membership
from backend.feeds.models import FeedToken
from backend.feeds.tokens import make_token
from backend.ingest.removing.trash import trash_run
from backend.sharing.models import Visibility
from backend.testing.scenes import make_alerts, make_measured_run, make_result_set

ATOM = "{http://www.w3.org/2005/Atom}"
FEED = "/w/own-lab/feed.atom"


def read(answer):
    assert answer.status_code == 200
    assert answer["Content-Type"].startswith("application/atom+xml")
    root = ET.fromstring(answer.content)
    return [
        (entry.findtext(f"{ATOM}title"), entry.findtext(f"{ATOM}id"))
        for entry in root.iter(f"{ATOM}entry")
    ]


@pytest.fixture
def token(scene):
    return make_token(scene.own.workspace, scene.own.user, "reader")[1]


def test_a_feed_reader_with_a_token_reads_the_feeds_of_its_workspace(scene, stranger, token):
    ids = make_alerts(scene.own, scene.run)
    private = make_result_set(scene.own.workspace, Visibility.PRIVATE)
    runs = read(stranger.get(f"{FEED}?token={token}"))
    assert {id_ for _, id_ in runs} == {
        f"urn:loadsheet:run:{scene.run.pk}",
        f"urn:loadsheet:result-set:{private.pk}",
    }
    alerts = read(stranger.get(f"/w/own-lab/alerts.atom?token={token}"))
    assert alerts == [("New alert: secret-alert", f"urn:loadsheet:alert:{ids['alert']}")]
    server = scene.trial.cell.series.server_id
    of_server = read(stranger.get(f"/w/own-lab/servers/{server}/feed.atom?token={token}"))
    assert [id_ for _, id_ in of_server] == [f"urn:loadsheet:run:{scene.run.pk}"]
    assert read(stranger.get(f"/s/{private.link}.atom?token={token}"))


def test_the_feed_of_a_server_whose_runs_are_in_the_trash_is_not_there(scene, stranger, token):
    server = scene.trial.cell.series.server_id
    trash_run(scene.run, by=None)
    feed = f"/w/own-lab/servers/{server}/feed.atom?token={token}"
    assert stranger.get(feed).status_code == 404


def test_the_token_is_not_in_the_feed(stranger, scene, token):
    assert token not in stranger.get(f"{FEED}?token={token}").content.decode()


@pytest.mark.parametrize("how", ["none", "wrong", "revoked", "left", "closed"])
def test_without_a_valid_token_there_is_nothing(scene, stranger, token, how):
    if how == "revoked":
        FeedToken.objects.all().delete()
    elif how == "left":
        Membership.objects.filter(user=scene.own.user).delete()
    elif how == "closed":
        scene.own.user.is_active = False
        scene.own.user.save()
    sent = {"none": "", "wrong": token[:-1] + "!"}.get(how, token)
    for path in (FEED, "/w/own-lab/alerts.atom"):
        assert stranger.get(f"{path}?token={sent}").status_code == 404


def test_a_token_has_the_form_of_others(token):
    assert token_format.is_well_formed(token)
    assert re.fullmatch(r"ls_feed_[0-9A-Za-z]{36}", token)
    assert "|feed)_[0-9A-Za-z]{36}`" in Path("docs/access.md").read_text()
    stored = FeedToken.objects.get()
    assert bytes(stored.digest) != hashlib.sha256(token.encode()).digest()


def test_a_token_of_before_goes_on_working_and_is_revoked_once_published(scene, stranger, token):
    clear = "ls_feed_" + "a-b_" * 10 + "xyz"
    digest = hashlib.sha256(clear.encode()).digest()
    FeedToken.objects.update(lookup="", pepper_id="", digest=digest)
    assert stranger.get(f"{FEED}?token={clear}").status_code == 200
    stranger.post("/api/v1/leaked-tokens", [{"token": clear}], "application/json")
    assert not FeedToken.objects.exists()


def test_a_published_token_ends(scene, stranger, token):
    body = [{"token": token}, {"token": "ls_feed_nonsense"}]
    reported = stranger.post("/api/v1/leaked-tokens", body, "application/json")
    assert (reported.status_code, reported.content) == (204, b"")
    assert stranger.get(f"{FEED}?token={token}").status_code == 404
    event = AuditEvent.objects.get(act=Act.FEED_TOKEN_REVOKED)
    assert (event.subject, event.detail) == ("reader", {"is_published": True})


def test_a_token_opens_no_other_workspace_and_no_page(scene, stranger, token):
    assert stranger.get(f"/w/foreign-lab/feed.atom?token={token}").status_code == 404
    assert stranger.get(f"/w/own-lab/?token={token}").status_code == 404
    assert stranger.get(f"/w/own-lab/runs?token={token}").status_code == 404


def test_a_public_workspace_has_a_feed_for_everyone_without_its_private_sets(scene, stranger):
    scene.own.workspace.is_public = True
    scene.own.workspace.save()
    make_result_set(scene.own.workspace, Visibility.PRIVATE)
    public = make_result_set(scene.own.workspace, Visibility.PUBLIC)
    ids = {id_ for _, id_ in read(stranger.get(FEED))}
    assert ids == {
        f"urn:loadsheet:run:{scene.run.pk}",
        f"urn:loadsheet:result-set:{public.pk}",
    }


def test_a_shared_result_set_tells_strangers_no_runs(scene, stranger, owner):
    shared = make_result_set(scene.own.workspace, Visibility.UNLISTED)
    make_measured_run(scene.own.workspace)
    assert [id_ for _, id_ in read(stranger.get(f"/s/{shared.link}.atom"))] == [
        f"urn:loadsheet:result-set:{shared.pk}"
    ]


def test_an_unchanged_feed_is_304(owner, scene):
    first = owner.get(FEED)
    again = owner.get(FEED, headers={"if-none-match": first["ETag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_names_are_text_whatever_they_hold(owner, scene):
    title = "<script>x</script>\x0b & \ufffe"
    make_result_set(scene.own.workspace, Visibility.PRIVATE)
    scene.own.workspace.result_sets.update(title=title)
    titles = [title for title, _ in read(owner.get(FEED))]
    assert "<script>x</script>\ufffd & \ufffd" in titles
    assert b"<script>" not in owner.get(FEED).content


def test_a_token_is_shown_once_and_revoked_by_its_maker(owner, scene):
    html = owner.post("/w/own-lab/feed-tokens", {"name": "phone"}).content.decode()
    assert "ls_feed_" in html
    assert "ls_feed_" not in owner.get("/w/own-lab/channels").content.decode()
    made = FeedToken.objects.get()
    client = Client()
    client.force_login(scene.viewer)
    revoke = f"/w/own-lab/feed-tokens/{made.pk}/revoke"
    assert client.post(revoke).status_code == 404
    assert owner.post(revoke).status_code == 302
    assert not FeedToken.objects.exists()
