"""Gives back what a large answer took, once it is written."""

from django.http import HttpRequest, HttpResponseBase
from rest_framework.response import Response

from backend.analysis.loading.viewer_slots import giving_slots_back
from backend.middleware import Middleware


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
