"""A fixed answer on gevent's sockets: pong.py PORT BACKLOG [printed]."""

import sys

ANSWER = b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\nContent-Type: text/plain\r\n\r\nPong!"
PORT, BACKLOG = int(sys.argv[1]), int(sys.argv[2])
IS_PRINTED = "printed" in sys.argv[3:]
END = b"\r\n\r\n"

from gevent.server import StreamServer


def answer(connection, address):
    if not IS_PRINTED:
        request = b""
        while END not in request:
            part = connection.recv(4096)
            if not part:
                break
            request += part
    connection.sendall(ANSWER)
    connection.close()


StreamServer(("127.0.0.1", PORT), answer, backlog=BACKLOG).serve_forever()
