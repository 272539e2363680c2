"""A fixed answer on the connections of diesel 3: pong.py PORT BACKLOG [printed]."""

import sys

ANSWER = b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\nContent-Type: text/plain\r\n\r\nPong!"
PORT, BACKLOG = int(sys.argv[1]), int(sys.argv[2])
IS_PRINTED = "printed" in sys.argv[3:]
END = b"\r\n\r\n"

from diesel import Application, Service, send, until


def answer(address):
    if not IS_PRINTED:
        until(END)
    send(ANSWER)


class Pong(Service):
    LQUEUE_SIZ = BACKLOG


app = Application()
app.add_service(Pong(answer, PORT, "127.0.0.1"))
app.run()
