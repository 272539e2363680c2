"""Uploads are refused while a disk is short of room, and everything else goes on."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, HttpResponseBase

from backend.config.errors import outage_answer
from backend.disks import is_short
from backend.problems import STORAGE_FULL

Handler = Callable[[HttpRequest], HttpResponseBase]
# Names of the URLs that take raw files to keep, and how.
UPLOADS = {("upload-list", "POST"), ("part", "PUT"), ("new-upload", "POST")}


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
