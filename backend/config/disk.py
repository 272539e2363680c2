"""Room on the disk of DATA_DIR. Below a limit uploads are refused, and everything else goes on.

The limit lies well before a full disk: what is left is for the database, which shares the disk in
most installations and stops when it cannot write.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase

from backend.config.errors import outage_answer
from backend.problems import STORAGE_FULL

Handler = Callable[[HttpRequest], HttpResponseBase]
# Names of the URLs that take raw files to keep, and how.
UPLOADS = {("upload-list", "POST"), ("part", "PUT"), ("new-upload", "POST")}


@dataclass(frozen=True, slots=True)
class Room:
    """Bytes on the disk of DATA_DIR."""

    free: int
    least: int

    @property
    def is_short(self) -> bool:
        """Whether uploads are refused."""
        return self.free < self.least

    @property
    def sentence(self) -> str:
        return (
            f"the disk of DATA_DIR has {self.free >> 20} MiB free, less than {self.least >> 20} "
            "MiB: uploads are refused"
        )


def room() -> Room:
    """Raises OSError."""
    usage = shutil.disk_usage(settings.DATA_DIR)
    share = usage.total * settings.LEAST_FREE_PERCENT // 100
    return Room(usage.free, max(share, settings.LEAST_FREE_BYTES))


def is_short() -> bool:
    """False where artefacts are in a bucket, and where the disk cannot be asked."""
    if settings.S3_BUCKET:
        return False
    try:
        return room().is_short
    except OSError:
        return False


class RefuseUploadsOnShortDisk:
    """507 for uploads, before anything is kept of them."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, *_: object) -> HttpResponse | None:
        """An answer in the place of the view's, or None."""
        match = request.resolver_match
        if match is None or (match.url_name, request.method) not in UPLOADS or not is_short():
            return None
        return outage_answer(request, STORAGE_FULL)
