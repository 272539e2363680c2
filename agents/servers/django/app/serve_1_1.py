"""The pages of the shelf through the development server of Django 1.1: serve_1_1.py PORT."""

import sys

import pages
from django.conf import settings

settings.configure(ROOT_URLCONF=__name__, SECRET_KEY="no secret")

from django.conf.urls.defaults import patterns
from django.core.handlers.wsgi import WSGIHandler
from django.core.servers.basehttp import run
from django.http import HttpResponse


def page(request):
    status, kind, body = pages.find_page(request.path)
    return HttpResponse(body, status=status, content_type=kind)


urlpatterns = patterns("", (r"", page))
run("127.0.0.1", int(sys.argv[1]), WSGIHandler())
