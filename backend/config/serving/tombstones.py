"""Tombstones at every address of a workspace that the staff took down."""

from django.http import HttpRequest, HttpResponseBase

from backend.api.protocol.errors import problem_handler
from backend.api.urls import is_api_path
from backend.middleware import Middleware
from backend.web.base.tombstones import find_tombstone, tombstone


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
