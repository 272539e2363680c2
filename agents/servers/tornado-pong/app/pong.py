"""A fixed answer on Tornado's event loop, 0.2 to now: pong.py PORT BACKLOG [printed]."""

import sys

ANSWER = b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\nContent-Type: text/plain\r\n\r\nPong!"
PORT, BACKLOG = int(sys.argv[1]), int(sys.argv[2])
IS_PRINTED = "printed" in sys.argv[3:]
END = b"\r\n\r\n"

import errno
import socket

from tornado import ioloop

requests = {}


def accept(fd, events):
    while True:
        try:
            connection, _ = listener.accept()
        except socket.error as error:
            if error.args[0] in (errno.EAGAIN, errno.EWOULDBLOCK):
                return
            raise
        connection.setblocking(False)
        if IS_PRINTED:
            answer(connection)
            continue
        requests[connection.fileno()] = [connection, b""]
        loop.add_handler(connection.fileno(), read, loop.READ)


def read(fd, events):
    connection, request = requests[fd]
    try:
        part = connection.recv(4096)
    except socket.error:
        part = b""
    requests[fd][1] = request = request + part
    if part and END not in request:
        return
    loop.remove_handler(fd)
    del requests[fd]
    answer(connection)


def answer(connection):
    try:
        connection.send(ANSWER)
    except socket.error:
        pass
    connection.close()


def serve():
    global listener, loop
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.setblocking(False)
    listener.bind(("127.0.0.1", PORT))
    listener.listen(BACKLOG)
    loop = ioloop.IOLoop.instance()
    loop.add_handler(listener.fileno(), accept, loop.READ)


if sys.version_info[0] > 2:
    import asyncio

    asyncio.set_event_loop(asyncio.new_event_loop())
serve()
loop.start()
