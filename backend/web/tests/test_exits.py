"""A bulk exit gives nothing that the same token or visitor could not read singly."""

import io
import json
import zipfile
from itertools import chain, combinations

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from backend.accounts.models import Role
from backend.accounts.tokens.token_making import TokenRequest, make_token
from backend.accounts.workspace.scopes import Scope, scopes_of_role
from backend.api.protocol.scopes import NEEDED_SCOPES, needed_scopes
from backend.api.tests.exit_table import (
    API_EXITS,
    NO_RESULTS,
    PAGE_EXITS,
    PAGE_SINGLE_READS,
    PAGES_WITHOUT_RESULTS,
    SINGLE_READS,
)
from backend.sharing.models import Visibility
from backend.storage import storage
from backend.testing.scenes import make_result_set, make_scene
from backend.testing.transactions import kept_for_a_module
from backend.transfer.exporting import request_export, write_due
from backend.web.tests.access_rows import ROWS
from backend.web.tests.access_statuses import VISITORS
from backend.web.tests.test_access import FOREIGN_ROUTES, body_of, ids_of

SCOPE_SETS = [
    frozenset(chosen)
    for chosen in chain.from_iterable(combinations(Scope, size) for size in range(len(Scope) + 1))
]


def page_routes(patterns=None, prefix=""):
    """Every route outside the API that can be read: its name."""
    for pattern in get_resolver().url_patterns if patterns is None else patterns:
        path = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from page_routes(pattern.url_patterns, path)
        elif isinstance(pattern, URLPattern) and not path.startswith((*FOREIGN_ROUTES, "api/")):
            yield pattern.name


def test_every_operation_that_reads_is_in_the_table():
    read = {route for route, by_method in NEEDED_SCOPES.items() if "GET" in by_method}
    exits = {route for route, method in API_EXITS if method == "GET"}
    groups = [exits, SINGLE_READS, NO_RESULTS - {"api-docs"}]
    assert set().union(*groups) == read
    assert sum(map(len, groups)) == len(read), "a route is in two groups"
    assert all(method in NEEDED_SCOPES[route] for route, method in API_EXITS)
    assert {part for parts in API_EXITS.values() for part in parts} <= SINGLE_READS


def test_every_page_that_reads_is_in_the_table():
    read = {name for name in page_routes() if ROWS[name].method == "get"}
    groups = [set(PAGE_EXITS), PAGE_SINGLE_READS, PAGES_WITHOUT_RESULTS & read]
    assert read == set().union(*groups)
    assert sum(map(len, groups)) == len(read), "a page is in two groups"
    assert not {"api-docs"} & read


def is_enough(route, method, scopes):
    return any(needed <= scopes for needed in needed_scopes(route, method))


@pytest.mark.parametrize("exit_", API_EXITS, ids="-".join)
def test_a_token_gets_by_an_exit_only_what_it_may_read_singly(exit_):
    for scopes in SCOPE_SETS:
        if is_enough(*exit_, scopes):
            lacking = [part for part in API_EXITS[exit_] if not is_enough(part, "GET", scopes)]
            assert not lacking, f"{sorted(scopes)} gets {exit_} and may not read {lacking}"


@pytest.mark.parametrize("name", PAGE_EXITS)
def test_a_visitor_gets_by_a_page_only_what_they_may_read_singly(name):
    """By the matrix of test_access.py, which asks each of these routes as each visitor."""
    for visitor in VISITORS:
        if ROWS[name].status[visitor] < 300:
            for part in PAGE_EXITS[name]:
                assert ROWS[part].status[visitor] == 200, (name, part, visitor)


@pytest.mark.parametrize("role", Role)
def test_a_role_that_administers_also_reads(role):
    """Pages and sessions judge by roles, so no role may have admin without reading."""
    scopes = set(scopes_of_role(role))
    assert Scope.RUNS_READ in scopes


@pytest.fixture(scope="module")
def world(django_db_setup, django_db_blocker, tmp_path_factory):
    folder = tmp_path_factory.mktemp("artefacts")
    with django_db_blocker.unblock(), kept_for_a_module(folder):
        scene = make_scene()
        ids = ids_of(scene)
        shown = make_result_set(scene.own.workspace, Visibility.PRIVATE)
        owner = Client()
        owner.force_login(scene.own.user)
        # Events of each kind of act on results, with names that begin with "secret".
        owner.patch(
            f"/api/v1/result-sets/{shown.pk}",
            {"notes": "secret-notes"},
            content_type="application/json",
        )
        owner.delete(f"/api/v1/views/{ids['view']}")
        owner.delete(f"/api/v1/alert-rules/{ids['rule']}")
        merge = {"workspace": "own-lab", "kind": "server", "source": "secret-server"}
        made = owner.post(
            "/api/v1/merges",
            {**merge, "target": "other-server"},
            content_type="application/json",
        )
        assert made.status_code == 201, made.content
        yield scene, ids, folder


