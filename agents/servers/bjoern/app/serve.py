"""The pages of the shelf on bjoern: serve.py PORT BACKLOG."""

import sys

import bjoern
from wsgi_app import application

port, backlog = map(int, sys.argv[1:])
if hasattr(bjoern, "LISTEN_BACKLOG"):
    # Old versions have no argument for it.
    bjoern.LISTEN_BACKLOG = backlog
    bjoern.run(application, "127.0.0.1", port)
else:
    bjoern.run(application, "127.0.0.1", port, listen_backlog=backlog)
