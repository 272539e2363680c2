"""The pages of the shelf through Pyramid."""

import pages
from pyramid.config import Configurator
from pyramid.response import Response


def page(request):
    status, kind, body = pages.find_page(request.path)
    kind, _, charset = kind.partition("; charset=")
    return Response(body, status=status, content_type=kind, charset=charset or None)


def message(request):
    return {"message": pages.HELLO.decode()}


with Configurator() as config:
    config.add_route("json", "/json")
    config.add_view(message, route_name="json", renderer="json")
    config.add_route("page", "/*path")
    config.add_view(page, route_name="page")
    app = config.make_wsgi_app()
