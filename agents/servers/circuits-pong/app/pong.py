"""A fixed answer on the sockets of circuits, 1.2 to 3: pong.py PORT BACKLOG [printed]."""

import sys

ANSWER = b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\nContent-Type: text/plain\r\n\r\nPong!"
PORT, BACKLOG = int(sys.argv[1]), int(sys.argv[2])
IS_PRINTED = "printed" in sys.argv[3:]
END = b"\r\n\r\n"

from circuits import handler
from circuits.net.sockets import TCPServer

try:
    from circuits.net.sockets import Close, Write
except ImportError:
    from circuits.net.events import close as Close, write as Write


class Pong(TCPServer):
    requests = {}

    @handler("connect")
    def on_connect(self, sock, host, port):
        self.requests[sock] = b""
        if IS_PRINTED:
            self.answer(sock)

    @handler("disconnect")
    def on_disconnect(self, sock):
        self.requests.pop(sock, None)

    @handler("read")
    def on_read(self, sock, data):
        request = self.requests.get(sock, b"") + data
        self.requests[sock] = request
        if not IS_PRINTED and END in request:
            self.answer(sock)

    def answer(self, sock):
        send = getattr(self, "push", None) or self.fire
        send(Write(sock, ANSWER))
        send(Close(sock))


Pong(("127.0.0.1", PORT), backlog=BACKLOG).run()
