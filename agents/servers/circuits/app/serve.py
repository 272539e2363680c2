"""The pages of the shelf through circuits.web: serve.py PORT."""

import sys

import pages
from circuits.web import Controller, Server


class Root(Controller):
    channel = "/"

    def index(self, *parts, **_):
        status, kind, body = pages.find_page("/" + "/".join(parts))
        self.response.status = status
        self.response.headers["Content-Type"] = kind
        return body


app = Server(("127.0.0.1", int(sys.argv[1])))
Root().register(app)
app.run()
