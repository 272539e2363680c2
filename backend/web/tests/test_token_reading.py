"""What the holder of a token can fetch of its own results."""

import pytest
from django.test import Client

from backend.accounts.models import Token
from backend.testing.uploads import WRK, make_file

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(scene):
    return Client(headers=scene.own.headers)


def test_a_token_that_may_only_write_sees_its_own_uploads(client, scene):
    Token.objects.filter(workspace=scene.own.workspace).update(scopes=["runs:write"])
    sent = client.post("/api/v1/uploads", {"file": make_file()}).json()["id"]
    assert client.get(f"/api/v1/uploads/{sent}").status_code == 200
    assert client.get(f"/api/v1/uploads/{scene.upload.pk}").status_code == 404


def test_a_run_names_raw_files_that_its_token_can_fetch(client, scene):
    run = client.get(f"/api/v1/runs/{scene.run.pk}").json()
    answer = client.get(run["trials"][0]["artefacts"][0]["raw_url"])
    assert b"".join(answer.streaming_content) == WRK.encode()
    assert answer["Content-Disposition"].startswith("attachment")
    assert "sandbox" in answer["Content-Security-Policy"]
