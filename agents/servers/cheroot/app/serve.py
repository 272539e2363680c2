"""The pages of the shelf on the WSGI server of CherryPy: serve.py PORT BACKLOG THREADS."""

import sys

from cheroot.wsgi import Server
from wsgi_app import application

port, backlog, threads = map(int, sys.argv[1:4])
server = Server(
    ("127.0.0.1", port), application, numthreads=threads, request_queue_size=backlog
)
server.safe_start()
