"""Is the process alive; is it ready to receive."""

import shutil

from django.conf import settings
from django.db import Error, connection
from django.http import HttpRequest, HttpResponse

LEAST_FREE_SHARE = 0.02


def livez(_: HttpRequest) -> HttpResponse:
    """The process answers."""
    return HttpResponse("alive\n", content_type="text/plain")


def readyz(_: HttpRequest) -> HttpResponse:
    """The database answers and there is room for artefacts."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except Error:
        return _not_ready("the database does not answer")
    if settings.S3_BUCKET:
        return HttpResponse("ready\n", content_type="text/plain")
    try:
        settings.DATA_DIR.mkdir(parents=True, exist_ok=True)
        usage = shutil.disk_usage(settings.DATA_DIR)
    except OSError as error:
        return _not_ready(f"DATA_DIR cannot be used: {error.strerror}")
    if usage.free < usage.total * LEAST_FREE_SHARE:
        return _not_ready(f"the disk of DATA_DIR has {usage.free >> 20} MiB free")
    return HttpResponse("ready\n", content_type="text/plain")


def _not_ready(reason: str) -> HttpResponse:
    return HttpResponse(f"not ready: {reason}\n", status=503, content_type="text/plain")
