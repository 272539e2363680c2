"""The web server as scripts/start runs it: alone, over raw sockets."""

import contextlib
import json
import signal
from itertools import product

import pytest

from backend.config.tests.front_door import (
    LARGEST,
    bearer,
    form,
    front_door,
    running,
    session_of,
    statuses_beside_slow_senders,
    upload,
)
from backend.ingest.models import Artefact
from backend.testing.raw_http import PATIENCE_S, ask, connected, read_answer, request
from backend.testing.reports import WRK
from backend.testing.scenes import make_scene
from backend.testing.waiting import wait_until
from backend.untrusted.limits import (
    ANONYMOUS_BYTES,
    HEADER_FIELDS,
    HEADER_LINE_BYTES,
    PAGE_FORM_BYTES,
    URLENCODED,
)
from backend.web.tests.test_access import ids_of
from backend.web.tests.test_every_route import ROUTES

# The rows that the web server is to see are made by the fixtures of the module: those of a test are
# not committed.
pytestmark = [pytest.mark.processes, pytest.mark.timeout(900), pytest.mark.django_db]
CLOSE = "Connection: close"
REFUSED = {400, 404, 414, 431, 501, 505}


@pytest.fixture(scope="module")
def site(tmp_path_factory, django_db_setup, django_db_blocker):
    with (
        django_db_blocker.unblock(),
        front_door(tmp_path_factory.mktemp("site"), count=1) as door,
    ):
        yield door


@pytest.fixture
def port(site):
    return site.ports[0]


def follows_rightly(port, *, fields, path):
    """HEAD, and a GET behind it on the same connection: what is wrong, or nothing."""
    with connected(port) as connection:
        both = request("HEAD", path, *fields) + request("GET", "/livez")
        connection.sendall(both)
        stream = connection.makefile("rb")
        try:
            head, after = read_answer(stream, "HEAD"), read_answer(stream)
        except ValueError as wrong:
            return str(wrong)
    if head is None:
        return "no answer"
    # The server may close after the first.
    if after is not None and (after.status, after.body) != (200, b"alive\n"):
        return f"{after.status} {after.body[:80]!r} instead of the second answer"
    return ""


@pytest.fixture(scope="module")
def visited(site):
    """What stands in the addresses of the routes, and the session of who may see the most."""
    scene = make_scene()
    ids = ids_of(scene)
    return {"shared": ids["private"], **ids}, session_of(scene.own.user)


@pytest.mark.long
def test_head_of_every_route_is_a_header_alone(visited, port):
    ids, cookie = visited
    wrong = {}
    for fields in ((), (cookie,)):
        for name, row in ROUTES.items():
            path = row.path.format_map(ids)
            if problem := follows_rightly(port, fields=fields, path=path):
                wrong[name] = problem
    assert not wrong
    assert len(ROUTES) > 150


def framed(*fields, body=b""):
    return request("POST", "/accounts/login/", *fields, body=body)


ODD = {
    "Content-Length beside Transfer-Encoding": framed(
        "Content-Length: 5", "Transfer-Encoding: chunked", body=b"0\r\n\r\n"
    ),
    "Transfer-Encoding before Content-Length": framed(
        "Transfer-Encoding: chunked", "Content-Length: 5", body=b"0\r\n\r\n"
    ),
    "a folded Content-Length": framed("Content-Length:\r\n 5", body=b"hello"),
    "two Content-Lengths": framed("Content-Length: 5", "Content-Length: 6", body=b"hello"),
    "one Content-Length twice": framed("Content-Length: 5, 5", body=b"hello"),
    "a signed Content-Length": framed("Content-Length: +5", body=b"hello"),
    "an unknown coding": framed("Transfer-Encoding: xchunked", body=b"hello"),
    "HTTP/9.9": b"GET /livez HTTP/9.9\r\nHost: 127.0.0.1\r\n\r\n",
    "a bare line feed": b"GET /livez HTTP/1.1\nHost: 127.0.0.1\n\n",
    "two hosts": request("GET", "/livez", "Host: evil.example"),
    "another host": b"GET /livez HTTP/1.1\r\nHost: evil.example\r\n\r\n",
    "the address of another host": request("GET", "http://evil.example/livez"),
    "two slashes": request("GET", "//livez"),
    "a long field": request("GET", "/livez", "A: " + "a" * (HEADER_LINE_BYTES + 1)),
    "many fields": request("GET", "/livez", *["A: b"] * HEADER_FIELDS),
    "a long address": request("GET", "/" + "a" * HEADER_LINE_BYTES),
    "spaces in the first line": request("GET", "/" + " " * 60_000),
    "colons in the first line": request("GET", "http://" + ":" * 60_000),
    "a long Accept": request("GET", "/livez", "Accept: " + "a" * 1001),
}


