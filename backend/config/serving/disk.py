"""Uploads are refused while a disk is short of room, and everything else goes on."""

from django.http import HttpRequest, HttpResponse

from backend.config.serving.errors import outage_answer
from backend.disks import is_short
from backend.middleware import Middleware
from backend.problems import STORAGE_FULL

# Names of the URLs that take raw files to keep, and how.
UPLOADS = {("upload-list", "POST"), ("part", "PUT"), ("new-upload", "POST")}


class RefuseUploadsOnShortDisk(Middleware):
    """507 for uploads, before anything is kept of them."""

    def process_view(self, request: HttpRequest, *_: object) -> HttpResponse | None:
        """An answer in the place of the view's, or None."""
        match = request.resolver_match
        if match is None or (match.url_name, request.method) not in UPLOADS or not is_short():
            return None
        return outage_answer(request, STORAGE_FULL)
