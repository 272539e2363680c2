"""No route gives anybody what is not theirs: every route, every method, every kind of visitor.

Markers are planted in every place that holds text. `secret-…` is in runs and what belongs to them,
which everybody reads in a public workspace; `hidden-…` is in what only members ever read. The
routes are those of the URL configuration: a new one needs a row in access_rows.py.

Of a private workspace every visitor is sent everywhere. This shows two things that hold however the
workspace is shared, so that the tests of shared ones need not send it again:

* On a page a token is nobody: it gets the answer of a visitor without an account, and no statement
  reads it. A token that is refused is refused everywhere in the API, after its own row was read.
* A method that a route refuses (405) is refused while the database is closed: nothing that is
  stored makes a difference, and of the sender no more than a token's scopes.
"""

import uuid
from dataclasses import replace
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from backend.accounts import audit
from backend.accounts.models import Act, Membership, Role, Token, User, Workspace
from backend.accounts.tokens.token_making import TokenRequest, make_token
from backend.accounts.workspace import invitations
from backend.accounts.workspace.scopes import Scope
from backend.accounts.workspace.workspace_links import make_link, revoke_link
from backend.ingest.models import Artefact, State, Upload
from backend.runs.models import Host, Run, Workload
from backend.sharing.models import ResultSet, SavedView, SharedRun, Visibility
from backend.sharing.run_sharing import share_run
from backend.sharing.workspace_deletion import delete_workspace
from backend.testing.scenes import make_artefact, make_result_set
from backend.web.tests.access_roles import ADMIN_ONLY, OWNER_ONLY
from backend.web.tests.access_rows import ROWS
from backend.web.tests.every_answer import (
    OF_THE_SENDER,
    answer,
    answers,
    every_request,
    is_of_api,
    is_token,
    leaks,
    recorded_tables,
    status_without_rows,
)
from backend.web.tests.test_access import ids_of, without_csrf

pytestmark = [pytest.mark.django_db, pytest.mark.long]
SECRET, HIDDEN = b"secret-", b"hidden-"
# Read to know who asks: a token ends with its maker's membership.
TELL_THE_SENDER = {*OF_THE_SENDER, "accounts_user", "accounts_membership"}
# Of the outsiders: tokens that open nothing any more, or not from here.
REFUSED_TOKENS = {"revoked token", "expired token", "token elsewhere", "token of a former owner"}


@pytest.fixture(autouse=True)
def no_agent_files(settings, tmp_path):
    settings.AGENT_FILES = tmp_path


@pytest.fixture
def ids(scene):
    ids = ids_of(scene)
    plant(scene, ids)
    return ids


def plant(scene, ids):
    workspace = scene.own.workspace
    Run.objects.filter(workspace=workspace).update(
        notes="secret-notes", labels={"for": "secret-label"}
    )
    Run.with_trash.filter(pk=ids["trashed"]).update(
        notes="hidden-notes", labels={"hidden-label": "x"}
    )
    Host.objects.filter(workspace=workspace).update(name="secret-host", kernel="secret-kernel")
    Workload.objects.filter(workspace=workspace).update(name="secret-workload")
    Artefact.objects.filter(upload__workspace=workspace).update(name="secret-wrk.txt")
    Token.objects.filter(workspace=workspace).update(name="hidden-token")
    User.objects.filter(pk=scene.viewer.pk).update(
        username="hidden-viewer", email="hidden-viewer@example.org"
    )
    SavedView.objects.filter(workspace=workspace).update(name="hidden-view")
    ResultSet.objects.filter(pk=ids["private"]).update(title="hidden-title", notes="hidden-notes")
    invitations.invite(scene.own.user, workspace, Role.VIEWER, email="hidden-mail@example.org")
    audit.record(Act.SHARE_CREATED, workspace, subject="hidden-subject", why="hidden-why")
    failed = Upload.objects.create(
        workspace=workspace,
        content_sha256="1" * 64,
        state=State.FAILED,
        reason="hidden-reason",
    )
    make_artefact(failed, b"hidden-bytes", name="hidden-file.txt")
    ids["upload"] = scene.upload.pk


def bearer(maker, workspace, *scopes, **ends):
    token, clear = make_token(maker, workspace, TokenRequest("x", scopes))
    Token.objects.filter(pk=token.pk).update(**ends)
    return Client(headers={"authorization": f"Bearer {clear}"})


def signed_in(person):
    client = Client()
    client.force_login(person)
    return client


def member_of(scene, role):
    person = User.objects.create_user(username=f"of-{role}", password=None)
    Membership.objects.create(user=person, workspace=scene.own.workspace, role=role)
    return person


