"""Every upload takes the same way: through the application as the web server calls it, what one
refuses is refused for the next as well, whoever sent before.
"""

import io
import json

import pytest

from backend.accounts.models import Token
from backend.accounts.tokens import tokens
from backend.config.serving.wsgi import application
from backend.ingest.models import Artefact, SmallContent, Upload
from backend.ingest.queue.worker import drain
from backend.testing.transactions import connection_kept_open
from backend.testing.uploads import WRK, make_tenant

pytestmark = pytest.mark.django_db
PART = 'Content-Disposition: form-data; name="file"; filename="ab.txt"'


def post(token, text=WRK, *, head=PART, **changed):
    """Status and problem of a small upload with a token."""
    body = f"--cut\r\n{head}\r\n\r\n{text}\r\n--cut--\r\n".encode()
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
        "CONTENT_LENGTH": str(len(body)),
        "wsgi.input": io.BytesIO(body),
        "wsgi.url_scheme": "http",
        **changed,
    }
    started = []
    answer = b"".join(application(environ, lambda *given: started.append(given)))
    return int(started[0][0].split()[0]), json.loads(answer)


@pytest.fixture
def sender():
    """The token of a sender whose upload was accepted a moment ago."""
    with connection_kept_open():
        token = make_tenant().token
        assert post(token)[0] == 202
        yield token


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        ({"head": PART.replace('"file"', '"FILE"')}, 400),
        ({"head": PART.replace('"file"', '"output"')}, 400),
        ({"text": ""}, 400),
        ({"HTTP_IF_MATCH": '"a-tag"'}, 400),
        ({"HTTP_IDEMPOTENCY_KEY": "a-key"}, 400),
        ({"HTTP_AUTHORIZATION": "Bearer ls_agent_wrong"}, 401),
        ({"HTTP_ACCEPT": "text/html"}, 406),
        ({"CONTENT_TYPE": "text/plain"}, 415),
    ],
    ids=str,
)
def test_what_is_refused_once_is_refused_always(sender, request_, status):
    answers = [post(sender, **request_) for _ in range(2)]
    assert [answer[0] for answer in answers] == [status] * 2
    assert all(answer[1]["status"] == status for answer in answers)
    assert Upload.objects.count() == 1


def test_a_token_that_ended_is_refused_at_once(sender):
    tokens.revoke(Token.objects.get())
    status, problem = post(sender)
    assert (status, Upload.objects.count()) == (401, 1)
    assert "revoked" in problem["detail"]


@pytest.mark.parametrize(
    ("changed", "status"),
    [
        ({"scopes": ["agent"]}, 202),
        ({"scopes": ["runs:read"]}, 403),
        ({"networks": ["127.0.0.0/8"]}, 202),
        ({"networks": ["10.0.0.0/8"]}, 401),
    ],
)
def test_what_a_token_may_is_asked_at_each_upload(sender, changed, status):
    Token.objects.update(**changed)
    assert post(sender)[0] == status


def test_secrets_are_taken_out(sender):
    _, body = post(sender, f"{WRK}\nAuthorization: Bearer abcdefgh12345678\n")
    artefact = Artefact.objects.get(upload=body["id"])
    stored = bytes(SmallContent.objects.get(pk=artefact.sha256).content)
    assert b"Authorization" in stored
    assert b"abcdefgh12345678" not in stored


def test_a_small_upload_is_written_by_one_statement(sender, django_assert_num_queries):
    with django_assert_num_queries(2) as asked:
        assert post(sender)[0] == 202
    find, write = (query["sql"] for query in asked.captured_queries)
    assert "FROM accounts_token" in find
    assert "INSERT INTO ingest_upload" in write


def test_uploads_that_were_accepted_are_read(sender):
    post(sender)
    drain()
    assert set(Upload.objects.values_list("state", flat=True)) == {"parsed"}
