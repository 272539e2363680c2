"""The pages of the shelf on gevent's WSGI server: serve.py PORT BACKLOG."""

import sys

from gevent import pywsgi
from wsgi_app import application

address = ("127.0.0.1", int(sys.argv[1]))
pywsgi.WSGIServer(address, application, backlog=int(sys.argv[2]), log=None).serve_forever()
