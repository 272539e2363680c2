"""Links into the comparison in the one spelling of its query language, and links back."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.utils.http import url_has_allowed_host_and_scheme


def own_page(asked: str, otherwise: str) -> str:
    """`asked` where it is a path of this site: a link of ours leads to nobody else's page."""
    own = asked.startswith("/") and url_has_allowed_host_and_scheme(asked, allowed_hosts=None)
    return asked if own else otherwise


def compare_url(slug: str, **fields: Any) -> str:
    """The comparison page of a workspace; a field may hold one value or several, None is left out.

    Names and values are sorted and spelt as the browser's URLSearchParams spells them.
    """
    pairs = [
        (name.rstrip("_"), text)
        for name, value in fields.items()
        for text in sorted(map(str, value if isinstance(value, (list, tuple)) else [value]))
        if value is not None
    ]
    query = urlencode(sorted(pairs), safe="*").replace("~", "%7E")
    page = f"/w/{slug}/compare"
    return f"{page}?{query}" if query else page
