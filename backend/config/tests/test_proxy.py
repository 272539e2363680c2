"""The proxy that Compose ships, before real web servers."""

import select
import shutil
import signal
import ssl

import httpx
import pytest

from backend.config.tests.front_door import (
    LARGEST,
    bearer,
    front_door,
    make_certificate,
    request,
    running,
    slow_senders,
    statuses_beside_slow_senders,
    upload,
)
from backend.config.tests.test_web_server import ODD, REFUSED
from backend.ingest.limits import ANONYMOUS_BYTES
from backend.testing.mixed_heads import upload_answer, wrong_bodies
from backend.testing.nginx import Nginx, has_nginx
from backend.testing.raw_http import PATIENCE_S, ask, read_answer
from backend.testing.waiting import beside, wait_until

pytestmark = [
    pytest.mark.processes,
    pytest.mark.timeout(900),
    pytest.mark.django_db,
    pytest.mark.skipif(not has_nginx(), reason="nginx is not installed"),
]
MIXED = 400


@pytest.fixture(scope="module")
def door(tmp_path_factory, django_db_setup, django_db_blocker):
    with django_db_blocker.unblock(), front_door(tmp_path_factory.mktemp("door")) as door:
        yield door


@pytest.fixture(scope="module")
def proxy(door, tmp_path_factory):
    nginx = Nginx(tmp_path_factory.mktemp("proxy") / "run", door.ports)
    nginx.start()
    yield nginx
    nginx.stop()


@pytest.fixture
def port(proxy):
    return proxy.port


def problem(answer, status):
    """The problem of an answer in the shape of the API."""
    assert answer.status == status
    assert answer.headers["content-type"] == "application/problem+json"
    told = httpx.Response(200, content=answer.body).json()
    assert list(told) == ["type", "code", "title", "status", "detail", "hint"]
    assert told["status"] == status
    return told


@pytest.mark.long
def test_heads_beside_gets_give_nobody_a_wrong_body(door, port):
    """`scripts/bench heads` sends 5,000."""
    upload_id = upload_answer(port, door.own.token)
    paths = (f"/api/v1/uploads/{upload_id}", f"/uploads/{upload_id}", "/workspaces")
    assert wrong_bodies(port, paths, door.cookie, count=MIXED) == []


def test_odd_requests_are_refused(port):
    for name, text in ODD.items():
        # nginx takes these, and sends them on in a form that is read in one way.
        if name in ("two slashes", "a long field", "a long address", "a bare line feed"):
            continue
        answer = ask(port, text)
        assert answer is None or answer.status in REFUSED | {421}, name
    assert ask(port, request("GET", "/livez")).body == b"alive\n"


def test_only_our_host_names_reach_the_service(port):
    for host in ("evil.example", "127.0.0.1.evil.example", ""):
        text = f"GET /livez HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()
        assert ask(port, text).status in (400, 421)


def test_slow_senders_of_one_token_refuse_no_uploads_of_others(door, port):
    statuses = statuses_beside_slow_senders(port, door.own, door.other)
    assert statuses == [202] * len(statuses)


def test_more_slow_senders_of_one_token_than_its_share_are_refused(door, port):
    """Of twelve, four may be on their way; the others are refused, and no other token's are."""
    with slow_senders(port, door.own.token, count=12) as lines:
        answered, _, _ = select.select(lines, [], [], PATIENCE_S)
        refused = read_answer(answered[0].makefile("rb"))
        assert ask(port, upload(door.other.token, b"x" * 100_000)).status == 202
    assert "token" in problem(refused, 429)["detail"]
    assert int(refused.headers["retry-after"]) > 0


