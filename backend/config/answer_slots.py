"""Gives back what a large answer took, once it is written."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase

from backend.analysis.loading.viewer_slots import giving_slots_back

Handler = Callable[[HttpRequest], HttpResponseBase]


class GiveSlotsBack:
    """Ends the slot of an answer when its bytes are there, also where the view raised.

    Outside of what hashes the bytes. Sending them takes no slot: Waitress keeps what a slow reader
    has not taken.
    """

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        with giving_slots_back():
            return self.get_response(request)
