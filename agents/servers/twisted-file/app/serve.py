"""The pages of the shelf as files, through Twisted Web: serve.py PORT BACKLOG FOLDER."""

import sys

from twisted.internet import epollreactor

epollreactor.install()

from twisted.internet import reactor
from twisted.web import server, static

files = static.File(sys.argv[3], defaultType="text/plain")
files.indexNames = ["hello.txt"]
site = server.Site(files)
# Its access log is written for each request otherwise.
site.log = lambda request: None
reactor.listenTCP(int(sys.argv[1]), site, int(sys.argv[2]), "127.0.0.1")
reactor.run()
