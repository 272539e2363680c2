"""The short way for small uploads answers as the long way does, or leaves the request to it."""

import io
import json
from datetime import timedelta

import pytest
from django.core.handlers.wsgi import WSGIHandler
from django.db import OperationalError
from django.utils import timezone

from backend.accounts import tokens
from backend.accounts.models import Token
from backend.config import quick_uploads
from backend.config.quick_uploads import QuickUploads
from backend.ingest.models import Artefact, Upload
from backend.ingest.quota import NEAR_UPLOADS
from backend.ingest.storage import open_artefact
from backend.ingest.worker import drain
from backend.testing.transactions import connection_kept_open
from backend.testing.uploads import WRK, make_tenant

pytestmark = pytest.mark.django_db
PART = 'Content-Disposition: form-data; name="file"; filename="ab.txt"'


class Site:
    """The application with the short way, and how often the long way was gone."""

    def __init__(self):
        self.long_ways = 0
        self._django = WSGIHandler()
        self._application = QuickUploads(self._count)

    def _count(self, environ, start_response):
        self.long_ways += 1
        return self._django(environ, start_response)

    def post(self, token, text=WRK, *, head=PART, more="", **changed):
        parts = f"--cut\r\n{head}\r\n\r\n{text}\r\n{more}--cut--\r\n".encode()
        environ = {
            "REQUEST_METHOD": "POST",
            "PATH_INFO": "/api/v1/uploads",
            "QUERY_STRING": "",
            "SERVER_NAME": "127.0.0.1",
            "SERVER_PORT": "8000",
            "HTTP_HOST": "127.0.0.1:8000",
            "REMOTE_ADDR": "127.0.0.1",
            "HTTP_AUTHORIZATION": f"Bearer {token}",
            "CONTENT_TYPE": "multipart/form-data; boundary=cut",
            "CONTENT_LENGTH": str(len(parts)),
            "wsgi.input": io.BytesIO(parts),
            "wsgi.url_scheme": "http",
            **changed,
        }
        started = []
        body = b"".join(self._application(environ, lambda *given: started.append(given)))
        status, headers = started[0][:2]
        return int(status.split()[0]), dict(headers), json.loads(body)


@pytest.fixture
def site(monkeypatch):
    """Without what ends connections between two requests: a test has one, in a transaction."""
    monkeypatch.setattr(quick_uploads, "hint_soon", lambda: None)
    monkeypatch.setattr(QuickUploads, "_try_connection", lambda _: None)
    with connection_kept_open():
        yield Site()


@pytest.fixture
def tenant():
    return make_tenant()


@pytest.fixture
def learnt(site, tenant):
    """A site that has seen the sender."""
    assert site.post(tenant.token)[0] == 202
    site.long_ways = 0
    return site


def test_both_ways_answer_alike(site, tenant):
    long_way, short_way = site.post(tenant.token), site.post(tenant.token)
    assert site.long_ways == 1
    assert short_way[0] == long_way[0] == 202
    changing = {"Content-Length", "Server-Timing", "X-Request-Id"}
    assert {k: v for k, v in short_way[1].items() if k not in changing} == {
        k: v for k, v in long_way[1].items() if k not in changing
    }
    assert changing <= short_way[1].keys()
    assert short_way[1]["X-Request-Id"] != long_way[1]["X-Request-Id"]
    bodies = [
        {name: str(value).replace(body["id"], "ID") for name, value in body.items()}
        for _, _, body in (long_way, short_way)
    ]
    times = [body.pop("received_at") for body in bodies]
    assert bodies[0] == bodies[1]
    assert len(times[0]) == len(times[1])


def test_both_ways_store_the_same(learnt, tenant):
    learnt.post(tenant.token)
    assert learnt.long_ways == 0
    hashes = Upload.objects.values_list("content_sha256", "token_id", "author_id", "is_small")
    assert len(set(hashes)) == 1
    assert len(set(Artefact.objects.values_list("name", "sha256", "size_bytes"))) == 1
    drain()
    assert set(Upload.objects.values_list("state", flat=True)) == {"parsed"}


