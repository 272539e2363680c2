"""ETag and If-None-Match for every JSON answer of the API."""

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.cache import get_conditional_response

from backend.api.protocol.preconditions import tag_of
from backend.api.urls import is_api_path
from backend.middleware import Middleware


class ConditionalGet(Middleware):
    """The tag of an answer is the hash of its bytes, so an answer without a change has none new.

    A client that asks again with it is answered 304 without a body.
    """

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if not is_api_path(request.path) or not _has_tag(request, response):
            return response
        assert isinstance(response, HttpResponse)
        if "ETag" not in response.headers:
            response.headers["ETag"] = tag_of(response.content)
        answer = get_conditional_response(request, etag=response.headers["ETag"], response=response)
        return response if answer is None else answer


def _has_tag(request: HttpRequest, response: HttpResponseBase) -> bool:
    is_read = request.method in ("GET", "HEAD") and response.status_code == 200
    return is_read and isinstance(response, HttpResponse)
