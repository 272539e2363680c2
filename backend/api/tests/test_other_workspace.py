"""A token's request that names another workspace is refused, wherever it names it."""

import json
import re
import uuid

import pytest
from django.test import Client

from backend.accounts.tokens.token_making import TokenRequest, make_token
from backend.accounts.workspace.scopes import Scope
from backend.accounts.workspace.workspaces import rename
from backend.api.protocol.scopes import NEEDED_SCOPES, NO_TOKEN
from backend.api.tests.test_tokens import path_of
from backend.ingest.models import Upload
from backend.runs.models import Run
from backend.sharing.models import ResultSet, SavedView
from backend.testing.openapi import list_operations
from backend.testing.scenes import make_saved_view, make_scene
from backend.testing.uploads import make_file

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("own_storage")]
# They may ask a public workspace by its name; another one is refused by the question.
ASK_PUBLIC = {"compare", "compare-csv", "facets"}
OPERATIONS = [
    (route, method)
    for route, by_method in NEEDED_SCOPES.items()
    for method, needed in by_method.items()
    # The document, and reports of published tokens, ask nobody who they are.
    if needed is not NO_TOKEN and route not in ("openapi", "leaked-token-list")
]


@pytest.fixture
def scene():
    return make_scene()


@pytest.fixture
def client(scene):
    _, clear = make_token(scene.own.user, scene.own.workspace, TokenRequest("all", list(Scope)))
    return Client(headers={"authorization": f"Bearer {clear}"})


def address_of(route):
    path = re.sub(r"<slug:\w+>", "own-lab", path_of(route))
    path = re.sub(r"<int:\w+>", "0", path)
    path = re.sub(r"<str:\w+>", "0" * 64, path)
    return re.sub(r"<uuid:\w+>", str(uuid.UUID(int=0)), path)


def is_refused(answer):
    if answer.status_code != 400:
        return False
    told = answer.json()
    return told["code"] == "other-workspace" and "foreign-lab" in told["detail"]


def test_in_the_query_of_every_operation(client):
    for route, method in OPERATIONS:
        path = f"{address_of(route)}?workspace=foreign-lab"
        answer = getattr(client, method.lower())(path)
        if route in ASK_PUBLIC:
            assert answer.status_code in (400, 404), route
        else:
            assert is_refused(answer), (route, method, answer.status_code)


def test_what_is_refused_does_not_depend_on_whether_it_exists(client):
    details = [
        client.get(f"/api/v1/runs?workspace={slug}").json()["detail"].replace(slug, "…")
        for slug in ("foreign-lab", "none-such")
    ]
    assert (
        details[0]
        == details[1]
        == ("workspace: got '…', expected 'own-lab', the workspace of this token.")
    )


def bodies(scene, view):
    """The method and address of every operation that takes JSON, with rows that exist."""
    rows = {"run_id": scene.run.pk, "view_id": view.pk}
    for method, path, described in list_operations():
        content = described.get("requestBody", {}).get("content", {})
        if "application/json" in content and "token" in str(described.get("security")):
            yield (
                method,
                path,
                re.sub(r"{(\w+)}", lambda name: str(rows.get(name[1], uuid.UUID(int=0))), path),
            )


def test_in_the_body_of_every_operation(client, scene):
    body = json.dumps({"workspace": "foreign-lab"})
    refused = set()
    for method, path, address in bodies(scene, make_saved_view(scene.own.workspace)):
        answer = getattr(client, method)(address, body, content_type="application/json")
        assert 400 <= answer.status_code < 500, (method, path)
        if is_refused(answer):
            refused.add((method, path))
        else:
            # The row was looked for first, or the body is a list.
            assert "{" in path or path.endswith("/leaked-tokens"), (method, path, answer.content)
    assert len(refused) > 12
    assert ("post", "/api/v1/heartbeat") in refused
    assert ("post", "/api/v1/sessions") in refused
    assert ("post", "/api/v1/runs/{run_id}/observations") in refused


@pytest.mark.parametrize("path", ["/api/v1/uploads", "/api/v1/uploads/preview"])
@pytest.mark.parametrize("given", ["foreign-lab", "none-such", ""])
def test_in_the_form_of_an_upload(client, path, given):
    before = Upload.objects.count()
    answer = client.post(path, {"file": make_file(), "workspace": given})
    assert (answer.status_code, answer.json()["code"]) == (400, "other-workspace")
    assert f"got {given!r}, expected 'own-lab'" in answer.json()["detail"]
    assert Upload.objects.count() == before


def test_in_the_address(client):
    for route, method in OPERATIONS:
        if "<slug:" in path_of(route):
            path = address_of(route).replace("own-lab", "foreign-lab")
            answer = getattr(client, method.lower())(path)
            assert answer.status_code == 404, (route, method)


@pytest.mark.parametrize("visitor", ["token", "person"])
def test_in_a_query_to_keep(client, scene, visitor):
    if visitor == "person":
        client = Client()
        client.force_login(scene.own.user)
    view = make_saved_view(scene.own.workspace)
    asked = {"query": "metric=p99&workspace=foreign-lab", "workspace": "own-lab"}
    for method, path, body in (
        ("post", "/api/v1/result-sets", asked),
        ("post", "/api/v1/views", {**asked, "name": "A name"}),
        ("patch", f"/api/v1/views/{view.pk}", {"query": asked["query"]}),
    ):
        answer = getattr(client, method)(path, body, content_type="application/json")
        assert (answer.status_code, answer.json()["code"]) == (400, "other-workspace"), path
    assert not ResultSet.objects.exists()
    assert SavedView.objects.get().query == view.query


def test_the_own_workspace_may_be_named_also_as_it_was_called_before(client, scene):
    rename(scene.own.workspace, name="Our lab", slug="our-lab")
    for slug in ("our-lab", "own-lab"):
        assert client.get(f"/api/v1/runs?workspace={slug}").status_code == 200
        file = make_file(f"{slug}\n".encode())
        answer = client.post("/api/v1/uploads", {"file": file, "workspace": slug})
        assert answer.status_code == 202, answer.content
    assert Run.objects.filter(workspace=scene.own.workspace).exists()