def test_secrets_are_taken_out(learnt, tenant):
    secret = "Authorization: Bearer abcdefgh12345678"
    _, _, body = learnt.post(tenant.token, f"{WRK}\n{secret}\n")
    assert learnt.long_ways == 0
    artefact = Artefact.objects.get(upload=body["id"])
    with open_artefact(artefact.sha256) as stored:
        assert b"abcdefgh12345678" not in stored.read()


@pytest.mark.parametrize(
    "request_",
    [
        {"head": PART.replace("ab.txt", "a b.txt")},
        {"head": PART + "\r\nContent-Transfer-Encoding: base64"},
        {"more": '--cut\r\nContent-Disposition: form-data; name="tool"\r\n\r\nwrk\r\n'},
        {"QUERY_STRING": "workspace=lab"},
        {"text": WRK + "x" * (17 << 10)},
        {"CONTENT_TYPE": 'multipart/form-data; boundary="cut"'},
    ],
)
def test_what_is_more_than_one_small_file_goes_the_long_way(learnt, tenant, request_):
    learnt.post(tenant.token, **request_)
    assert learnt.long_ways == 1


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        ({"text": ""}, 400),
        ({"HTTP_IDEMPOTENCY_KEY": "a-key"}, 400),
        ({"HTTP_AUTHORIZATION": "Bearer ls_agent_wrong"}, 401),
        ({"CONTENT_TYPE": "text/plain"}, 415),
    ],
)
def test_every_refusal_is_that_of_the_long_way(learnt, tenant, request_, status):
    assert learnt.post(tenant.token, **request_)[0] == status
    assert Upload.objects.count() == 1


def test_a_revoked_token_is_refused_at_once(learnt, tenant):
    tokens.revoke(Token.objects.get())
    status, _, body = learnt.post(tenant.token)
    assert (status, learnt.long_ways) == (401, 1)
    assert "revoked" in body["detail"]
    assert Upload.objects.count() == 1


@pytest.mark.parametrize(
    ("changed", "status", "long_ways"),
    [
        ({"expires_at": None}, 202, 0),
        ({"scopes": ["agent"]}, 202, 0),
        ({"scopes": ["runs:read"]}, 403, 1),
        ({"expires_at": timezone.now() - timedelta(seconds=1)}, 401, 1),
        ({"networks": ["127.0.0.0/8"]}, 202, 1),
        ({"networks": ["10.0.0.0/8"]}, 401, 1),
    ],
)
def test_what_a_token_may_is_asked_at_each_upload(learnt, tenant, changed, status, long_ways):
    Token.objects.update(**changed)
    assert learnt.post(tenant.token)[0] == status
    assert learnt.long_ways == long_ways


def test_a_full_workspace_is_refused(learnt, tenant, settings):
    settings.WORKSPACE_MAX_BYTES = 10
    assert learnt.post(tenant.token)[0] == 507


def test_the_uploads_of_a_day_are_limited_on_the_short_way_too(learnt, tenant, settings):
    settings.UPLOADS_PER_DAY = NEAR_UPLOADS + 1
    assert learnt.post(tenant.token)[0] == 202
    assert learnt.long_ways == 0
    settings.UPLOADS_PER_DAY = 3
    # Near the limit, uploads go the long way, which takes them one after the other.
    assert [learnt.post(tenant.token)[0] for _ in range(2)] == [202, 429]
    assert learnt.long_ways == 2


def test_too_many_uploads_are_refused(learnt, tenant, settings):
    settings.UPLOADS_PER_MINUTE = 3
    assert [learnt.post(tenant.token)[0] for _ in range(4)] == [202, 202, 202, 429]


def test_an_upload_whose_answer_from_the_database_was_lost_is_stored_once(
    learnt, tenant, monkeypatch
):
    insert = quick_uploads.insert_small

    def lose_answer(upload):
        assert insert(upload)
        raise OperationalError("the connection was lost")

    monkeypatch.setattr(quick_uploads, "insert_small", lose_answer)
    monkeypatch.setattr(quick_uploads.connection, "close", lambda: None)
    status, _, body = learnt.post(tenant.token)
    assert (status, learnt.long_ways) == (200, 1)
    assert Upload.objects.count() == 2
    assert Upload.objects.filter(pk=body["id"]).exists()