class TestLargeBodies:
    def test_of_strangers_are_refused_before_they_are_read(self, proxy, door, port):
        made_up = (bearer("ls_agent_x"), bearer(door.own.token + "x"), "Cookie: session=x")
        for fields in ((), *((field,) for field in made_up)):
            for length in (ANONYMOUS_BYTES + 1, LARGEST):
                more = (*fields, f"Content-Length: {length}", "Expect: 100-continue")
                answer = ask(port, request("POST", "/api/v1/uploads", *more))
                problem(answer, 401)
                assert answer.headers["www-authenticate"].startswith("Bearer")
                page = ask(port, request("POST", "/try", *more))
                assert (page.status, page.headers["content-type"].split(";")[0]) == (
                    401,
                    "text/html",
                )
            chunked = (*fields, "Transfer-Encoding: chunked", "Expect: 100-continue")
            problem(ask(port, request("POST", "/api/v1/uploads", *chunked)), 401)
        assert not list((proxy.folder / "bodies").rglob("0*"))

    def test_above_the_limit_of_an_upload_are_refused(self, door, port):
        more = (bearer(door.own.token), f"Content-Length: {300 << 20}", "Expect: 100-continue")
        problem(ask(port, request("POST", "/api/v1/uploads", *more)), 413)
        page = ask(port, request("POST", "/try", *more))
        assert (page.status, page.headers["content-type"].split(";")[0]) == (413, "text/html")

    def test_of_valid_senders_arrive(self, door, port):
        assert ask(port, upload(door.own.token, b"x" * (12 << 20))).status == 202

    def test_may_not_ask_who_may_send(self, port):
        assert ask(port, request("GET", "/internal/may-send")).status == 404


def test_a_flood_of_one_address_is_refused_in_our_shape(door, tmp_path):
    nginx = Nginx(tmp_path / "run", door.ports, REQUESTS_PER_S="1")
    nginx.start()
    try:
        answers = [ask(nginx.port, request("GET", "/api/v1/limits")) for _ in range(8)]
        page = ask(nginx.port, request("GET", "/docs/"))
    finally:
        nginx.stop()
    # What is above the rate may come at once, five times.
    refused = [answer for answer in answers if answer.status != 200]
    problem(refused[0], 429)
    assert int(refused[0].headers["retry-after"]) > 0
    assert page.status in (200, 429)


@pytest.mark.long
def test_a_restart_of_one_web_server_is_invisible(door, tmp_path):
    with running(tmp_path) as machines:
        nginx = Nginx(tmp_path / "run", [machine.port for machine in machines])
        nginx.start()
        statuses = set()

        def visit():
            statuses.add(ask(nginx.port, request("GET", "/livez")).status)

        def send():
            statuses.add(ask(nginx.port, upload(door.own.token, b"x" * 70_000)).status)

        try:
            with beside(visit, threads=2, every_s=0.02), beside(send, every_s=0.1):
                for machine in machines:
                    first = machine.processes()[0]
                    first.send_signal(signal.SIGTERM)
                    first.wait(PATIENCE_S)
                    machine.start_web()
                    machine.wait_until_answering()
        finally:
            nginx.stop()
    assert statuses <= {200, 202}


def test_without_a_web_server_the_answer_says_so(tmp_path):
    nginx = Nginx(tmp_path / "run", [1])
    nginx.start()
    try:
        problem(ask(nginx.port, request("GET", "/api/v1/me")), 503)
        page = ask(nginx.port, request("GET", "/"))
    finally:
        nginx.stop()
    assert (page.status, page.headers["content-type"].split(";")[0]) == (503, "text/html")
    assert int(page.headers["retry-after"]) > 0


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
def test_a_certificate_turns_tls_on_while_it_runs(door, tmp_path):
    nginx = Nginx(tmp_path / "run", door.ports, PUBLIC_URL="https://localhost")
    nginx.start()
    try:
        assert ask(nginx.port, request("GET", "/livez")).status == 200
        make_certificate(tmp_path / "run" / "certificates")
        assert wait_until(lambda: ask(nginx.port, request("GET", "/x")).status == 308, PATIENCE_S)
        redirect = ask(nginx.port, request("GET", "/x?y"))
        trusted = ssl.create_default_context(
            cafile=str(tmp_path / "run" / "certificates" / "fullchain.pem")
        )
        answer = httpx.get(
            f"https://localhost:{nginx.tls_port}/livez", verify=trusted, trust_env=False
        )
    finally:
        nginx.stop()
    assert redirect.headers["location"] == "https://localhost/x?y"
    assert (answer.status_code, answer.text) == (200, "alive\n")
    assert "strict-transport-security" not in answer.headers


def test_files_that_cannot_be_read_are_named(tmp_path):
    nginx = Nginx(tmp_path / "run", [1], PROXY=str(tmp_path / "away"))
    with pytest.raises(TimeoutError, match=r"nginx\.conf cannot be read"):
        nginx.start()
