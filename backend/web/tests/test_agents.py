import hashlib
import uuid

import pytest
from django.test import Client
from django.utils import timezone

from backend.accounts.models import Membership, Role, Token, TokenKind, User
from backend.accounts.tokens import tokens
from backend.fleet.heartbeats import Heartbeat, record_heartbeat
from backend.web.documents import agent_files

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner(scene):
    return signed_in(scene.own.user)


def signed_in(user):
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def files(settings, tmp_path):
    settings.AGENT_FILES = tmp_path
    (tmp_path / "loadsheet.pyz").write_bytes(b"#!/usr/bin/env python3\nPK")
    (tmp_path / "loadsheet_agent-0.1.0-py3-none-any.whl").write_bytes(b"PK wheel")
    return tmp_path


def token_of(scene):
    return Token.objects.get(workspace=scene.own.workspace)


def hear_agent(scene, heartbeat=None):
    record_heartbeat(
        token_of(scene),
        host_name="bench-7",
        program="loadsheet-agent",
        version="0.1.0",
        heartbeat=heartbeat,
    )


def test_an_agent_is_shown_with_its_host_and_its_running_run(scene, owner):
    run = uuid.uuid4()
    hear_agent(scene, Heartbeat(run=run, state="running", trials_done=1, silent_s=60))
    page = owner.get("/w/own-lab/agents").content.decode()
    for part in ("bench-7", "0.1.0", f"/r/{run}", "running", "running now"):
        assert part in page


def test_a_token_that_no_agent_used_is_listed_as_a_token_alone(scene, owner):
    token = token_of(scene)
    Token.objects.filter(pk=token.pk).update(used_at=timezone.now(), name="ci script")
    assert "No agents yet" in owner.get("/w/own-lab/agents").content.decode()
    assert "ci script" in owner.get("/w/own-lab/tokens").content.decode()
    revoked = owner.post(f"/w/own-lab/agents/{token.pk}/revoke")
    assert revoked["Location"] == "/w/own-lab/tokens"


def test_a_token_is_made_and_shown_this_once_beside_the_commands(scene, owner, files):
    page = owner.post("/w/own-lab/agents", {"name": " bench   client "}).content.decode()
    made = Token.objects.filter(workspace=scene.own.workspace).exclude(name="test").get()
    assert made.name == "bench client"
    clear = page.split('id="new-token"><code>')[1].split("<")[0]
    assert tokens.find(clear, TokenKind.AGENT).pk == made.pk
    assert "loadsheet.pyz login http://" in page
    assert clear not in owner.get("/w/own-lab/agents").content.decode()


def test_the_commands_name_the_file_that_is_offered_and_its_checksum(owner, files):
    page = owner.get("/w/own-lab/agents").content.decode()
    served = b"".join(Client().get("/loadsheet.pyz").streaming_content)
    assert served == (files / "loadsheet.pyz").read_bytes()
    assert hashlib.sha256(served).hexdigest() in page
    said = Client().get("/loadsheet.pyz.sha256").content.decode()
    assert said == f"{hashlib.sha256(served).hexdigest()}  loadsheet.pyz\n"
    assert "/agent/loadsheet_agent-0.1.0-py3-none-any.whl" in page


def test_a_file_that_is_there_already_is_not_sent_again(files):
    etag = Client().get("/loadsheet.pyz")["ETag"]
    assert Client().get("/loadsheet.pyz", headers={"if-none-match": etag}).status_code == 304
    (files / "loadsheet.pyz").write_bytes(b"newer")
    assert Client().get("/loadsheet.pyz", headers={"if-none-match": etag}).status_code == 200


@pytest.mark.parametrize("path", ["/loadsheet.pyz", "/loadsheet.pyz.sha256", "/agent/x.whl"])
def test_nothing_is_offered_where_nothing_was_built(owner, settings, tmp_path, path):
    settings.AGENT_FILES = tmp_path
    assert Client().get(path).status_code == 404
    assert "agents/build_pyz.py" in owner.get("/w/own-lab/agents").content.decode()


def test_only_the_wheel_itself_is_served_by_its_name(files):
    (files / "secret.txt").write_text("secret")
    for name in ("secret.txt", "loadsheet.pyz", "..%2Fagents.html"):
        assert Client().get(f"/agent/{name}").status_code == 404
    found = agent_files.offered_wheel()
    assert Client().get(f"/agent/{found.name}").status_code == 200


def test_revoking_asks_first_and_names_the_hosts(scene, owner):
    hear_agent(scene)
    token = token_of(scene)
    path = f"/w/own-lab/agents/{token.pk}/revoke"
    assert "bench-7" in owner.get(path).content.decode()
    token.refresh_from_db()
    assert token.revoked_at is None
    assert owner.post(path).status_code == 302
    assert Client(headers=scene.own.headers).get("/api/v1/me").status_code == 401
    assert "bench-7" not in owner.get("/w/own-lab/agents").content.decode()
    assert owner.post(path).status_code == 404


def test_a_member_revokes_their_own_tokens_alone(scene):
    member = User.objects.create_user(username="member", password=None)
    Membership.objects.create(user=member, workspace=scene.own.workspace, role=Role.MEMBER)
    tokens.issue(
        TokenKind.AGENT,
        scene.own.workspace,
        user=member,
        name="mine",
        lifetime=tokens.AGENT_LIFETIME,
    )
    client = signed_in(member)
    theirs = Token.objects.get(
        user=scene.own.user, kind=TokenKind.AGENT, workspace=scene.own.workspace
    )
    mine = Token.objects.get(name="mine")
    assert client.post(f"/w/own-lab/agents/{theirs.pk}/revoke").status_code == 404
    assert f"{theirs.pk}/revoke" not in client.get("/w/own-lab/agents").content.decode()
    assert client.post(f"/w/own-lab/agents/{mine.pk}/revoke").status_code == 302


def test_a_viewer_sees_agents_and_is_offered_no_change(scene):
    hear_agent(scene)
    page = signed_in(scene.viewer).get("/w/own-lab/agents").content.decode()
    assert "bench-7" in page
    assert "Create token" not in page
    assert "/revoke" not in page
    assert signed_in(scene.viewer).post("/w/own-lab/agents").status_code == 404
