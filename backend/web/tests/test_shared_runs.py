"""A shared run: who reads it, what its page holds and leads to, and sharing it by page and API."""

import re

import pytest
from django.test import Client

from backend.accounts.models import Workspace
from backend.analysis.pages.repeated_outputs import find_repeated_outputs
from backend.ingest.removing.trash import trash_run
from backend.runs.amending.dismissals import dismiss, fired_in
from backend.runs.amending.editing import correct
from backend.runs.models import Run, Trial
from backend.sharing.models import SharedRun, Visibility
from backend.sharing.run_sharing import revoke_link, share_run
from backend.testing.scenes import make_measured_run
from backend.testing.transactions import taken_back
from backend.web.tests.access_statuses import VISITORS
from backend.web.tests.pages import html_of
from backend.web.tests.shared_rows import SHARED_RUN
from backend.web.tests.test_access import ask, body_of

SHARED = [Visibility.UNLISTED, Visibility.PUBLIC]
BY_LINK = [name for name, row in SHARED_RUN.items() if "{shared_link}" in row.path]
PLAN = 'order = "randomised"\n'


@pytest.fixture
def visitors(scene):
    people = {"stranger": scene.foreign.user, "viewer": scene.viewer, "owner": scene.own.user}
    clients = {name: Client() for name in ["anonymous", *people]}
    for name, person in people.items():
        clients[name].force_login(person)
    clients["token"] = Client(headers=scene.own.headers)
    clients["foreign_token"] = Client(headers=scene.foreign.headers)
    return clients


def shared_ids(scene, visibility):
    Run.objects.filter(pk=scene.run.pk).update(plan=PLAN, seed=7)
    share_run(scene.run, visibility)
    return {
        "run": scene.run.pk,
        "trial": scene.trial.pk,
        "artefact": scene.artefact.pk,
        "shared_link": SharedRun.objects.get(run=scene.run).link,
    }


@pytest.mark.parametrize("visibility", SHARED)
@pytest.mark.parametrize("name", SHARED_RUN)
def test_its_link_opens_its_page_and_nothing_else(name, visibility, visitors, scene):
    row, ids = SHARED_RUN[name], shared_ids(scene, visibility)
    for visitor, client in visitors.items():
        with taken_back():
            assert ask(client, row, ids).status_code == row.status[visitor], visitor


@pytest.mark.parametrize("end", ["revoked", "private", "trashed"])
@pytest.mark.parametrize("visibility", SHARED)
def test_a_link_that_ended_is_like_one_that_never_was(visibility, end, visitors, scene):
    ids = shared_ids(scene, visibility)
    if end == "revoked":
        revoke_link(scene.run)
    elif end == "private":
        share_run(scene.run, Visibility.PRIVATE)
    else:
        trash_run(scene.run, by=None)
    for name in BY_LINK:
        for visitor in VISITORS:
            response = ask(visitors[visitor], SHARED_RUN[name], ids)
            assert response.status_code == 404, (name, visitor)
            assert b"secret" not in body_of(response)


def test_nothing_is_changed_by_who_may_not(visitors, scene):
    ids = shared_ids(scene, Visibility.PUBLIC)
    before = SharedRun.objects.values().get()
    refused = 0
    for row in SHARED_RUN.values():
        for visitor in VISITORS:
            if row.method == "post" and row.status[visitor] >= 400:
                assert ask(visitors[visitor], row, ids).status_code == row.status[visitor]
                refused += 1
    assert refused >= 9
    assert SharedRun.objects.values().get() == before


