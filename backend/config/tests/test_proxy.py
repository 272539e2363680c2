"""The proxy that Compose ships, before real web servers."""

import select
import shutil
import signal
import ssl
import subprocess
from contextlib import ExitStack, suppress

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
from backend.ingest.models import Upload
from backend.testing.mixed_heads import upload_answer, wrong_bodies
from backend.testing.nginx import Nginx, has_nginx
from backend.testing.raw_http import PATIENCE_S, ask, connected, read_answer
from backend.testing.waiting import beside, wait_until
from backend.untrusted.limits import ANONYMOUS_BYTES, HEADER_FIELDS, LARGE_BODIES

pytestmark = [
    pytest.mark.processes,
    pytest.mark.timeout(900),
    pytest.mark.django_db,
    pytest.mark.skipif(not has_nginx(), reason="nginx with its stream module is not installed"),
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


def test_who_makes_a_web_server_close_its_connection_takes_nothing_from_others(port):
    """A server whose connection was reset is asked again at once."""
    fields = [f"X-{number}: a" for number in range(HEADER_FIELDS + 10)]
    body = b"x" * (4 << 20)
    refused = request("POST", "/", *fields, f"Content-Length: {len(body)}", body=body)
    for _ in range(6):
        ask(port, refused)
        assert ask(port, request("GET", "/livez")).status == 200


def test_only_our_host_names_reach_the_service(port):
    for host in ("evil.example", "127.0.0.1.evil.example", ""):
        text = f"GET /livez HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()
        assert ask(port, text).status in (400, 421)


def test_slow_senders_of_one_token_refuse_no_uploads_of_others(door, port):
    statuses = statuses_beside_slow_senders(port, door.own, door.other)
    assert statuses == [202] * len(statuses)


def test_more_bodies_of_one_token_than_its_share_are_refused_however_it_is_spelt(door, port):
    """Two web servers take 16 bodies each, and the next one is refused."""
    spellings = [
        f"Authorization: {scheme}{' ' * spaces}{door.own.token}"
        for scheme in ("Bearer", "bearer", "BEARER")
        for spaces in range(1, 12)
    ]
    assert len(spellings) > 2 * LARGE_BODIES
    refused = first_refused(door, port, spellings)
    assert "This token or user sends" in problem(refused, 429)["detail"]
    assert int(refused.headers["retry-after"]) > 0


def test_a_session_has_one_share_whatever_cookies_stand_beside_it(door, port):
    spellings = [
        door.cookie.replace("session=", f"session={n}; session=")
        for n in range(2 * LARGE_BODIES + 1)
    ]
    problem(first_refused(door, port, spellings), 429)


def first_refused(door, port, spellings):
    """The first answer to slow bodies, beside which another workspace uploads 100 KB."""
    with slow_senders(port, spellings) as lines:
        answered, _, _ = select.select(lines, [], [], PATIENCE_S)
        refused = read_answer(answered[0].makefile("rb"))
        assert ask(port, upload(door.other.token, b"x" * 100_000)).status == 202
    return refused


class TestLargeBodies:
    def test_of_strangers_are_refused_before_they_are_read(self, proxy, door, port):
        made_up = (bearer("ls_agent_x"), bearer(door.own.token + "x"), "Cookie: session=x")
        for fields in ((), *((field,) for field in made_up)):
            for length in (ANONYMOUS_BYTES + 1, LARGEST):
                more = (*fields, f"Content-Length: {length}")
                answer = ask(port, request("POST", "/api/v1/uploads", *more))
                problem(answer, 401)
                assert answer.headers["www-authenticate"].startswith("Bearer")
                page = ask(port, request("POST", "/try", *more))
                assert (page.status, page.headers["content-type"].split(";")[0]) == (
                    413,
                    "text/html",
                )
        assert not list((proxy.folder / "bodies").rglob("0*"))

    def test_above_the_limit_of_an_upload_are_refused(self, door, port):
        more = (bearer(door.own.token), f"Content-Length: {300 << 20}", "Expect: 100-continue")
        problem(ask(port, request("POST", "/api/v1/uploads", *more)), 413)
        page = ask(port, request("POST", "/try", *more))
        assert (page.status, page.headers["content-type"].split(";")[0]) == (413, "text/html")

    def test_of_valid_senders_arrive(self, door, port):
        assert ask(port, upload(door.own.token, b"x" * (12 << 20))).status == 202


class TestRefusalsReachWhoStillSends:
    """The web server answers in the middle of a body, and the proxy hands the answer on."""

    SIZE = 16 << 20

    def send(self, port, *fields):
        fields = (*fields, f"Content-Length: {self.SIZE}")
        return ask(port, request("POST", "/api/v1/uploads", *fields, body=b"x" * self.SIZE))

    def test_401(self, port):
        problem(self.send(port, bearer("x")), 401)

    def test_413(self, port):
        chunks = (b"10000\r\n" + b"x" * 65_536 + b"\r\n") * (self.SIZE >> 16)
        chunked = request("POST", "/api/v1/uploads", "Transfer-Encoding: chunked", body=chunks)
        problem(ask(port, chunked), 413)

    def test_429(self, door, port):
        with slow_senders(port, [bearer(door.own.token)] * (4 * LARGE_BODIES)) as lines:
            # A web server that got fewer takes this one too, and says that it is no form.
            for _ in lines:
                if (answer := self.send(port, bearer(door.own.token))).status == 429:
                    break
        problem(answer, 429)

    @pytest.mark.long
    def test_408(self, door, port):
        """The proxy closes a body that is silent for 30 s; this one is slow for a minute."""
        with slow_senders(port, [bearer(door.own.token)]) as (line,):
            while not select.select([line], [], [], 5)[0]:
                line.sendall(b"x")
            problem(read_answer(line.makefile("rb")), 408)


def refused_of_many(port, path, *fields, count=200):
    """The first answer of 429 to requests in a row."""
    answers = (ask(port, request("GET", path, *fields)) for _ in range(count))
    return next(answer for answer in answers if answer.status == 429)


@pytest.fixture
def strict(door, tmp_path):
    """A proxy that lets an address send one request a second, and five at once.

    It takes the address of a client from a header.
    """
    names = "127.0.0.1; set_real_ip_from unix:; real_ip_header X-Client"
    nginx = Nginx(tmp_path / "run", door.ports, REQUESTS_PER_S="1", ALLOWED_HOSTS=names)
    nginx.start()
    yield nginx
    nginx.stop()


def test_a_flood_of_one_address_is_refused_in_our_shape(strict):
    refused = refused_of_many(strict.port, "/api/v1/limits")
    problem(refused, 429)
    assert int(refused.headers["retry-after"]) > 0
    page = refused_of_many(strict.port, "/docs/")
    assert page.headers["content-type"].split(";")[0] == "text/html"


@pytest.mark.parametrize("begun", [b"", b"G", request("POST", "/", "Content-Length: 9")])
def test_an_address_has_its_connections_from_their_first_byte(strict, begun):
    """Whatever they wait for, and whomever they ask: others have theirs."""
    with ExitStack() as stack:
        lines = [stack.enter_context(connected(strict.port)) for _ in range(350)]
        for line in lines:
            with suppress(OSError):
                line.sendall(begun.replace(b"127.0.0.1", b"elsewhere"))
        assert wait_until(lambda: len(select.select(lines, [], [], 0)[0]) >= 50, PATIENCE_S)
        other = stack.enter_context(connected(strict.port, "127.0.0.2"))
        other.sendall(request("GET", "/livez"))
        assert read_answer(other.makefile("rb")).status == 200


def test_a_network_of_ipv6_is_one_client_and_a_site_may_do_four_times_as_much(strict):
    def status(address):
        return ask(strict.port, request("GET", "/livez", f"X-Client: {address}")).status

    # A /64 has many addresses.
    assert 429 in {status(f"2001:db8:0:1::{n:x}") for n in range(40)}
    assert status("2001:db8:1:1::1") == 200
    # A /48 has many of those; each of these asks once.
    statuses = [status(f"2001:db8:2:{n:x}::1") for n in range(200)]
    assert 429 in statuses
    assert statuses.index(429) >= 20
    assert status("192.0.2.7") == 200


@pytest.mark.long
def test_no_page_fails_while_web_servers_restart_one_after_the_other(door, tmp_path):
    """An upload may get 503, because what was sent to the one that stops is not sent again."""
    with running(tmp_path) as machines:
        nginx = Nginx(tmp_path / "run", [machine.port for machine in machines])
        nginx.start()
        read, sent = set(), set()

        def visit():
            read.add(ask(nginx.port, request("GET", "/livez")).status)

        def send():
            sent.add(ask(nginx.port, upload(door.own.token, b"x" * 70_000)).status)

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
    assert read == {200}
    assert sent <= {202, 503}
    assert 202 in sent


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


@pytest.fixture
def tls(door, tmp_path):
    """A proxy that got its certificate while it ran, which is in `certificate`."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    nginx = Nginx(tmp_path / "run", door.ports, PUBLIC_URL="https://localhost")
    nginx.start()
    try:
        assert ask(nginx.port, request("GET", "/livez")).status == 200
        make_certificate(tmp_path / "run" / "certificates")
        assert wait_until(lambda: ask(nginx.port, request("GET", "/x")).status == 308, PATIENCE_S)
        yield nginx
    finally:
        nginx.stop()


def certificate_of(nginx):
    return str(nginx.folder / "certificates" / "fullchain.pem")


def test_a_certificate_turns_tls_on_while_it_runs(tls):
    redirect = ask(tls.port, request("GET", "/x?y"))
    trusted = ssl.create_default_context(cafile=certificate_of(tls))
    answer = httpx.get(f"https://localhost:{tls.tls_port}/livez", verify=trusted, trust_env=False)
    assert redirect.headers["location"] == "https://localhost/x?y"
    assert (answer.status_code, answer.text) == (200, "alive\n")
    assert "strict-transport-security" not in answer.headers
    assert "warn" not in tls.log.read_text()


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_a_name_that_is_not_that_of_the_connection_reaches_nothing(tls):
    trusted = ssl.create_default_context(cafile=certificate_of(tls))
    url = f"https://localhost:{tls.tls_port}/livez"
    answer = httpx.get(url, headers={"host": "evil.example"}, verify=trusted, trust_env=False)
    assert answer.status_code == 421


def test_bodies_without_a_length_over_http2_are_judged_as_others_are(tls, door):
    url = f"https://localhost:{tls.tls_port}/api/v1/uploads"
    command = ["curl", "--silent", "--http2", "--noproxy", "*", "--cacert", certificate_of(tls)]
    told = ["--output", "/dev/null", "--write-out", "%{http_version} %{http_code}", url]

    def send(*options):
        # Of what comes from a pipe, curl does not know the length.
        body = b"x" * (3 << 20)
        sent = [*command, *options, *told]
        return subprocess.run(sent, input=body, capture_output=True, check=True).stdout.decode()

    before = Upload.objects.count()
    assert send("--request", "POST", "--upload-file", "-") == "2 413"
    assert send("--header", bearer("ls_x"), "--request", "POST", "--upload-file", "-") == "2 413"
    assert Upload.objects.count() == before
    assert send("--header", bearer(door.own.token), "--form", "file=@-;filename=ab.txt") == "2 202"
    assert Upload.objects.count() == before + 1
    assert not list((tls.folder / "bodies").rglob("0*"))


def test_a_stop_does_not_wait_until_certificates_are_looked_for(tmp_path):
    nginx = Nginx(tmp_path / "run", [1], LOOK_EVERY_S="3600")
    nginx.start()
    nginx.stop()


def test_files_that_cannot_be_read_are_named(tmp_path):
    nginx = Nginx(tmp_path / "run", [1], PROXY=str(tmp_path / "away"))
    with pytest.raises(TimeoutError, match=r"nginx\.conf cannot be read"):
        nginx.start()