@pytest.fixture
def outsiders(scene):
    """Everybody who has no business in the workspace, with as much as they may have elsewhere."""
    own, foreign, now = scene.own, scene.foreign, timezone.now()
    former = member_of(scene, Role.OWNER)
    of_former = bearer(former, own.workspace, *Scope)
    Membership.objects.filter(user=former).delete()
    past = now - timedelta(seconds=1)
    return {
        "anonymous": Client(),
        "other tenant": signed_in(foreign.user),
        "token of another tenant": bearer(foreign.user, foreign.workspace, *Scope),
        "revoked token": bearer(own.user, own.workspace, *Scope, revoked_at=now),
        "expired token": bearer(own.user, own.workspace, *Scope, expires_at=past),
        "token elsewhere": bearer(own.user, own.workspace, *Scope, networks=["192.0.2.0/24"]),
        "token without a scope": bearer(own.user, own.workspace, *Scope, scopes=[]),
        "former owner": signed_in(former),
        "token of a former owner": of_former,
        "staff": signed_in(User.objects.create_user("of-staff", is_staff=True)),
    }


@pytest.fixture(scope="module")
def refused(django_db_blocker):
    """(route, method) of each that answers 405 while the database is closed: whoever asks, and
    whatever is stored.
    """
    everything = Token(scopes=[*Scope])
    with django_db_blocker.block():
        found = {
            (name, row.method)
            for name, row in every_request()
            if status_without_rows(row, everything) == 405
        }
    assert len(found) > 3 * len(ROWS)
    return found


def test_of_a_private_workspace_outsiders_get_nothing(ids, outsiders):
    """They are sent everywhere. What tokens get tells where tokens need not be sent again."""
    given = list(answers(outsiders, ids))
    assert leaks(given, [SECRET, HIDDEN]) == []
    assert len(given) > len(ROWS) * len(outsiders)
    nobody = {(each.name, each.method): each for each in given if each.visitor == "anonymous"}
    for each in given:
        of_nobody = nobody.get((each.name, each.method))
        # Whether large bodies of a token are read is asked outside the API too.
        is_of_nobody = each.is_of_page and each.name != "may-send"
        if is_of_nobody and is_token(outsiders[each.visitor]) and of_nobody is not None:
            same = (each.status, neutral(each.text, ids), each.read)
            assert same == (of_nobody.status, neutral(of_nobody.text, ids), of_nobody.read), each[
                :4
            ]
        # A report of leaked tokens is taken from everybody, and no token of its sender is read.
        is_signed = not each.is_of_page and each.name != "leaked-token-list"
        if is_signed and each.visitor in REFUSED_TOKENS:
            assert (each.status, each.read - TELL_THE_SENDER) == (401, set()), each[:4]


def seeing(outsiders):
    """The outsiders without the tokens that are refused everywhere."""
    return {name: outsiders[name] for name in outsiders.keys() - REFUSED_TOKENS}


@pytest.mark.parametrize("visibility", [Visibility.UNLISTED, Visibility.PUBLIC])
def test_a_shared_run_opens_nothing_but_its_link(visibility, scene, ids, outsiders, refused):
    share_run(scene.run, visibility)
    assert leaks(answers(seeing(outsiders), ids, refused), [SECRET, HIDDEN]) == []
    link = SharedRun.objects.get(run=scene.run).link
    for path in (f"/shared/runs/{link}", f"/api/v1/shared-runs/{link}"):
        text = outsiders["anonymous"].get(path).content
        assert SECRET in text
        assert HIDDEN not in text


def test_of_a_public_workspace_outsiders_get_its_runs_only(scene, ids, outsiders, refused):
    Workspace.objects.filter(pk=scene.own.workspace.pk).update(is_public=True)
    assert leaks(answers(seeing(outsiders), ids, refused), [HIDDEN]) == []
    _, text = answer(outsiders["anonymous"], ROWS["run-page"], ids)
    assert SECRET in text


def with_link(clear):
    """A browser that opened the link of an unlisted workspace."""
    client = Client()
    assert client.get(f"/shared/{clear}").status_code == 302
    return client


def test_of_an_unlisted_workspace_its_link_opens_the_runs_only(scene, ids, outsiders, refused):
    opened = with_link(make_link(scene.own.user, scene.own.workspace))
    _, text = answer(opened, ROWS["run-page"], ids)
    assert SECRET in text
    assert leaks(answers({"opened its link": opened}, ids, refused), [HIDDEN]) == []
    assert leaks(answers(seeing(outsiders), ids, refused), [SECRET, HIDDEN]) == []


def test_a_revoked_link_opens_nothing(scene, ids, refused):
    client = with_link(make_link(scene.own.user, scene.own.workspace))
    revoke_link(scene.own.workspace)
    assert leaks(answers({"revoked link": client}, ids, refused), [SECRET, HIDDEN]) == []


