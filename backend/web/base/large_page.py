"""Pages of thousands of rows, written with little more memory than their bytes."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

# In the context: the list of parts. Stands for a part in the page: no text in the database has it.
PARTS = "parts_of_page"
MARK = "\0"


def render_large(request: HttpRequest, template: str, context: Mapping[str, Any]) -> HttpResponse:
    """As `render` of Django; what stands in `{% part %}` is written by itself."""
    parts: list[bytes] = []
    page = render_to_string(template, {**context, PARTS: parts}, request)
    return HttpResponse(_joined(page.split(MARK), parts))


def _joined(between: Sequence[str], parts: Sequence[bytes]) -> Iterator[bytes]:
    """The texts between the parts and the parts, in turn. Raises ValueError for a lost part."""
    yield between[0].encode()
    for part, text in zip(parts, between[1:], strict=True):
        yield part
        yield text.encode()
