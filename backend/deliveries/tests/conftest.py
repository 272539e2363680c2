import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from backend.deliveries.channels import add_channel
from backend.testing.uploads import make_tenant


class Receiver:
    """A receiver on this machine: keeps what it got, and answers as `answers` say."""

    def __init__(self):
        self.requests, self.answers = [], []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.requests.append((dict(self.headers), body))
                answer = receiver.answers.pop(0) if receiver.answers else (200, {}, b"")
                if callable(answer):
                    answer(self)
                    return
                status, headers, text = answer
                self.send_response(status)
                for name, value in {"Content-Length": str(len(text)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()


@pytest.fixture
def receiver():
    made = Receiver()
    yield made
    made.server.shutdown()
    made.server.server_close()


@pytest.fixture
def to_this_machine(settings):
    settings.WEBHOOKS = "any"


@pytest.fixture
def tenant(db):
    return make_tenant("lab")


@pytest.fixture
def channel(tenant, receiver, to_this_machine):
    return add_channel(
        tenant.workspace, author=tenant.user, kind="webhook", name="hook", address=receiver.url
    )
