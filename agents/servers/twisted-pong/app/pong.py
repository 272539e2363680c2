"""A fixed answer on Twisted's protocols, 9.0 to now: pong.py PORT BACKLOG [printed]."""

import sys

ANSWER = b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\nContent-Type: text/plain\r\n\r\nPong!"
PORT, BACKLOG = int(sys.argv[1]), int(sys.argv[2])
IS_PRINTED = "printed" in sys.argv[3:]
END = b"\r\n\r\n"

from twisted.internet import epollreactor

epollreactor.install()

from twisted.internet import protocol, reactor


class Pong(protocol.Protocol):
    def connectionMade(self):
        self.request = b""
        if IS_PRINTED:
            self.answer()

    def dataReceived(self, data):
        self.request += data
        if not IS_PRINTED and END in self.request:
            self.answer()

    def answer(self):
        self.transport.write(ANSWER)
        self.transport.loseConnection()


factory = protocol.Factory()
factory.protocol = Pong
factory.noisy = False
reactor.listenTCP(PORT, factory, BACKLOG, "127.0.0.1")
reactor.run()
