"""Every exit of what staff took down says why, and nothing but restoring opens it again."""

import json

import pytest
from django.conf import settings as configured
from django.test import Client

from backend.accounts.models import Act, AuditEvent
from backend.accounts.takedown_models import Takedown, Thing
from backend.accounts.workspace.workspace_links import make_link
from backend.accounts.workspace.workspaces import change_settings
from backend.ingest.removing.trash import trash_run
from backend.runs.models import Run
from backend.sharing.models import ResultSet, Visibility
from backend.sharing.workspace_secrets import NotOpened
from backend.testing.scenes import make_result_set
from backend.web.base.errors import DATA_ENDINGS
from backend.web.tests.access_rows import ROWS
from backend.web.tests.shared_rows import SHARED, SHARED_RUN
from backend.web.tests.takedown_steps import (
    REASON,
    make_staff,
    make_things,
    opened,
    prepared,
    reported,
    taken_down,
)
from backend.web.tests.test_access import ask, body_of

pytestmark = pytest.mark.django_db
EVERY_READ = [
    row for rows in (ROWS, SHARED, SHARED_RUN) for row in rows.values() if row.method == "get"
]
# What others search and list, beside what has the workspace in its address.
LISTS = [
    *(f"/explore?kind={kind}" for kind in ("result-sets", "runs", "workspaces")),
    *(f"/api/v1/explore?kind={kind}" for kind in ("result-sets", "runs", "workspaces")),
    *("/search?q=secret", "/search?q=own", "/"),
]
NAMED = ("own-lab", "secret-")


@pytest.fixture
def scene(scene, settings, tmp_path):
    yield from prepared(scene, settings, tmp_path)


@pytest.fixture
def things(scene):
    return make_things(scene)


@pytest.fixture
def staff():
    return make_staff()


def readings(ids):
    """By path, the status and the text that a stranger gets."""
    client = Client()
    answers = {}
    for row in EVERY_READ:
        if "{" in row.path or "own-lab" in row.path:
            answer = ask(client, row, ids)
            answers[row.path] = answer.status_code, body_of(answer).decode(errors="replace")
    for path in LISTS:
        answer = client.get(path)
        answers[path] = answer.status_code, body_of(answer).decode(errors="replace")
    return answers


def readable(answers):
    return {path for path, (status, _) in answers.items() if status == 200 and path not in LISTS}


# Its page, and how many addresses show it at least.
PAGES = {
    Thing.WORKSPACE: ("/w/own-lab/", 30),
    Thing.RESULT_SET: ("/s/{shared}", 9),
    Thing.RUN: ("/shared/runs/{shared_link}", 2),
}


@pytest.mark.parametrize("kind", PAGES)
@pytest.mark.parametrize("is_legal", [False, True])
def test_every_exit_of_what_was_taken_down_says_why(kind, is_legal, scene, things, staff):
    page, least = PAGES[kind]
    if kind == Thing.WORKSPACE:
        opened(scene)
    before = readings(things)
    takedown = taken_down(staff, page.format(**things), is_legal=is_legal)
    assert takedown.kind == kind
    after = readings(things)

    closed = readable(before) - readable(after)
    assert len(closed) >= least, closed
    for path in closed:
        status, text = after[path]
        assert status == (451 if is_legal else 410), path
        assert REASON in text, path
        assert "secret-" not in text, path
        if path.partition("?")[0].endswith(DATA_ENDINGS) or path.startswith(("/api/", "/oembed")):
            assert json.loads(text)["takedown"] == str(takedown.pk), path
    left = readable(after)
    if kind == Thing.WORKSPACE:
        assert left == set()
        for path in LISTS:
            assert not any(name in after[path][1] for name in NAMED), path
        assert any("secret-" in before[path][1] for path in LISTS)
    # What else is shared stays open.
    assert left == readable(before) - closed


def test_members_still_read_it_and_are_told_why(scene, things, staff, settings):
    settings.ABUSE_CONTACT = "mailto:abuse@example.org"
    opened(scene)
    takedown = taken_down(staff, "/w/own-lab/")
    member = Client()
    member.force_login(scene.own.user)

    pages = ("/w/own-lab/", "/w/own-lab/settings", "/s/{shared}", "/r/{run}")
    for path in (page.format(**things) for page in pages):
        answer = member.get(path)
        assert answer.status_code == 200, path
        text = answer.content.decode()
        assert REASON in text, path
        assert str(takedown.pk) in text, path
        assert "abuse@example.org" in text, path
    api = Client(headers=scene.own.headers).get(f"/api/v1/runs/{things['run']}")
    assert api.status_code == 200
    # What they do not find is not found.
    assert member.get("/w/own-lab/servers/" + str(things["owner"])).status_code == 404