def test_odd_requests_are_refused_and_nothing_behind_them_is_answered(port):
    for name, text in ODD.items():
        with connected(port) as connection:
            with contextlib.suppress(ConnectionError):
                connection.sendall(text + request("GET", "/livez", CLOSE))
            stream = connection.makefile("rb")
            try:
                answer, after = read_answer(stream), read_answer(stream)
            except ConnectionError:
                continue
        assert answer is None or answer.status in REFUSED, name
        # An address is no fault of framing: the connection may go on.
        if not name.endswith(("host", "slashes", "Accept")):
            assert after is None, name
        assert ask(port, request("GET", "/livez")).body == b"alive\n"


def test_what_a_client_says_of_its_address_and_scheme_changes_nothing(site, port):
    fields = ("X-Forwarded-Proto: https", "X_Forwarded_For: 203.0.113.7", "Forwarded: proto=https")
    plain, forged = (ask(port, request("GET", "/accounts/login/", *more)) for more in ((), fields))
    assert (plain.status, forged.status) == (200, 200)
    assert "strict-transport-security" not in forged.headers


class TestBodies:
    def test_of_strangers_are_left_unread_when_they_are_large(self, site, port):
        made_up = (bearer("ls_agent_x"), bearer(site.own.token + "x"), "Cookie: session=x")
        for length in (ANONYMOUS_BYTES + 1, LARGEST, 1 << 40):
            for fields in ((), *((field,) for field in made_up)):
                for path in ("/api/v1/uploads", "/try", "/accounts/login/", "/sign-in/x"):
                    more = (*fields, f"Content-Length: {length}", "Expect: 100-continue")
                    answer = ask(port, request("POST", path, *more))

                    # The answer comes without a byte of the body, and without asking for it.
                    expected = 401 if path.startswith("/api/") else 413
                    assert answer.status == expected, (path, fields, length)

    def test_of_tokens_that_may_not_upload_are_left_when_they_are_large(self, site, port):
        for token in site.refused:
            size = ANONYMOUS_BYTES + 1
            more = (bearer(token), f"Content-Length: {size}", "Expect: 100-continue")
            assert ask(port, request("POST", "/api/v1/uploads", *more)).status in (401, 403)
            chunked = (bearer(token), "Transfer-Encoding: chunked")
            body = b"%x\r\n" % size + b"x" * size + b"\r\n0\r\n\r\n"
            answer = ask(port, request("POST", "/api/v1/uploads", *chunked, body=body))
            assert answer.status == 413

    def test_that_were_left_are_too_large_for_a_view_that_reads_them(self, port):
        size = ANONYMOUS_BYTES + 1
        fields = ("Content-Type: application/json", f"Content-Length: {size}")
        text = request("POST", "/api/v1/leaked-tokens", *fields, body=b"x" * size)
        answer = ask(port, text)
        assert answer.status == 413
        assert f"has {size:,} bytes".encode() in answer.body

    def test_are_refused_in_the_middle_to_a_sender_that_waited_to_be_asked(self, port):
        """With `Expect` too, the sender reads the answer while it sends."""
        head = request(
            "POST", "/api/v1/uploads", "Transfer-Encoding: chunked", "Expect: 100-continue"
        )
        with connected(port) as connection:
            connection.sendall(head)
            stream = connection.makefile("rb")
            assert stream.readline() == b"HTTP/1.1 100 Continue\r\n"
            stream.readline()
            # More than the buffers of a connection hold.
            for _ in range(256):
                connection.sendall(b"10000\r\n" + b"x" * 65_536 + b"\r\n")
            assert read_answer(stream).status == 413

    def test_of_strangers_in_chunks_are_left_when_they_are_large(self, site, port):
        chunk = b"1000\r\n" + b"x" * 4096 + b"\r\n"
        for fields, status in (((), 413), ((bearer("x"),), 413)):
            head = request("POST", "/api/v1/uploads", *fields, "Transfer-Encoding: chunked")
            assert ask(port, head + chunk * 40).status == status

    def test_above_the_limit_of_an_upload_are_left_unread(self, site, port):
        for field in (bearer(site.own.token), site.cookie):
            more = (field, f"Content-Length: {300 << 20}", "Expect: 100-continue")
            answer = ask(port, request("POST", "/api/v1/uploads", *more))

            assert answer.status == 413

    def test_that_are_percent_encoded_are_small(self, site, port):
        """Python takes such a form apart into as many objects as it has bytes."""
        size = PAGE_FORM_BYTES + 1
        kinds = ("Application/X-WWW-form-urlencoded ;charset=utf-8", f"{URLENCODED}=x; a=b")
        for field, written in product((bearer(site.own.token), site.cookie), kinds):
            kind = f"Content-Type: {written}"
            for path in ("/accounts/login/", "/w/own-lab/settings", "/api/v1/uploads"):
                fields = (field, kind, f"Content-Length: {size}", "Expect: 100-continue")
                assert ask(port, request("POST", path, *fields)).status == 413
            chunked = request("POST", "/try", field, kind, "Transfer-Encoding: chunked")
            assert ask(port, chunked + b"10000\r\n%s\r\n" % (b"x" * 65_536) * 8).status == 413

    def test_of_pages_without_files_are_small(self, site, port):
        """A page shows the fields of a form that it refuses."""
        kind, size = "Content-Type: multipart/form-data; boundary=b", PAGE_FORM_BYTES + 1
        fields = (site.cookie, kind, f"Content-Length: {size}", "Expect: 100-continue")
        for path in ("/w/own-lab/rename", "/accounts/login/", "/r/x/edit", "/nowhere", "/%ff"):
            assert ask(port, request("POST", path, *fields)).status == 413
        for path in ("/w/own-lab/upload", "/try"):
            # It goes on to read the body, for which it asks.
            with connected(port) as connection:
                connection.sendall(request("POST", path, *fields))
                assert connection.recv(100).startswith(b"HTTP/1.1 100 ")

    def test_that_were_refused_let_the_sender_read_the_answer(self, site, port):
        size = 8 << 20
        fields = (bearer("x"), f"Content-Length: {size}")
        answer = ask(port, request("POST", "/api/v1/uploads", *fields, body=b"x" * size))

        assert answer is not None
        assert answer.status == 401
        assert answer.headers["content-type"] == "application/problem+json"

    def test_may_come_in_chunks(self, site, port):
        kind, body = form(WRK.encode() + b"x" * 200_000)
        chunks = b"".join(
            b"%x\r\n%s\r\n" % (len(piece), piece)
            for piece in (body[at : at + 50_000] for at in range(0, len(body), 50_000))
        )
        fields = (bearer(site.own.token), kind, "Transfer-Encoding: chunked")
        answer = ask(port, request("POST", "/api/v1/uploads", *fields, body=chunks + b"0\r\n\r\n"))

        assert answer.status == 202

    def test_are_asked_for_once_the_sender_is_known(self, site, port):
        kind, body = form(b"x" * 100_000)
        fields = (bearer(site.own.token), kind, f"Content-Length: {len(body)}")
        with connected(port) as connection:
            connection.sendall(request("POST", "/api/v1/uploads", *fields, "Expect: 100-continue"))
            stream = connection.makefile("rb")
            assert stream.readline() == b"HTTP/1.1 100 Continue\r\n"
            stream.readline()
            connection.sendall(body)
            assert read_answer(stream).status == 202


