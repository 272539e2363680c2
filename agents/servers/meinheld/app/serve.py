"""The pages of the shelf on meinheld: serve.py PORT BACKLOG."""

import sys

from meinheld import server
from wsgi_app import application

server.set_backlog(int(sys.argv[2]))
server.set_access_logger(None)
server.listen(("127.0.0.1", int(sys.argv[1])))
server.run(application)
