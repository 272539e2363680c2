"""The pages of the shelf on Weightless: serve.py PORT BACKLOG."""

import socket
import sys
import types

# It refuses to start with another encoding; Python 2 hides the function that sets it.
reload(sys).setdefaultencoding("utf-8")
# Only its server for TLS needs this module.
sys.modules["OpenSSL"] = types.ModuleType("OpenSSL")
sys.modules["OpenSSL"].SSL = None

import pages
from weightless.http import HttpServer
from weightless.io import Reactor

HEAD = "HTTP/1.0 %d %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n"
REASONS = {200: "OK", 404: "Not Found"}


def answer(RequestURI="/", **request):
    """It is called once the head of the request was read."""
    status, kind, body = pages.find_page(RequestURI)
    yield HEAD % (status, REASONS[status], kind, len(body)) + body


def listen(port, backlog):
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen(backlog)
    return listener


reactor = Reactor()
port, backlog = int(sys.argv[1]), int(sys.argv[2])
HttpServer(reactor, port, answer, sok=listen(port, backlog)).listen()
reactor.loop()
