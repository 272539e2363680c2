"""The pages of the shelf through Falcon."""

import falcon
import pages


class Page:
    def on_get(self, request, response, size="0"):
        status, kind, body = pages.find_page(request.path)
        response.status = status
        response.content_type = kind
        response.data = body


class Message:
    def on_get(self, request, response):
        response.media = {"message": pages.HELLO.decode()}


app = falcon.App()
app.add_route("/json", Message())
app.add_route("/bytes/{size}", Page())
app.add_route("/template", Page())
app.add_route("/", Page())
