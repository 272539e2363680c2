"""The pages of the shelf through Tornado, 0.2 to 6: serve.py PORT BACKLOG."""

import socket
import sys

import pages
from tornado import httpserver, ioloop, web


class Page(web.RequestHandler):
    def get(self, path):
        status, kind, body = pages.find_page("/" + path)
        self.set_status(status)
        self.set_header("Content-Type", kind)
        self.write(body)

    def head(self, path):
        self.get(path)


def listen(server, port, backlog):
    """Tornado 0.2 has its own socket, with a backlog of 128; newer ones take ours."""
    if not hasattr(server, "add_socket"):
        server.listen(port, "127.0.0.1")
        return
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.setblocking(False)
    listener.bind(("127.0.0.1", port))
    listener.listen(backlog)
    server.add_socket(listener)


def serve(port, backlog):
    app = web.Application([(r"/(.*)", Page)], log_function=lambda handler: None)
    listen(httpserver.HTTPServer(app), port, backlog)


if sys.version_info[0] > 2:
    import asyncio

    asyncio.set_event_loop(asyncio.new_event_loop())
serve(int(sys.argv[1]), int(sys.argv[2]))
ioloop.IOLoop.instance().start()