@pytest.fixture
def rich(scene):
    """A run with a history by members, and the same output as another run of the workspace."""
    run = scene.run
    scene.own.user.username = "secret-member"
    scene.own.user.save()
    check = sorted(fired_in(run))[0]
    dismiss(run, check, reason="On purpose.", author=scene.own.user)
    correct(run.pk, {"notes": "The cable was loose."}, author=scene.own.user)
    other = Run.objects.get(upload=make_measured_run(scene.own.workspace))
    Trial.objects.filter(run__in=[run, other], ordinal=0).update(output_sha256=b"0" * 32)
    Run.objects.filter(pk=run.pk).update(
        server_tails={"nginx": "secret-tail"}, session={"name": "secret-session", "parts": 2}
    )
    Trial.objects.filter(run=run).update(server_tail="secret-tail")
    scene.artefact.name = "secret-file.txt"
    scene.artefact.save()
    return scene, other


def test_readers_of_the_link_see_no_raw_output_members_or_other_runs(rich, stranger):
    scene, other = rich
    link = shared_ids(scene, Visibility.UNLISTED)["shared_link"]
    first = Trial.objects.get(run=scene.run, ordinal=0)
    finding = find_repeated_outputs(scene.own.workspace.pk, scene.run.pk)[str(first.pk)]
    assert str(other.pk) in finding.detail
    page = html_of(stranger.get(f"/shared/runs/{link}"))
    answer = stranger.get(f"/api/v1/shared-runs/{link}")
    for text in (page, answer.content.decode()):
        assert "The cable was loose." in text
        for hidden in ("secret-member", "secret-tail", "secret-session", "secret-file", "own-lab"):
            assert hidden not in text, hidden
        for id_ in (other.pk, scene.artefact.pk, scene.upload.artefacts.get().sha256):
            assert str(id_) not in text
    assert "On purpose." in page
    assert "Dismissed</strong> by a member" in page
    assert "loadsheet run plan.toml --seed 7" in page
    assert answer.json()["visibility"] == "unlisted"
    assert {"server_tails", "session", "workspace"} & set(answer.json()) == set()
    assert {"artefacts", "server_tail", "run"} & set(answer.json()["trials"][0]) == set()
    assert "author" not in answer.json()["corrections"][0]


def test_all_that_the_page_leads_to_is_open_to_its_readers(rich, stranger):
    scene, _ = rich
    link = shared_ids(scene, Visibility.UNLISTED)["shared_link"]
    page = html_of(stranger.get(f"/shared/runs/{link}"))
    addresses = set(re.findall(r'(?:href|action|data-[a-z]+)="(/[^"]*)"', page))
    assert f"/shared/runs/{link}/plan.toml" in addresses
    for address in addresses:
        if not address.startswith("/static/"):
            assert stranger.get(address, follow=True).status_code == 200, address
    anchors = set(re.findall(r'href="#([^"]+)"', page))
    assert f"trial-{scene.trial.pk}" in anchors
    assert [anchor for anchor in anchors if f'id="{anchor}"' not in page] == []


def test_only_an_unlisted_run_is_kept_out_of_search_engines(scene, stranger):
    for visibility in SHARED:
        link = shared_ids(scene, visibility)["shared_link"]
        for form in ("/shared/runs/{}", "/shared/runs/{}/plan.toml", "/api/v1/shared-runs/{}"):
            response = stranger.get(form.format(link))
            robots = response.get("X-Robots-Tag")
            assert robots == ("noindex" if visibility == Visibility.UNLISTED else None)
            assert "no-store" in response["Cache-Control"]


def test_a_run_is_shared_from_its_page(owner, scene, stranger):
    path = f"/r/{scene.run.pk}"
    assert "because the run and its workspace are private." in html_of(owner.get(path))
    page = html_of(owner.post(f"{path}/share", {"visibility": "unlisted"}, follow=True))
    assert "Everyone who has its link may read it, because it is unlisted." in page
    link = SharedRun.objects.get(run=scene.run).link
    assert f"/shared/runs/{link}</code>" in page
    assert stranger.get(f"/shared/runs/{link}").status_code == 200
    page = html_of(owner.post(f"{path}/share/revoke", {"replace": "1"}, follow=True))
    assert str(link) not in page
    assert stranger.get(f"/shared/runs/{link}").status_code == 404
    wrong = owner.post(f"{path}/share", {"visibility": "everybody"})
    assert (wrong.status_code, SharedRun.objects.get().visibility) == (400, "unlisted")


