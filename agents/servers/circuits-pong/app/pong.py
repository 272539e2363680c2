"""A fixed answer on the sockets of circuits 1.2: pong.py PORT BACKLOG [printed]."""

import sys

ANSWER = b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\nContent-Type: text/plain\r\n\r\nPong!"
PORT, BACKLOG = int(sys.argv[1]), int(sys.argv[2])
IS_PRINTED = "printed" in sys.argv[3:]
END = b"\r\n\r\n"

from circuits.net.sockets import TCPServer, Write, Close


class Pong(TCPServer):
    requests = {}

    def connect(self, sock, host, port):
        self.requests[sock] = b""
        if IS_PRINTED:
            self.answer(sock)

    def disconnect(self, sock):
        self.requests.pop(sock, None)

    def read(self, sock, data):
        request = self.requests.get(sock, b"") + data
        self.requests[sock] = request
        if not IS_PRINTED and END in request:
            self.answer(sock)

    def answer(self, sock):
        self.push(Write(sock, ANSWER))
        self.push(Close(sock))


Pong(("127.0.0.1", PORT), backlog=BACKLOG).run()
