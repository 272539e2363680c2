"""What is done around each request, whether of a page or of the API.

It is counted and gets an id; headers are set that Django's own middleware does not set; uploads are
refused while a disk is short of room; what a large answer took is given back; and a workspace that
the staff took down has tombstones at all its addresses.
"""

import re
import time
import uuid

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from rest_framework.response import Response

from backend import counters, log_context
from backend.analysis.loading.viewer_slots import giving_slots_back
from backend.api.protocol.errors import problem_handler
from backend.api.urls import is_api_path
from backend.config.serving.errors import outage_answer
from backend.disks import is_short
from backend.middleware import Middleware
from backend.problems import STORAGE_FULL
from backend.web.base.tombstones import find_tombstone, tombstone

HEADER = "X-Request-Id"
# What a proxy may have given; everything else is replaced.
_GIVEN = re.compile(r"[A-Za-z0-9_.-]{8,64}")
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
# The pages use none of these; nor may a page that they are framed in lend them.
PERMISSIONS = ", ".join(
    f"{feature}=()"
    for feature in (
        "accelerometer",
        "camera",
        "display-capture",
        "geolocation",
        "gyroscope",
        "magnetometer",
        "microphone",
        "midi",
        "payment",
        "usb",
    )
)
# Shared result sets are made to be shown on other sites; each still checks who may see it.
SHOWN_ELSEWHERE = {"embed", "oembed", "result-set-png", "result-set-svg"}
# Names of the URLs that take raw files to keep, and how.
UPLOADS = {("upload-list", "POST"), ("part", "PUT"), ("new-upload", "POST")}


class MeasureRequests(Middleware):
    """The outermost middleware of ours: it sees every request."""

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        started = time.perf_counter()
        given = request.headers.get(HEADER, "")
        request_id = given if _GIVEN.fullmatch(given) else uuid.uuid4().hex
        with log_context.bound(request_id=request_id):
            response = self.get_response(request)
        response.headers[HEADER] = request_id
        method = request.method if request.method in METHODS else "other"
        counters.count("requests", _route_of(request), str(method), str(response.status_code))
        kind = "api" if is_api_path(request.path) else "page"
        counters.observe("request_seconds", time.perf_counter() - started, kind)
        return response

    def process_view(self, request: HttpRequest, *_: object) -> None:
        """Name the workspace of the address in the log."""
        slug = request.resolver_match.kwargs.get("slug") if request.resolver_match else None
        if slug is not None and request.path.startswith("/w/"):
            log_context.add(workspace=str(slug))


def _route_of(request: HttpRequest) -> str:
    """The name of the route: few, where paths are many."""
    match = request.resolver_match
    return (match.url_name or "unnamed") if match is not None else "none"


class PolicyHeaders(Middleware):
    """`Permissions-Policy`, `Cross-Origin-Resource-Policy`, and `X-Robots-Tag` without INDEXING."""

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        match = request.resolver_match
        is_shown_elsewhere = match is not None and match.url_name in SHOWN_ELSEWHERE
        policy = "cross-origin" if is_shown_elsewhere else "same-origin"
        response.headers.setdefault("Cross-Origin-Resource-Policy", policy)
        response.headers.setdefault("Permissions-Policy", PERMISSIONS)
        if not settings.INDEXING:
            response.headers.setdefault("X-Robots-Tag", "noindex")
        return response


class RefuseUploadsOnShortDisk(Middleware):
    """507 for uploads, before anything is kept of them."""

    def process_view(self, request: HttpRequest, *_: object) -> HttpResponse | None:
        """An answer in the place of the view's, or None."""
        match = request.resolver_match
        if match is None or (match.url_name, request.method) not in UPLOADS or not is_short():
            return None
        return outage_answer(request, STORAGE_FULL)


class GiveSlotsBack(Middleware):
    """Ends the slot of an answer when its bytes are there, also where the view raised.

    Outside of what hashes the bytes. Sending them takes no slot: `asgi` keeps what a slow reader
    has not taken.
    """

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        with giving_slots_back():
            response = self.get_response(request)
            if isinstance(response, Response):
                cut_circles(response)
            return response


def cut_circles(response: Response) -> None:
    """Cut the circles in which Django REST framework holds a response, its view and its request.

    A circle stays until the garbage collector comes to the oldest objects, after dozens of large
    answers: of a run of 5,000 trials, each left its data and 14 MB of JSON.
    """
    # Only a view sets the context.
    context = getattr(response, "renderer_context", {})
    if view := context.pop("view", None):
        view.request = view.response = None
    context.clear()
    response.data = None


class ShowTombstones(Middleware):
    """Says why a page or an answer of the API is not found, where its workspace was taken down.

    That it is not found is decided elsewhere (`Workspaces.public`), so an address that is forgotten
    here answers 404.
    """

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        # Of a token that is refused, nothing more is looked up.
        is_asked = response.status_code == 401 and "HTTP_AUTHORIZATION" not in request.META
        is_missing = request.method in ("GET", "HEAD") and (is_asked or response.status_code == 404)
        error = find_tombstone(request) if is_missing and request.resolver_match else None
        if error is None:
            return response
        if is_api_path(request.path):
            answer = problem_handler(error, {})
            assert answer is not None
            return answer
        return tombstone(request, error)
