"""Who sees what: every route of the site, for every kind of visitor.

The routes are read from the URL configuration: a new one without a row in access_rows.py fails.
"""

import copy
import re
import uuid

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils import timezone

from backend.accounts.models import Role, Token
from backend.accounts.workspace import invitations
from backend.ingest.models import Upload
from backend.sharing.edits import revoke
from backend.sharing.models import ResultSet, Visibility
from backend.storage import storage
from backend.testing.scenes import (
    make_alerts,
    make_changes,
    make_export,
    make_result_set,
    make_saved_view,
    make_scene,
)
from backend.testing.transactions import kept_for_a_module, taken_back
from backend.testing.uploads import WRK
from backend.web.tests.access_rows import ROWS
from backend.web.tests.access_statuses import MEMBERS_API, VISITORS
from backend.web.tests.shared_rows import SHARED

# Signing in is allauth's own; its routes are none of our data. For staff: test_staff.py.
FOREIGN_ROUTES = ("accounts/", "staff/")
READ = [name for name, row in SHARED.items() if row.method == "get"]
NOW = timezone.now()
ENDS = {
    "expired": {"expires_at": NOW},
    "withdrawn": {"withdrawn_at": NOW, "withdrawn_reason": "the client was the limit"},
}


def routes(patterns=None, prefix=""):
    for pattern in get_resolver().url_patterns if patterns is None else patterns:
        path = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from routes(pattern.url_patterns, path)
        elif isinstance(pattern, URLPattern) and not path.startswith(FOREIGN_ROUTES):
            yield pattern.name


def ids_of(scene):
    """What stands in the paths of the rows."""
    return {
        "run": scene.run.pk,
        "trial": scene.trial.pk,
        "cell": scene.trial.cell_id,
        "upload": scene.upload.pk,
        "artefact": scene.artefact.pk,
        "server": scene.trial.cell.series.server_id,
        "host": scene.run.server_host_id,
        "workload": scene.trial.cell.series.workload_id,
        **make_changes(scene),
        "private": make_result_set(scene.own.workspace, Visibility.PRIVATE).pk,
        "viewer": scene.viewer.pk,
        "invitation": make_invitation(scene).pk,
        "owner": scene.own.user.pk,
        "view": make_saved_view(scene.own.workspace).pk,
        **make_alerts(scene.own, scene.run),
        "export": make_export(scene.own.workspace).pk,
        "token": Token.objects.get(workspace=scene.own.workspace).pk,
    }


def make_invitation(scene):
    clear = invitations.invite(scene.own.user, scene.own.workspace, Role.VIEWER)
    return invitations.find(clear)


@pytest.fixture(autouse=True)
def no_agent_files(settings, tmp_path):
    settings.AGENT_FILES = tmp_path


@pytest.fixture(scope="module")
def world(django_db_setup, django_db_blocker, tmp_path_factory):
    """One scene for all tests here, and where its artefacts are: each test is rolled back to it."""
    folder = tmp_path_factory.mktemp("artefacts")
    with django_db_blocker.unblock(), kept_for_a_module(folder):
        made = make_scene()
        yield made, ids_of(made), folder, make_visitors(made)


@pytest.fixture(autouse=True)
def _artefacts_in_a_folder_of_the_test(settings, world):
    settings.DATA_DIR = world[2]
    storage.cache_clear()
    yield
    storage.cache_clear()


@pytest.fixture
def scene(world, db):
    # A test may change its objects; only the rows are rolled back.
    return copy.deepcopy(world[0])


@pytest.fixture
def ids(world, db):
    return dict(world[1])


def make_visitors(scene):
    people = {"stranger": scene.foreign.user, "viewer": scene.viewer, "owner": scene.own.user}
    clients = {name: Client() for name in ["anonymous", *people]}
    for name, person in people.items():
        clients[name].force_login(person)
    clients["token"] = Client(headers=scene.own.headers)
    clients["foreign_token"] = Client(headers=scene.foreign.headers)
    return clients


@pytest.fixture
def visitors(world, db):
    """They signed in once: each test begins with their cookies, and their sessions are rows."""
    clients = world[3]
    cookies = copy.deepcopy({name: client.cookies for name, client in clients.items()})
    yield clients
    for name, client in clients.items():
        client.cookies = cookies[name]


