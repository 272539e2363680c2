"""A fixed answer on the sockets of Cogen 0.2: pong.py PORT BACKLOG [printed]."""

import sys

ANSWER = b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\nContent-Type: text/plain\r\n\r\nPong!"
PORT, BACKLOG = int(sys.argv[1]), int(sys.argv[2])
IS_PRINTED = "printed" in sys.argv[3:]
END = b"\r\n\r\n"

import socket

from cogen.core import schedulers, sockets
from cogen.core.coroutines import coroutine


@coroutine
def serve():
    listener = sockets.Socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", PORT))
    listener.listen(BACKLOG)
    while True:
        connection, _ = yield listener.accept()
        scheduler.add(answer, args=(connection,))


@coroutine
def answer(connection):
    try:
        request = b""
        while not IS_PRINTED and END not in request:
            request += yield connection.recv(4096)
        yield connection.sendall(ANSWER)
    except (socket.error, sockets.SocketError):
        pass
    connection.close()


scheduler = schedulers.Scheduler()
scheduler.add(serve)
scheduler.run()
