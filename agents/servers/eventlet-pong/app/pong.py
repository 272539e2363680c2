"""A fixed answer on Eventlet's sockets, 0.8 to now: pong.py PORT BACKLOG [printed]."""

import sys

ANSWER = b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\nContent-Type: text/plain\r\n\r\nPong!"
PORT, BACKLOG = int(sys.argv[1]), int(sys.argv[2])
IS_PRINTED = "printed" in sys.argv[3:]
END = b"\r\n\r\n"

import socket

from eventlet import greenpool
from eventlet.green import socket as green_socket


def answer(connection):
    if not IS_PRINTED:
        request = b""
        while END not in request:
            part = connection.recv(4096)
            if not part:
                break
            request += part
    connection.sendall(ANSWER)
    connection.close()


listener = green_socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(("127.0.0.1", PORT))
listener.listen(BACKLOG)
pool = greenpool.GreenPool(10000)
while True:
    pool.spawn_n(answer, listener.accept()[0])