def test_a_revoked_link_leaves_the_run_to_its_workspace(owner, scene, stranger):
    share_run(scene.run, Visibility.PUBLIC)
    link = SharedRun.objects.get(run=scene.run).link
    path = f"/r/{scene.run.pk}"
    assert "Revoke link</button>" in html_of(owner.get(path))
    page = html_of(owner.post(f"{path}/share/revoke", follow=True))
    assert "The link was revoked." in page
    assert "because the run and its workspace are private." in page
    assert "Revoke link</button>" not in page
    assert stranger.get(f"/shared/runs/{link}").status_code == 404
    assert not SharedRun.objects.exists()


def test_viewers_see_who_reads_it_and_change_nothing(scene):
    viewer = Client()
    viewer.force_login(scene.viewer)
    share_run(scene.run, Visibility.PUBLIC)
    page = html_of(viewer.get(f"/r/{scene.run.pk}"))
    assert "Everyone may read it, because it is public." in page
    assert "/share" not in page.replace("/shared/runs/", "")
    Workspace.objects.update(is_public=True)
    assert "because it is public" not in html_of(Client().get(f"/r/{scene.run.pk}"))


def test_a_secret_is_refused_with_its_place(owner, scene):
    Run.objects.filter(pk=scene.run.pk).update(notes="password=hunter2")
    page = owner.post(f"/r/{scene.run.pk}/share", {"visibility": "public"})
    assert page.status_code == 400
    assert "notes: expected no secrets" in html_of(page)
    assert "hunter2" not in html_of(page)
    answer = owner.patch(
        f"/api/v1/runs/{scene.run.pk}/sharing",
        {"visibility": "public"},
        content_type="application/json",
    )
    assert (answer.status_code, answer.json()["field"]) == (400, "notes")


def test_the_api_says_who_reads_it_and_changes_it(owner, scene, stranger):
    path = f"/api/v1/runs/{scene.run.pk}/sharing"
    assert owner.get(path).json() == {
        "visibility": "private",
        "effective_visibility": "private",
        "why": "Only members of the workspace may read it, because the run and its workspace are "
        "private.",
        "taken_down": None,
        "url": None,
    }
    Workspace.objects.filter(pk=scene.own.workspace.pk).update(is_public=True)
    asked = {"visibility": "unlisted"}
    answer = owner.patch(path, asked, content_type="application/json").json()
    assert (answer["visibility"], answer["effective_visibility"]) == ("unlisted", "public")
    assert answer["why"] == "Everyone may read it, because the workspace is public."
    address = answer["url"].partition("//")[2].partition("/")[2]
    assert stranger.get(f"/{address}").status_code == 200
    renewed = owner.post(f"{path}/revoke").json()["url"]
    assert renewed not in (None, answer["url"])
    assert stranger.get(f"/{address}").status_code == 404
    for body in ({}, {"visibility": "everybody"}, {"visibility": 1}, {"visibility": None}):
        refused = owner.patch(path, body, content_type="application/json")
        assert refused.status_code == 400, body


@pytest.mark.parametrize(
    ("scopes", "read", "change"),
    [
        (["runs:read"], 200, 403),
        (["runs:write"], 403, 403),
        (["runs:read", "runs:write"], 200, 200),
    ],
)
def test_a_token_reads_and_changes_by_its_scopes(scene, scopes, read, change):
    scene.own.workspace.tokens.update(scopes=scopes)
    client, path = Client(headers=scene.own.headers), f"/api/v1/runs/{scene.run.pk}/sharing"
    assert client.get(path).status_code == read
    asked = {"visibility": "unlisted"}
    assert client.patch(path, asked, content_type="application/json").status_code == change
