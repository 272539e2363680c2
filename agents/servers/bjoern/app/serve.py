"""The pages of the shelf on bjoern: serve.py PORT BACKLOG."""

import sys

import bjoern
from wsgi_app import application

bjoern.run(application, "127.0.0.1", int(sys.argv[1]), listen_backlog=int(sys.argv[2]))
