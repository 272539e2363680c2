"""A fixed answer on the watchers of pyev: pong.py PORT BACKLOG [printed]."""

import sys

ANSWER = b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\nContent-Type: text/plain\r\n\r\nPong!"
PORT, BACKLOG = int(sys.argv[1]), int(sys.argv[2])
IS_PRINTED = "printed" in sys.argv[3:]
END = b"\r\n\r\n"

import socket

import pyev

requests = {}


def accept(watcher, events):
    while True:
        try:
            connection, _ = listener.accept()
        except socket.error:
            return
        connection.setblocking(False)
        if IS_PRINTED:
            answer(connection)
            continue
        reader = pyev.Io(connection.fileno(), pyev.EV_READ, loop, read)
        requests[connection.fileno()] = [connection, reader, b""]
        reader.start()


def read(watcher, events):
    connection, reader, request = requests[watcher.fd]
    try:
        part = connection.recv(4096)
    except socket.error:
        part = b""
    requests[watcher.fd][2] = request = request + part
    if part and END not in request:
        return
    reader.stop()
    del requests[watcher.fd]
    answer(connection)


def answer(connection):
    try:
        connection.send(ANSWER)
    except socket.error:
        pass
    connection.close()


listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.setblocking(False)
listener.bind(("127.0.0.1", PORT))
listener.listen(BACKLOG)
loop = pyev.default_loop()
waiting = pyev.Io(listener.fileno(), pyev.EV_READ, loop, accept)
waiting.start()
loop.loop() if hasattr(loop, "loop") else loop.start()
