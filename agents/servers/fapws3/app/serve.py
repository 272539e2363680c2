"""The pages of the shelf on fapws3: serve.py PORT."""

import sys

import fapws._evwsgi as evwsgi
from fapws import base
from wsgi_app import application

evwsgi.start("127.0.0.1", sys.argv[1])
evwsgi.set_base_module(base)
evwsgi.wsgi_cb(("", application))
evwsgi.set_debug(0)
evwsgi.run()
