"""The pages of the shelf as a WSGI application of Django, for mod_wsgi."""

import sys

import pages
from django.conf import settings

sys.modules["application"] = sys.modules[__name__]
settings.configure(ROOT_URLCONF="application", SECRET_KEY="no secret", ALLOWED_HOSTS=["*"])

from django.core.wsgi import get_wsgi_application
from django.http import HttpResponse, JsonResponse
from django.urls import re_path


def message(request):
    return JsonResponse({"message": pages.HELLO.decode()})


def page(request):
    status, kind, body = pages.find_page(request.path)
    return HttpResponse(body, status=status, content_type=kind)


urlpatterns = [re_path(r"^json$", message), re_path(r"", page)]
application = get_wsgi_application()
