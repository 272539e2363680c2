"""The pages of the shelf through Twisted Web, 9.0 to now: serve.py PORT BACKLOG."""

import sys

from twisted.internet import epollreactor

epollreactor.install()

import pages
from twisted.internet import reactor
from twisted.web import resource, server


class Page(resource.Resource):
    isLeaf = True

    def render_GET(self, request):
        path = request.path
        if not isinstance(path, str):
            path = path.decode("ascii")
        status, kind, body = pages.find_page(path)
        request.setResponseCode(status)
        request.setHeader(b"Content-Type", kind.encode("ascii"))
        request.setHeader(b"Content-Length", str(len(body)).encode("ascii"))
        return body


site = server.Site(Page())
# Its access log is written for each request otherwise.
site.log = lambda request: None
reactor.listenTCP(int(sys.argv[1]), site, int(sys.argv[2]), "127.0.0.1")
reactor.run()
