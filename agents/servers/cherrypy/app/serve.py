"""The pages of the shelf through CherryPy, old and new: serve.py PORT BACKLOG THREADS."""

import sys

import cherrypy
import pages


class Root(object):
    def default(self, *parts, **_):
        status, kind, body = pages.find_page("/" + "/".join(parts))
        cherrypy.response.status = status
        cherrypy.response.headers["Content-Type"] = kind
        return body

    default.exposed = True


port, backlog, threads = [int(word) for word in sys.argv[1:4]]
cherrypy.config.update(
    {
        "environment": "production",
        "server.socket_host": "127.0.0.1",
        "server.socket_port": port,
        "server.socket_queue_size": backlog,
        "server.thread_pool": threads,
        "log.screen": False,
    }
)
cherrypy.quickstart(Root())
