"""The application on a Waitress without a command of its own: serve.py PORT BACKLOG."""

import sys

from waitress import serve
from wsgi_app import application

serve(
    application,
    host="127.0.0.1",
    port=int(sys.argv[1]),
    backlog=int(sys.argv[2]),
    threads=4,
    connection_limit=1000,
)
