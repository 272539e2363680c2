"""A fixed answer on the tasks of Fibra: pong.py PORT BACKLOG [printed]."""

import sys

ANSWER = b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\nContent-Type: text/plain\r\n\r\nPong!"
PORT, BACKLOG = int(sys.argv[1]), int(sys.argv[2])
IS_PRINTED = "printed" in sys.argv[3:]
END = b"\r\n\r\n"

import socket

import fibra
from fibra.handlers.io import Read
from fibra.handlers.tasks import Async


def serve():
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.setblocking(False)
    listener.bind(("127.0.0.1", PORT))
    listener.listen(BACKLOG)
    while True:
        yield Read(listener)
        yield Async(answer(listener.accept()[0]))


def answer(connection):
    request = b""
    while not IS_PRINTED and END not in request:
        yield Read(connection)
        part = connection.recv(4096)
        if not part:
            break
        request += part
    connection.send(ANSWER)
    connection.close()
    yield None


schedule = fibra.schedule()
schedule.install(serve())
schedule.run()
