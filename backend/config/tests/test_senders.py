"""Whom a web process reads a large body of, and what the others are answered."""

import pytest
from django.conf import settings
from django.contrib.auth import SESSION_KEY

from backend.accounts import token_format
from backend.accounts.models import Token
from backend.accounts.tokens import revoke
from backend.config.body_gate import REFUSAL_KEY, BodyRefusal, largest_body
from backend.config.senders import is_known
from backend.ingest.limits import ANONYMOUS_BYTES
from backend.testing.uploads import make_tenant

pytestmark = pytest.mark.django_db


@pytest.fixture
def tenant():
    return make_tenant("own")


def bearer(token):
    return {"AUTHORIZATION": f"Bearer {token}"}


@pytest.fixture
def session(client, tenant):
    client.force_login(tenant.user)
    return client.session


def cookie(session_key):
    return {"COOKIE": f"theme=dark; {settings.SESSION_COOKIE_NAME}={session_key}"}


class TestTokens:
    def test_of_agents_are_known(self, tenant):
        assert is_known(bearer(tenant.token))

    def test_that_are_made_up_are_not(self, tenant):
        made_up = token_format.new_token("agent")

        for given in ("x", "", tenant.token[:-1], made_up, "ls_agent_\xff"):
            assert not is_known(bearer(given)), given
        assert not is_known({"AUTHORIZATION": f"Token {tenant.token}"})

    def test_that_were_revoked_are_not(self, tenant):
        revoke(Token.objects.get())

        assert not is_known(bearer(tenant.token))

    def test_hide_behind_no_session(self, session):
        assert not is_known(cookie(session.session_key) | bearer("x"))


class TestSessions:
    def test_of_people_are_known(self, session):
        assert is_known(cookie(session.session_key))

    def test_that_are_made_up_are_not(self, session):
        for given in ("x", "", "a" * 32, "\xff" * 32):
            assert not is_known(cookie(given)), given
        assert not is_known({})

    def test_that_were_ended_are_not(self, client, session):
        key = session.session_key
        client.logout()

        assert not is_known(cookie(key))

    def test_without_a_person_are_not(self, session):
        del session[SESSION_KEY]
        session.save()

        assert not is_known(cookie(session.session_key))

    def test_of_blocked_people_are_not(self, tenant, session):
        tenant.user.is_active = False
        tenant.user.save()

        assert not is_known(cookie(session.session_key))


class TestAnswers:
    @pytest.mark.parametrize(
        ("refusal", "status"),
        [(BodyRefusal.AWAY, 503), (BodyRefusal.BUSY, 503), (BodyRefusal.FULL, 507)],
    )
    def test_say_when_to_come_again(self, client, tenant, refusal, status):
        for path in ("/api/v1/uploads", "/accounts/login/"):
            response = client.post(path, headers=tenant.headers, **{REFUSAL_KEY: refusal})

            assert response.status_code == status, path
            assert int(response["Retry-After"]) > 0
        assert client.get("/livez").status_code == 200

    @pytest.mark.parametrize(
        ("refusal", "limit", "hint"),
        [
            (BodyRefusal.ANONYMOUS, ANONYMOUS_BYTES, "Sign in"),
            (BodyRefusal.LARGE, largest_body(), "Compress the files"),
        ],
    )
    def test_name_the_limit_of_a_body_in_chunks(self, client, refusal, limit, hint):
        response = client.post("/api/v1/uploads", **{REFUSAL_KEY: refusal})
        page = client.post("/accounts/login/", **{REFUSAL_KEY: refusal})

        assert (response.status_code, page.status_code) == (413, 413)
        problem = response.json()
        assert f"more than {limit} bytes; at most {limit} are accepted" in problem["detail"]
        assert hint in problem["hint"]
        assert f"at most {limit}".encode() in page.content

    def test_name_the_credentials_that_are_not_valid(self, client):
        headers = bearer("x")
        response = client.post(
            "/api/v1/uploads",
            headers={"Authorization": headers["AUTHORIZATION"]},
            **{REFUSAL_KEY: BodyRefusal.UNKNOWN, "CONTENT_LENGTH": str(100 << 20)},
        )

        assert response.status_code == 401
        assert "not a Loadsheet token" in response.json()["detail"]