def ask(client, row, ids):
    data = {name: str(value).format(**ids) for name, value in row.data.items()}
    more = {"content_type": "application/json"} if row.json else {}
    return getattr(client, row.method)(row.path.format(**ids), data or None, **more)


def body_of(response):
    return b"".join(response.streaming_content) if response.streaming else response.content


def without_csrf(body):
    return re.sub(rb'name="csrfmiddlewaretoken" value="[^"]*"', b"", body)


def test_every_route_has_a_row():
    assert set(routes()) == set(ROWS)


@pytest.mark.parametrize("name", ROWS)
def test_access(name, visitors, ids):
    row = ROWS[name]
    for visitor, client in visitors.items():
        with taken_back():
            response = ask(client, row, ids)
        assert response.status_code == row.status[visitor], visitor
        if response.status_code >= 400:
            assert b"secret" not in body_of(response), visitor


# Pages that also take a form: who may not see the page may not send it either.
FORMS = {
    "edit": ("/r/{run}/edit", {"server": "another", "was-server": ""}),
    "new-upload": ("/w/own-lab/upload", {"paste": WRK, "action": "save"}),
    "preview": ("/w/own-lab/upload", {"paste": WRK}),
    "settings": ("/w/own-lab/settings", {"relevant_percent": "9", "min_trials": "9"}),
    "invite": ("/w/own-lab/members", {"role": "viewer"}),
    "agents": ("/w/own-lab/agents", {"name": "mine"}),
    "revoke": ("/w/own-lab/agents/{token}/revoke", {}),
    "rename-view": ("/w/own-lab/views/{view}/edit", {"name": "another"}),
    "delete-view": ("/w/own-lab/views/{view}/delete", {}),
    "undo": ("/r/{run}/dismissals", {"check": "same-host", "undo": "1"}),
}


@pytest.mark.parametrize("name", FORMS)
def test_who_may_not_change_sends_no_form(name, visitors, ids, scene):
    path, data = FORMS[name]
    uploads = Upload.objects.count()
    for visitor, client in visitors.items():
        if visitor != "owner":
            assert client.post(path.format(**ids), data).status_code == 404, visitor
    assert Upload.objects.count() == uploads
    scene.own.workspace.refresh_from_db()
    assert scene.own.workspace.min_trials == 3


def test_members_upload_but_only_owners_set(visitors, scene):
    scene.own.user.memberships.update(role=Role.MEMBER)
    assert visitors["owner"].get("/w/own-lab/upload").status_code == 200
    for method in ("get", "post"):
        assert getattr(visitors["owner"], method)("/w/own-lab/settings").status_code == 404


@pytest.mark.parametrize("visibility", [Visibility.UNLISTED, Visibility.PUBLIC])
@pytest.mark.parametrize("name", SHARED)
def test_access_to_what_is_shared(name, visibility, visitors, ids, scene):
    row = SHARED[name]
    ids["shared"] = make_result_set(scene.own.workspace, visibility).pk
    for visitor, client in visitors.items():
        with taken_back():
            assert ask(client, row, ids).status_code == row.status[visitor], visitor


# One world serves every address and visitor of these: they change nothing.
EVERY_READING = [(name, visitor) for name in READ for visitor in VISITORS]


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("visibility", Visibility)
def test_access_to_what_is_gone(visibility, end, visitors, ids, scene):
    """A tombstone for who might read it before, and nothing for anybody else."""
    ids["shared"] = make_result_set(scene.own.workspace, visibility, **ENDS[end]).pk
    rows = ROWS if visibility == Visibility.PRIVATE else SHARED
    for name, visitor in EVERY_READING:
        response = ask(visitors[visitor], SHARED[name], ids)
        before = rows[name].status[visitor]
        assert response.status_code == (410 if before == 200 else before), (name, visitor)
        body = body_of(response)
        assert b"secret" not in body
        told = response.status_code == 410 and end == "withdrawn"
        assert (b"the client was the limit" in body) is told, (name, visitor)


@pytest.mark.parametrize("visibility", Visibility)
def test_a_revoked_link_leads_nowhere(visibility, visitors, ids, scene):
    made = make_result_set(scene.own.workspace, visibility)
    ids["shared"] = made.pk
    revoke(made)
    for name, visitor in EVERY_READING:
        needs_token = visitor == "anonymous" and SHARED[name].path.startswith("/api/")
        response = ask(visitors[visitor], SHARED[name], ids)
        assert response.status_code == (401 if needs_token else 404), (name, visitor)
        body = body_of(response)
        assert b"secret" not in body
        assert str(made.link).encode() not in body


