"""Tokens through the API and the page, and the scope that each operation asks for."""

import re
import uuid

import pytest
from django.test import Client

from backend.accounts.models import Membership, Role, Token
from backend.accounts.tokens.token_making import TokenRequest, make_token
from backend.accounts.workspace.scopes import Scope
from backend.api.docs import openapi_document
from backend.api.protocol.schema import match_of
from backend.api.protocol.scopes import NEEDED_SCOPES, needed_scopes
from backend.api.urls import urlpatterns
from backend.testing.uploads import make_file, make_tenant

pytestmark = pytest.mark.django_db
METHODS = ("get", "post", "put", "patch", "delete")
PAGE = "/w/lab/tokens"
REFUSALS = ("scope-is-missing", "not-for-tokens")


@pytest.fixture
def tenant():
    return make_tenant()


@pytest.fixture
def owner(tenant):
    client = Client()
    client.force_login(tenant.user)
    return client


def bearer(tenant, *scopes):
    _, clear = make_token(tenant.user, tenant.workspace, TokenRequest("x", scopes))
    return Client(headers={"authorization": f"Bearer {clear}"})


def operations():
    for pattern in urlpatterns:
        view = getattr(pattern.callback, "view_class", None)
        for method in METHODS if view else ():
            if hasattr(view, method):
                yield pattern.name, method.upper()


def test_every_operation_names_its_scope_and_nothing_else_does():
    named = {(route, method) for route, by in NEEDED_SCOPES.items() for method in by}
    assert named == set(operations())


def test_the_document_names_the_scopes():
    for path, methods in openapi_document()["paths"].items():
        for method, operation in methods.items():
            asked = [entry["token"] for entry in operation.get("security", []) if "token" in entry]
            needed = needed_scopes(str(match_of(path).url_name), method.upper())
            if "security" in operation:
                assert asked == [sorted(scopes) for scopes in needed], (method, path)


@pytest.mark.parametrize("scope", Scope)
def test_a_token_gets_no_further_than_its_scope(tenant, scope):
    """Each operation that asks for another scope is refused before it looks at anything."""
    client = bearer(tenant, scope)
    refused = 0
    for route, by_method in NEEDED_SCOPES.items():
        path = re.sub(r"<int:\w+>", "0", path_of(route))
        path = re.sub(r"<\w+:\w+>", str(uuid.UUID(int=0)), path)
        for method, needed in by_method.items():
            response = getattr(client, method.lower())(path)
            is_enough = any(scopes <= {scope} for scopes in needed)
            is_refused = response.status_code == 403 and response.json()["code"] in REFUSALS
            assert is_refused is not is_enough, (route, method, response.status_code)
            refused += is_refused
    assert refused > 5


def path_of(route):
    (pattern,) = [pattern for pattern in urlpatterns if pattern.name == route]
    return f"/api/v1/{pattern.pattern}"


def test_a_reading_token_may_query(tenant):
    client = bearer(tenant, Scope.RUNS_READ)
    for path in ("runs", "servers", "facets", "compare", "me"):
        assert client.get(f"/api/v1/{path}").status_code == 200, path
    response = client.post("/api/v1/uploads", {"file": make_file()})
    assert response.status_code == 403
    assert "needs runs:write or agent" in response.json()["detail"]


@pytest.mark.parametrize("scope", [Scope.RUNS_WRITE, Scope.AGENT])
def test_a_token_that_uploads_follows_its_upload(tenant, scope):
    client = bearer(tenant, scope)
    sent = client.post("/api/v1/uploads", {"file": make_file()})
    assert sent.status_code == 202
    assert client.get(sent.json()["url"].removeprefix("http://127.0.0.1:8000")).status_code == 200


