"""The pages of the shelf through Django's development server: serve.py PORT."""

import sys

import pages
from django.conf import settings

settings.configure(ROOT_URLCONF=__name__, SECRET_KEY="no secret", ALLOWED_HOSTS=["*"])

import django
from django.core.servers.basehttp import run
from django.core.wsgi import get_wsgi_application
from django.http import HttpResponse, JsonResponse
from django.urls import re_path


def message(request):
    return JsonResponse({"message": pages.HELLO.decode()})


def page(request):
    status, kind, body = pages.find_page(request.path)
    return HttpResponse(body, status=status, content_type=kind)


urlpatterns = [re_path(r"^json$", message), re_path(r"", page)]
django.setup()
run("127.0.0.1", int(sys.argv[1]), get_wsgi_application(), threading=True)