def test_nothing_is_changed_by_who_may_not(visitors, ids, scene):
    made = make_result_set(scene.own.workspace, Visibility.PUBLIC)
    ids["shared"] = made.pk
    before = ResultSet.objects.filter(pk=made.pk).values().get()
    refused = 0
    for row in SHARED.values():
        for visitor in VISITORS:
            if row.method == "post" and row.status[visitor] >= 400:
                assert ask(visitors[visitor], row, ids).status_code == row.status[visitor]
                refused += 1
    assert refused
    assert ResultSet.objects.filter(pk=made.pk).values().get() == before


@pytest.mark.parametrize("name", [n for n, row in ROWS.items() if "{" in row.path])
@pytest.mark.parametrize("visitor", ["stranger", "foreign_token"])
def test_foreign_and_missing_are_the_same_answer(name, visitor, visitors, ids):
    foreign = ask(visitors[visitor], ROWS[name], ids)
    missing_ids = {kind: uuid.uuid4() for kind in ids}
    missing = ask(visitors[visitor], ROWS[name], missing_ids)
    assert foreign.status_code == missing.status_code == ROWS[name].status[visitor]
    seen = [without_csrf(body_of(one)) for one in (foreign, missing)]
    for kind in ids:  # the asked-for id itself may be repeated
        seen[0] = seen[0].replace(str(ids[kind]).encode(), b"")
        seen[1] = seen[1].replace(str(missing_ids[kind]).encode(), b"")
    assert seen[0] == seen[1]


@pytest.mark.parametrize("visitor", ["stranger", "foreign_token"])
def test_lists_hold_nothing_of_others(visitor, visitors, ids):
    lists = ["runs", "compare", "servers", "hosts", "workloads", "views", "alerts", "alert-rules"]
    lists += ["channels"]
    for name in [*lists, *(f"{name}?workspace=own-lab" for name in lists)]:
        body = body_of(visitors[visitor].get(f"/api/v1/{name}"))
        assert str(ids["run"]).encode() not in body
        for secret in (b"secret-server", b"secret-view", b"bench-1", str(ids["workload"]).encode()):
            assert secret not in body


@pytest.mark.parametrize("name", [n for n, row in ROWS.items() if row.method == "get"])
def test_nothing_private_is_cached_and_every_answer_has_its_headers(name, visitors, ids):
    response = ask(visitors["owner"], ROWS[name], ids)
    cached = name in ("openapi", "run-progress")
    assert ("no-store" in response["Cache-Control"]) is not cached
    assert "private" in response["Cache-Control"] or name == "openapi"
    assert response["Content-Security-Policy"]
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Referrer-Policy"]


API_ROWS = [n for n, row in ROWS.items() if row.path.startswith("/api/v1/")]
OPEN_API = ("openapi", "api-docs", "leaked-token-list")


@pytest.mark.parametrize("name", [n for n in API_ROWS if n not in OPEN_API])
@pytest.mark.parametrize("how", ["left", "closed"])
def test_a_token_ends_with_its_makers_membership(name, how, visitors, ids, scene):
    if how == "left":
        scene.own.user.memberships.all().delete()
    else:
        scene.own.user.is_active = False
        scene.own.user.save()
    response = ask(visitors["token"], ROWS[name], ids)
    assert response.status_code == 401
    assert "no longer a member" in response.json()["detail"]


@pytest.mark.parametrize("name", ["upload-list", "part-list", "part", "result-set-list"])
def test_a_token_of_who_became_a_viewer_only_reads(name, visitors, ids, scene):
    scene.own.user.memberships.update(role=Role.VIEWER)
    assert ask(visitors["token"], ROWS["run"], ids).status_code == 200
    assert ask(visitors["token"], ROWS[name], ids).status_code in (403, 404)


@pytest.mark.parametrize("name", [n for n in API_ROWS if ROWS[n].status == MEMBERS_API])
def test_a_token_that_may_only_write_reads_nothing(name, visitors, ids, scene):
    Token.objects.filter(workspace=scene.own.workspace).update(scopes=["runs:write"])
    assert ask(visitors["token"], ROWS[name], ids).status_code == 403
