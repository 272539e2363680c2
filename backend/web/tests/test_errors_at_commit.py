"""Forms whose transaction the database refuses at COMMIT: a page that says so, never a 500."""

import pytest
from django.test import Client

from backend.testing.refused_commits import FAULTS, RefusedCommits
from backend.testing.scenes import make_alerts, make_saved_view

# Below the workspace, each with what its form sends.
FORMS = {
    "rename": {"name": "Another name", "slug": "another-address"},
    "delete": {"confirm": "own-lab"},
    "members/{viewer}/remove": {},
    "tokens": {"name": "Nightly", "scope": "runs:read", "days": "90"},
    "alerts/rules/{rule}/delete": {},
    "channels/{channel}/delete": {},
    "views/{view}/delete": {},
}


@pytest.fixture
def owner(scene):
    client = Client(raise_request_exception=False)
    client.force_login(scene.own.user)
    return client


@pytest.fixture
def ids(scene):
    view = make_saved_view(scene.own.workspace).pk
    return {**make_alerts(scene.own, scene.run), "view": view, "viewer": scene.viewer.pk}


@pytest.mark.parametrize("sqlstate", FAULTS)
def test_a_form(owner, ids, sqlstate, monkeypatch):
    expected, told = FAULTS[sqlstate].answer, {}
    for path, fields in FORMS.items():
        with monkeypatch.context() as patched:
            refused = RefusedCommits(patched, sqlstate)
            page = owner.post(f"/w/own-lab/{path.format(**ids)}", fields)
        told[path] = (page.status_code, refused.count, expected.sentence in page.content.decode())
    assert told == dict.fromkeys(FORMS, (expected.status, 1, True))