@pytest.mark.parametrize("scope", Scope)
def test_a_token_of_one_scope_gets_what_all_scopes_get_or_is_refused(scope, scene, ids):
    own = scene.own
    everything = bearer(own.user, own.workspace, *Scope)
    one = bearer(own.user, own.workspace, scope)
    wrong, refused = [], 0
    for name, row in ROWS.items():
        with recorded_tables() as (written, _):
            status, _ = answer(one, row, ids)
        if status == answer(everything, row, ids)[0]:
            continue
        refused += 1
        # 404: an upload of another sender. 409: a role that has more scopes than the token.
        if status not in {403, 404, 409} or written:
            wrong.append((name, status, *written))
    assert refused > 5
    assert wrong == []


def test_of_a_deleted_workspace_nobody_gets_anything(scene, ids, outsiders, refused):
    own = scene.own
    insiders = {
        "owner": signed_in(own.user),
        "viewer": signed_in(member_of(scene, Role.VIEWER)),
        "member": signed_in(member_of(scene, Role.MEMBER)),
        "admin": signed_in(member_of(scene, Role.ADMIN)),
        "token": bearer(own.user, own.workspace, *Scope),
        **{f"token for {scope}": bearer(own.user, own.workspace, scope) for scope in Scope},
        "its link": with_link(make_link(own.user, own.workspace)),
    }
    clients = {**outsiders, **insiders}
    unlisted = make_result_set(scene.own.workspace, Visibility.UNLISTED)
    delete_workspace(scene.own.workspace)
    ids |= {"private": unlisted.pk}
    assert leaks(answers(clients, ids, refused), [SECRET, HIDDEN]) == []


def test_the_markers_are_where_members_read_them(scene, ids):
    """Otherwise the tests above prove nothing."""
    owner = signed_in(scene.own.user)
    shown = b"".join(
        answer(owner, row, ids)[1] for _, row in every_request() if row.method == "get"
    )
    for marker in ("token", "viewer", "view", "title", "subject", "reason"):
        assert f"hidden-{marker}".encode() in shown, marker
    for marker in ("notes", "label", "host", "workload"):
        assert f"secret-{marker}".encode() in shown, marker


def test_a_form_that_an_owner_sends_is_seen_to_change_something(scene, ids):
    """Otherwise the tests above miss a stranger's form that is taken."""
    owner = signed_in(scene.own.user)
    forms = {
        name: row
        for name, row in ROWS.items()
        if row.method == "post" and row.status["owner"] == 302 and row.status["viewer"] == 404
    }
    unseen = []
    for name, row in forms.items():
        with recorded_tables() as (written, _):
            answer(owner, row, ids)
        if not written:
            unseen.append(name)
    assert len(forms) > 20
    assert unseen == []


@pytest.mark.parametrize("visitor", ["anonymous", "other tenant", "token of another tenant"])
def test_foreign_and_missing_get_the_same_answer_for_every_method(visitor, ids, outsiders, refused):
    client = outsiders[visitor]
    missing_ids = {kind: uuid.uuid4() for kind in ids}
    for name, row in every_request():
        if ("{" not in row.path and "own-lab" not in row.path) or (name, row.method) in refused:
            continue
        if is_token(client) and not is_of_api(row):
            continue
        absent = replace(row, path=row.path.replace("own-lab", "no-labs"))
        absent = replace(absent, data=swapped(row.data))
        foreign, missing = answer(client, row, ids), answer(client, absent, missing_ids)
        assert foreign[0] == missing[0], (name, row.method)
        assert neutral(foreign[1], ids) == neutral(missing[1], missing_ids), (name, row.method)


def swapped(data):
    return {name: str(value).replace("own-lab", "no-labs") for name, value in data.items()}


def neutral(text, ids):
    """The answer without the ids and the slug that were asked for."""
    for id_ in ids.values():
        text = text.replace(str(id_).encode(), b"")
    return without_csrf(text.replace(b"no-labs", b"own-lab")).replace(b"own-lab", b"")


@pytest.mark.parametrize("role", [Role.MEMBER, Role.ADMIN])
def test_what_members_and_admins_may(role, scene, ids):
    """What an owner may, but for two short lists; of those they get what a viewer gets."""
    assert set(ROWS) >= OWNER_ONLY | ADMIN_ONLY
    client = signed_in(member_of(scene, role))
    refused = OWNER_ONLY if role == Role.ADMIN else OWNER_ONLY | ADMIN_ONLY
    for name, row in ROWS.items():
        expected = row.status["viewer" if name in refused else "owner"]
        assert answer(client, row, ids)[0] == expected, name