class TestApi:
    def make(self, client, **fields):
        body = {"name": "build", "scopes": ["runs:read"], **fields}
        return client.post("/api/v1/tokens", body, content_type="application/json")

    def test_a_token_with_the_scope_admin_makes_lists_and_revokes(self, tenant):
        admin = bearer(tenant, Scope.ADMIN, Scope.RUNS_READ)
        made = self.make(admin, networks=["192.0.2.1"])
        assert made.status_code == 201
        body = made.json()
        assert body["networks"] == ["192.0.2.1/32"]
        assert body["token"].startswith("ls_api_")
        listed = admin.get("/api/v1/tokens").json()
        assert body["id"] in [token["id"] for token in listed["tokens"]]
        assert "token" not in listed["tokens"][0]
        assert admin.delete(f"/api/v1/tokens/{body['id']}").status_code == 204
        assert Token.objects.get(pk=body["id"]).revoked_at is not None

    @pytest.mark.parametrize("is_leaked", [False, True])
    def test_what_a_token_made_ends_with_it(self, tenant, owner, is_leaked):
        first, clear = make_token(
            tenant.user, tenant.workspace, TokenRequest("x", [Scope.ADMIN, Scope.RUNS_READ])
        )
        clients = [Client(headers={"authorization": f"Bearer {clear}"})]
        for _ in range(2):
            made = self.make(clients[-1], scopes=["admin", "runs:read"]).json()["token"]
            clients.append(Client(headers={"authorization": f"Bearer {made}"}))
        other = bearer(tenant, Scope.RUNS_READ)
        if is_leaked:
            body = [{"token": clear}]
            owner.post("/api/v1/leaked-tokens", body, content_type="application/json")
        else:
            owner.delete(f"/api/v1/tokens/{first.pk}")
        asked = [client.get("/api/v1/runs").status_code for client in (*clients, other)]
        assert asked == [401, 401, 401, 200]

    def test_a_session_names_its_workspace(self, owner):
        assert self.make(owner).status_code == 400
        assert self.make(owner, workspace="lab").status_code == 201
        assert owner.get("/api/v1/tokens?workspace=lab").json()["tokens"][0]["author"] == "lab"

    def test_a_member_lists_and_makes_tokens_within_their_role(self, owner, tenant):
        Membership.objects.update(role=Role.MEMBER)
        assert owner.get("/api/v1/tokens?workspace=lab").status_code == 200
        assert self.make(owner, workspace="lab").status_code == 201
        refused = self.make(owner, workspace="lab", scopes=["admin"])
        assert refused.status_code == 400
        assert "you may give: runs:read, runs:write, agent" in refused.json()["detail"]
        # Of a token, all of this takes the scope admin.
        assert self.make(bearer(tenant, Scope.RUNS_READ)).status_code == 403
        # A member ends what they made.
        own = Token.objects.filter(user=tenant.user).first()
        assert owner.delete(f"/api/v1/tokens/{own.pk}").status_code == 204

    def test_pages(self, owner, tenant):
        for number in range(4):
            self.make(owner, workspace="lab", name=f"token {number}")
        seen, path = [], "/api/v1/tokens?workspace=lab&limit=2"
        while path:
            page = owner.get(path).json()
            seen += [token["name"] for token in page["tokens"]]
            path = page["next"]
        assert seen == ["token 3", "token 2", "token 1", "token 0", "test"]


class TestPage:
    def test_a_token_is_shown_once(self, owner):
        form = {"name": "nightly", "scope": ["runs:read", "runs:write"], "days": "30"}
        page = owner.post(PAGE, form).content.decode()
        (clear,) = re.findall(r"ls_api_\w+", page)
        assert clear not in owner.get(PAGE).content.decode()
        assert Client().get("/api/v1/runs", headers={"authorization": f"Bearer {clear}"}).json()

    def test_a_refused_form_stays_filled(self, owner):
        response = owner.post(PAGE, {"name": "nightly", "scope": "runs:read", "days": "x"})
        page = response.content.decode()
        assert response.status_code == 400
        assert "expected 1 to 3650, or nothing" in page
        assert 'value="nightly"' in page
        assert Token.objects.filter(name="nightly").count() == 0

    def test_a_viewer_makes_a_token_that_reads(self, owner):
        Membership.objects.update(role=Role.VIEWER)
        page = owner.get(PAGE).content.decode()
        assert "runs:read" in page
        assert 'value="admin"' not in page
        assert owner.post(PAGE, {"name": "x", "scope": "admin"}).status_code == 400
        assert owner.post(PAGE, {"name": "x", "scope": "runs:read"}).status_code == 200

    def test_a_revoked_and_a_published_token_say_so(self, owner, tenant):
        token = Token.objects.get()
        address = f"/w/lab/agents/{token.pk}/revoke"
        assert "Revoke token" in owner.get(address).content.decode()
        owner.post(address)
        assert "Revoked 20" in owner.get(PAGE).content.decode()
        assert owner.post(address).status_code == 404
