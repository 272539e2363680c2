"""What PostgreSQL refuses at COMMIT is answered as what it is, by every operation that writes."""

import pytest
from django.test import Client

from backend.accounts.tokens.token_making import TokenRequest, make_token
from backend.accounts.workspace.scopes import Scope
from backend.api.tests.test_examples import FOR_PEOPLE, asked_requests, send
from backend.testing.refused_commits import FAULTS, RefusedCommits


@pytest.fixture
def api(scene):
    asked = TokenRequest("Nightly benchmarks", list(Scope))
    _, clear = make_token(scene.own.user, scene.own.workspace, asked)
    headers = {"authorization": f"Bearer {clear}"}
    return Client(raise_request_exception=False, headers=headers)


@pytest.fixture
def owner(scene):
    client = Client(raise_request_exception=False)
    client.force_login(scene.own.user)
    return client


@pytest.mark.parametrize("sqlstate", FAULTS)
def test_every_operation_that_writes(api, owner, scene, sqlstate, monkeypatch):
    expected, committing = FAULTS[sqlstate].answer, {}
    asked = asked_requests(scene)
    for operation, (method, path, body) in asked.items():
        if method.lower() == "get":
            continue
        client = owner if operation in FOR_PEOPLE else api
        with monkeypatch.context() as patched:
            refused = RefusedCommits(patched, sqlstate)
            answer = send(client, method, path, body)
        if not refused.count:
            # It writes one row, or none.
            assert answer.status_code < 300, (operation, answer.content)
            continue
        told = (answer.status_code, answer.json().get("title"), answer.get("Retry-After"))
        committing[operation] = told
    wait = None if expected.retry_after_s is None else str(expected.retry_after_s)
    wrong = {
        operation: told
        for operation, told in committing.items()
        if told != (expected.status, expected.title, wait)
    }
    assert wrong == {}
    assert len(committing) > 25
