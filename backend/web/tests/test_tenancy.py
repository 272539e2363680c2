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

import re
import uuid
from collections import defaultdict
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from datetime import timedelta
from typing import NamedTuple

import pytest
from django.contrib.auth.models import AnonymousUser
from django.db import connection
from django.test import Client, RequestFactory
from django.urls import resolve
from django.utils import timezone
from rest_framework.test import force_authenticate

from backend.accounts import audit
from backend.accounts.models import Act, Membership, Role, Token, User, Workspace
from backend.accounts.people import invitations
from backend.accounts.people.workspace_links import make_link, revoke_link
from backend.accounts.scopes import Scope
from backend.accounts.tokens.token_making import TokenRequest, make_token
from backend.ingest.models import Artefact, State, Upload
from backend.runs.models import Host, Run, Workload
from backend.sharing.models import ResultSet, SavedView, SharedRun, Visibility
from backend.sharing.run_sharing import share_run
from backend.sharing.workspace_deletion import delete_workspace
from backend.testing.scenes import make_artefact, make_result_set
from backend.testing.transactions import taken_back
from backend.web.tests.access_rows import ADMIN_ONLY, OWNER_ONLY, ROWS
from backend.web.tests.test_access import ask, body_of, ids_of, without_csrf

pytestmark = [pytest.mark.django_db, pytest.mark.long]
METHODS = ("get", "head", "post", "put", "patch", "delete", "options")
SAFE = ("get", "head", "options")
SECRET, HIDDEN = b"secret-", b"hidden-"
# Documents with recorded examples, in which the same markers stand.
SAME_FOR_ALL = {"openapi", "api-docs"}
# What everybody may send, whoever they are: it is about nothing of anybody else.
OPEN_WRITES = {"livez", "readyz", "try", "new-workspace", "leaked-token-list", "account-export"}
# The table of a statement that changes rows; a lock ends in FOR UPDATE, an upsert in DO UPDATE.
WRITE = re.compile(
    r"(?<!FOR )(?<!KEY )(?<!DO )\b(?:INSERT INTO|UPDATE|DELETE FROM|COPY|TRUNCATE)\s+\"?(\w+)"
)
READ = re.compile(r"\b(?:FROM|JOIN)\s+\"?(\w+)")
# Written for whoever asks: the session, and when a token was used last.
OF_THE_SENDER = {"django_session", "usersessions_usersession", "accounts_token"}
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


def every_request():
    """Each route with each method; the data of its row go with the method of its row."""
    for name, row in ROWS.items():
        for method in METHODS:
            data = row.data if method == row.method else {}
            yield name, replace(row, method=method, data=data)


def answer(client, row, ids):
    with nullcontext() if row.method in SAFE else taken_back():
        response = ask(client, row, ids)
        body = body_of(response)
    headers = {**response.headers, "Server-Timing": "", "X-Request-Id": "", "RateLimit": ""}
    return response.status_code, body + str(headers).encode()


@contextmanager
def recorded_tables():
    """The tables whose rows change inside, but those of the sender, and those that are read.

    The status does not tell a change: a form is answered 302, as are those who are not signed in.
    """
    written, read = set(), set()

    def record(execute, sql, params, many, context):
        written.update(set(WRITE.findall(sql)) - OF_THE_SENDER)
        read.update(READ.findall(sql))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(record):
        yield written, read


class Answer(NamedTuple):
    """What a visitor got from a route with a method, and what was written and read for it."""

    name: str
    method: str
    visitor: str
    status: int
    text: bytes
    written: set
    read: set

    @property
    def is_of_page(self):
        return not is_of_api(ROWS[self.name])


def is_of_api(row):
    return row.path.startswith("/api/")


def is_token(client):
    return "HTTP_AUTHORIZATION" in client.defaults


def answers(clients, ids, refused=None):
    """The answer to each visitor from each route with each method that it may answer.

    `refused`: what the fixture of this name found; then it is left out, and so are tokens on pages.
    """
    for name, row in every_request():
        if name in SAME_FOR_ALL or (name, row.method) in (refused or ()):
            continue
        # Other methods are refused whoever asks: a person and a token are enough.
        is_answered = row.method in ("get", ROWS[name].method)
        for visitor, client in clients.items():
            if not (is_answered or visitor in ("other tenant", "token of another tenant")):
                continue
            if refused is not None and is_token(client) and not is_of_api(row):
                continue
            with recorded_tables() as (written, read):
                status, text = answer(client, row, ids)
            yield Answer(name, row.method, visitor, status, text, written, read)


def leaks(given, markers):
    """(route, method, visitor, status, tables written) of each answer that holds a marker, fails
    or changes.
    """
    wrong, asked = [], 0
    for name, method, visitor, status, text, written, _ in given:
        asked += 1
        is_taken = status < 300 or bool(written)
        is_change = method not in SAFE and is_taken and name not in OPEN_WRITES
        if status >= 500 or is_change or any(marker in text for marker in markers):
            wrong.append((name, method, visitor, status, *sorted(written)))
    assert asked >= len(ROWS) - len(SAME_FOR_ALL)
    return wrong


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


def status_without_rows(row, token):
    path = row.path.format_map(defaultdict(uuid.uuid4))
    request = getattr(RequestFactory(), row.method)(path)
    request.user, request.session = AnonymousUser(), {}
    force_authenticate(request, User(), token)
    view, arguments, named = resolve(request.path)
    try:
        return view(request, *arguments, **named).status_code
    except Exception:
        # It asked for a row, or for what middleware brings.
        return None


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