def test_slow_senders_of_one_token_refuse_no_uploads_of_others(site, port):
    statuses = statuses_beside_slow_senders(port, site.own, site.other)
    assert statuses == [202] * len(statuses)


@pytest.mark.long
def test_clients_slower_than_all_threads_together_delay_nobody(site, port):
    """Three kinds of 70 are more than the 200 that a site is to survive."""
    with contextlib.ExitStack() as stack:
        for text in (
            b"GET /slow-header HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: ",
            framed("Content-Length: 60000") + b"half",
            request("GET", "/static/charts.js"),
        ):
            for _ in range(70):
                stack.enter_context(connected(port)).sendall(text)

        assert ask(port, request("GET", "/readyz")).status == 200
        assert ask(port, upload(site.other.token, WRK.encode())).status == 202


def test_a_stored_file_is_sent_from_the_disk_and_others_take_room(site, port):
    """Beside readers that take nothing of either, others are served."""
    content = b"0123456789abcdef" * (4 << 16)
    upload_id = json.loads(ask(port, upload(site.own.token, content)).body)["id"]
    artefact = Artefact.objects.get(upload=upload_id)
    raw = request("GET", f"/a/{artefact.pk}/raw", site.cookie)
    with contextlib.ExitStack() as stack:
        for _ in range(30):
            stack.enter_context(connected(port)).sendall(raw)
        assert ask(port, raw).body == content
        with connected(port) as connection:
            connection.sendall(raw.replace(b"GET", b"HEAD") + raw)
            stream = connection.makefile("rb")
            head, after = read_answer(stream, "HEAD"), read_answer(stream)
        assert head.headers["content-length"] == str(len(content))
        assert after.body == content


def test_a_stop_answers_what_was_begun_and_takes_nothing_new(site, tmp_path):
    text = upload(site.own.token, b"x" * 200_000)
    with running(tmp_path, count=1) as (machine,), connected(machine.port) as connection:
        connection.sendall(text[:100_000])
        # Of a later connection: so the first is being read.
        assert ask(machine.port, request("GET", "/livez")).status == 200
        first = machine.processes()[0]
        first.send_signal(signal.SIGTERM)
        assert wait_until(lambda: not takes_connections(machine.port), PATIENCE_S)
        connection.sendall(text[100_000:])
        assert read_answer(connection.makefile("rb")).status == 202
        first.wait(PATIENCE_S)


def takes_connections(port):
    try:
        return ask(port, request("GET", "/livez")) is not None
    except OSError:
        return False