def test_what_was_restored_is_read_again(scene, things, staff):
    opened(scene)
    before = readings(things)
    takedown = taken_down(staff, "/w/own-lab/")

    answer = staff.post(f"/staff/accounts/takedown/{takedown.pk}/change/", {"is_lifted": "on"})

    assert answer.status_code == 302
    assert readable(readings(things)) == readable(before)
    acts = list(AuditEvent.objects.filter(workspace_id=scene.own.workspace.pk).values_list("act"))
    assert {(Act.STAFF_TAKEDOWN,), (Act.STAFF_RESTORED,)} <= set(acts)


def test_opening_it_again_does_not_restore_it(scene, things, staff):
    opened(scene)
    taken_down(staff, "/w/own-lab/")

    opened(scene)

    assert Client().get("/w/own-lab/").status_code == 410


def open_to_all(workspace):
    change_settings(workspace, {"is_public": True})


def open_by_link(workspace):
    make_link(workspace.memberships.first().user, workspace)


WAYS = pytest.mark.parametrize("open_it", [open_to_all, open_by_link])


@WAYS
def test_a_workspace_stays_closed_while_a_run_of_it_is_taken_down(open_it, scene, things, staff):
    workspace = scene.own.workspace
    takedown = taken_down(staff, f"/shared/runs/{things['shared_link']}")

    with pytest.raises(NotOpened, match=str(scene.run.pk)) as refused:
        open_it(workspace)
    assert str(takedown.pk) in refused.value.hint
    # The trash gives it back.
    trash_run(scene.run, by=None)
    with pytest.raises(NotOpened):
        open_it(workspace)
    assert Client().get(f"/r/{scene.run.pk}").status_code == 404


@WAYS
def test_without_the_run_the_workspace_is_opened(open_it, scene, things, staff):
    taken_down(staff, f"/shared/runs/{things['shared_link']}")
    Run.objects.get(pk=scene.run.pk).delete()

    open_it(scene.own.workspace)


def test_after_the_restoring_of_a_run_its_workspace_is_opened(scene, things, staff):
    takedown = taken_down(staff, f"/shared/runs/{things['shared_link']}")
    staff.post(f"/staff/accounts/takedown/{takedown.pk}/change/", {"is_lifted": "on"})

    open_to_all(scene.own.workspace)


@WAYS
def test_of_a_workspace_that_was_opened_after_the_report_all_is_taken_down(
    open_it, scene, things, staff
):
    report = reported(f"/shared/runs/{things['shared_link']}")
    assert report.kind == Thing.RUN
    open_it(scene.own.workspace)
    form = {"decision": "take down", "public_reason": REASON}

    staff.post(f"/staff/accounts/report/{report.pk}/change/", form)

    takedown = Takedown.objects.get()
    assert (takedown.kind, takedown.thing_id) == (Thing.WORKSPACE, scene.own.workspace.pk)
    report.refresh_from_db()
    assert report.takedown == takedown
    assert Client().get(f"/shared/runs/{things['shared_link']}").status_code == 410


def test_a_private_workspace_has_no_tombstone(scene, things, staff):
    opened(scene)
    taken_down(staff, "/w/own-lab/")
    workspace = scene.own.workspace
    workspace.is_public = False
    workspace.save()

    assert Client().get("/w/own-lab/").status_code == 404


def test_the_audit_log_names_and_links_what_was_taken_down(scene, things, staff):
    opened(scene)
    taken_down(staff, f"/s/{things['shared']}", is_legal=True)
    owner = Client()
    owner.force_login(scene.own.user)

    text = owner.get("/w/own-lab/audit").text

    title = ResultSet.objects.get(link=things["shared"]).title
    assert f'<a href="/s/{things["shared"]}"><bdi>the result set “{title}”</bdi></a>' in text
    assert "for legal reasons</span> <bdi>yes" in text


def test_a_successor_that_was_taken_down_is_not_named(scene, things, staff):
    older = make_result_set(scene.own.workspace, Visibility.PUBLIC)
    newer = ResultSet.objects.get(link=things["shared"])
    ResultSet.objects.filter(pk=newer.pk).update(title="the-newer-one")
    ResultSet.objects.filter(pk=older.pk).update(superseded_by=newer)
    taken_down(staff, newer.path)

    assert "the-newer-one" not in Client().get(older.path).content.decode()


def test_only_one_place_says_what_is_public():
    """Else an exit may forget that a workspace was taken down."""
    here = {"backend/accounts/models.py", "backend/accounts/workspace/workspaces.py"}
    for file in (configured.BASE_DIR / "backend").rglob("*.py"):
        name = str(file.relative_to(configured.BASE_DIR))
        is_ours = {"tests", "testing", "migrations"}.isdisjoint(file.parts)
        if is_ours and name not in here:
            assert "is_public=True" not in file.read_text(), name
