"""Pages, tables and drawings whose texts hide nothing."""

from django.http import HttpRequest, HttpResponse, HttpResponseBase

from backend.middleware import Middleware
from backend.visible_text import visible

# What people read. JSON and Parquet are for programs, and raw output is as it was sent.
FOR_PEOPLE = ("text/html", "text/csv", "image/svg+xml")


class ShowUnseenCharacters(Middleware):
    """Shows a mark for each character of an answer that nobody would see (visible_text.py).

    Here and not where names are written: rows from before, and every new page, pass through here.
    """

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        kind = response.headers.get("Content-Type", "").partition(";")[0]
        if kind not in FOR_PEOPLE or not isinstance(response, HttpResponse):
            return response
        text = response.content.decode(response.charset)
        shown = visible(text, keeps_returns=kind == "text/html")
        if shown != text:
            response.content = shown
            if response.has_header("Content-Length"):
                response.headers["Content-Length"] = str(len(response.content))
        return response
