"""The pages of the shelf on Eventlet's WSGI server: serve.py PORT BACKLOG."""

import sys

import eventlet
from eventlet import wsgi
from wsgi_app import application

listener = eventlet.listen(("127.0.0.1", int(sys.argv[1])), backlog=int(sys.argv[2]))
wsgi.server(listener, application, log_output=False)