@pytest.fixture(autouse=True)
def _artefacts_in_a_folder_of_the_test(settings, request):
    if "world" in request.fixturenames:
        settings.DATA_DIR = request.getfixturevalue("world")[2]
        storage.cache_clear()
        yield
        storage.cache_clear()
    else:
        yield


# Names that are in the results of the scene.
RESULTS = ("secret-server", "other-server", "secret-title", "secret-finding", "secret-view")
RESULTS += ("secret-rule", "secret-alert", "secret-archive", "bench-1", "old-name", "new-name")


@pytest.mark.django_db
@pytest.mark.parametrize(
    "scopes",
    [each for each in SCOPE_SETS if each and Scope.RUNS_READ not in each],
    ids=lambda scopes: " ".join(sorted(scopes)),
)
def test_a_token_that_reads_no_runs_is_told_nothing_of_results(world, scopes):
    scene, ids, _ = world
    _, clear = make_token(scene.own.user, scene.own.workspace, TokenRequest("x", list(scopes)))
    client = Client(headers={"authorization": f"Bearer {clear}"})
    answered = 0
    for name, row in ROWS.items():
        path = row.path.format(**ids)
        # The document has examples of a scene like this one.
        if not path.startswith("/api/") or name in ("openapi", "api-docs"):
            continue
        answer = client.get(path)
        body = body_of(answer).decode(errors="replace")
        assert not [each for each in RESULTS if each in body], (name, body[:2000])
        answered += answer.status_code == 200
    assert answered >= 4


@pytest.mark.django_db
def test_an_owner_reads_in_the_audit_log_what_a_token_without_results_does_not(world):
    scene, _, _ = world
    owner = Client()
    owner.force_login(scene.own.user)
    listed = owner.get("/api/v1/audit?workspace=own-lab").content
    assert all(each in listed for each in (b"secret-title", b"secret-rule", b"secret-server"))
    _, clear = make_token(
        scene.own.user, scene.own.workspace, TokenRequest("x", [Scope.ADMIN, Scope.RUNS_READ])
    )
    reader = Client(headers={"authorization": f"Bearer {clear}"})
    assert b"secret-title" in reader.get("/api/v1/audit").content


@pytest.mark.django_db
def test_an_archive_takes_the_scope_that_reads(world):
    """From the asking to the bytes: each step is refused, and with both scopes each is allowed."""
    scene, _, _ = world
    export = request_export(scene.own.workspace, author=scene.own.user)
    write_due()
    for scopes, is_allowed in (([Scope.ADMIN], False), ([Scope.ADMIN, Scope.RUNS_READ], True)):
        _, clear = make_token(scene.own.user, scene.own.workspace, TokenRequest("x", scopes))
        client = Client(headers={"authorization": f"Bearer {clear}"})
        got = client.get(f"/api/v1/exports/{export.pk}/file")
        listed = client.get("/api/v1/exports")
        asked = client.post("/api/v1/exports", json.dumps({}), content_type="application/json")
        statuses = [got.status_code, listed.status_code, asked.status_code]
        assert statuses == ([200, 200, 202] if is_allowed else [403, 403, 403])
        if is_allowed:
            archive = zipfile.ZipFile(io.BytesIO(b"".join(got.streaming_content)))
            assert "rows/run.jsonl" in archive.namelist()


@pytest.mark.django_db
def test_a_channel_takes_the_scope_that_reads(world):
    scene, _, _ = world
    body = {"kind": "webhook", "name": "out", "address": "https://hooks.example/"}
    body |= {"topics": ["alerts", "runs"]}
    for scopes, status in (([Scope.ADMIN], 403), ([Scope.ADMIN, Scope.RUNS_READ], 201)):
        _, clear = make_token(scene.own.user, scene.own.workspace, TokenRequest("x", scopes))
        client = Client(headers={"authorization": f"Bearer {clear}"})
        made = client.post("/api/v1/channels", body, content_type="application/json")
        assert made.status_code == status, made.content
