"""The demo's answer from the standard library's threading server, with keep-alive."""

import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BODY = b"Hello, world!"


class Server(ThreadingHTTPServer):
    # The standard library's backlog of 5 would make connections wait for a second or more.
    request_queue_size = 2048


class Hello(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Headers and body are two writes; without this the second waits for an acknowledgement.
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(BODY)))
        if self.request_version == "HTTP/1.0" and not self.close_connection:
            # An HTTP/1.0 client such as ab keeps the connection only when told so.
            self.send_header("Connection", "keep-alive")
        self.end_headers()
        self.wfile.write(BODY)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Silent: a line per request would be part of what is measured."""


if __name__ == "__main__":
    Server(("127.0.0.1", int(sys.argv[1])), Hello).serve_forever()
