"""A server's certificate is verified before its trials, unless the plan says otherwise."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from loadsheet_agent.errors import ServerStartError
from loadsheet_agent.plan.workload_spec import WorkloadSpec
from loadsheet_agent.run import probe
from loadsheet_agent.run.probe import Answer, Probe

x509 = pytest.importorskip("cryptography.x509")


def write_self_signed(path: Path) -> None:
    """A key and the certificate it signs for itself, in one file."""
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(timezone.utc)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    path.write_bytes(private + certificate.public_bytes(serialization.Encoding.PEM))


@pytest.fixture
def https_url(tmp_path: Path) -> Iterator[str]:
    """A server on loopback whose certificate nobody trusts."""

    class Hello(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", "5")
            self.end_headers()
            self.wfile.write(b"hello")

        def log_message(self, *_: object) -> None:
            pass

    write_self_signed(tmp_path / "server.pem")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "server.pem")
    server = HTTPServer(("127.0.0.1", 0), Hello)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield f"https://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def http_url() -> Iterator[Callable[[str, str | None], str]]:
    """Makes a server on loopback that answers with an HTTP version and a Connection header."""
    servers: list[HTTPServer] = []

    def start(version: str, connection: str | None) -> str:
        class Hello(BaseHTTPRequestHandler):
            protocol_version = version

            def do_GET(self) -> None:
                self.send_response(200)
                self.send_header("Content-Length", "5")
                if connection is not None:
                    self.send_header("Connection", connection)
                self.end_headers()
                self.wfile.write(b"hello")

            def log_message(self, *_: object) -> None:
                pass

        server = HTTPServer(("127.0.0.1", 0), Hello)
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_address[1]}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture
def remote(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server is taken for one on another machine."""
    monkeypatch.setattr(probe, "is_loopback", lambda _: False)


def test_on_loopback_any_certificate_will_do(https_url: str):
    assert Probe(https_url, verify_tls=True).status("/") == 200
    hello = WorkloadSpec(name="hello")
    assert Probe(https_url, verify_tls=True).answer(hello) == Answer(
        200, b"hello", closes=True, announces_close=True
    )


@pytest.mark.usefixtures("remote")
def test_elsewhere_an_untrusted_certificate_is_refused_with_the_way_out(https_url: str):
    with pytest.raises(ServerStartError, match=r"self.signed certificate.*verify_tls = false"):
        Probe(https_url, verify_tls=True).status("/")


@pytest.mark.usefixtures("remote")
def test_the_plan_may_accept_any_certificate(https_url: str):
    assert Probe(https_url, verify_tls=False).status("/") == 200


@pytest.mark.parametrize(
    ("version", "connection", "closes"),
    [
        ("HTTP/1.1", None, False),
        ("HTTP/1.1", "keep-alive", False),
        ("HTTP/1.1", "Close", True),
        ("HTTP/1.0", None, True),
        ("HTTP/1.0", "Keep-Alive", False),
    ],
)
def test_whether_a_server_closes_is_read_from_its_answer(
    http_url: Callable[[str, str | None], str], version: str, connection: str | None, closes: bool
):
    url = http_url(version, connection)
    answer = Probe(url, verify_tls=True).answer(WorkloadSpec(name="hello"))
    assert (answer.body, answer.closes) == (b"hello", closes)


def test_no_answer_is_no_error():
    assert Probe("http://127.0.0.1:9", verify_tls=True).status("/") is None
