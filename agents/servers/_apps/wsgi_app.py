"""The pages of the shelf as a WSGI application, for Python 2.6 to 3."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from pages import find_page

REASONS = {200: "200 OK", 404: "404 Not Found"}


def find_application():
    """The pages, or with SHELF_APPLICATION=rest the application of the study of 2016."""
    if os.environ.get("SHELF_APPLICATION") == "rest":
        from rest_app import app

        return app
    return answer_pages


def answer_pages(environ, start_response):
    """Reads the whole request body before it answers."""
    length = environ.get("CONTENT_LENGTH") or "0"
    environ["wsgi.input"].read(int(length))
    status, kind, body = find_page(environ.get("PATH_INFO", "/") or "/")
    headers = [("Content-Type", kind), ("Content-Length", str(len(body)))]
    start_response(REASONS[status], headers)
    return [body]


application = find_application()
