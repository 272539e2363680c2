"""Every address the service writes: the only module that turns the name of a route into a URL.

It stands below the packages, so that analysis, ingest and sharing can put links into their answers
without importing a page. Paths themselves stand in the `urls.py` files, templates use `{% url %}`.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import quote, urlencode, urlsplit
from uuid import UUID

from django.conf import settings
from django.http import Http404
from django.urls import ResolverMatch, resolve, reverse
from django.utils.http import url_has_allowed_host_and_scheme

_ANY_ID = UUID(int=0)
Query = str | Mapping[str, Any] | Iterable[tuple[str, str]]


def query_string(pairs: Iterable[tuple[str, str]]) -> str:
    """Names and values as the browser's URLSearchParams spells them: page and server agree on one
    spelling of a link."""
    return urlencode(list(pairs), safe="*").replace("~", "%7E")


def link_to(route: str, *args: object, query: Query = "", fragment: str = "") -> str:
    """The path of a named route. `query` is a query string, or the pairs it is made of.

    Raises NoReverseMatch for a route that does not exist.
    """
    path = reverse(route, args=[str(arg) for arg in args])
    if not isinstance(query, str):
        query = query_string(query.items() if isinstance(query, Mapping) else query)
    return path + (f"?{query}" if query else "") + (f"#{fragment}" if fragment else "")


def links_by_id(route: str) -> Callable[[UUID | str], str]:
    """`link_to` of a route that takes an id, for many ids: the route is looked up once."""
    before, _, after = link_to(route, _ANY_ID).partition(str(_ANY_ID))
    return lambda id_: f"{before}{id_}{after}"


def absolute(path: str) -> str:
    """The address people reach the path at."""
    return f"{settings.PUBLIC_URL}{path}"


def own_path(asked: str, otherwise: str) -> str:
    """`asked` where it is a path of this site, else `otherwise`: no link here leads elsewhere."""
    is_own = asked.startswith("/") and url_has_allowed_host_and_scheme(asked, allowed_hosts=None)
    return asked if is_own else otherwise


def route_at(address: str) -> ResolverMatch | None:
    """The route an absolute address of this service leads to; None for an address elsewhere."""
    base = settings.PUBLIC_URL
    if not address.startswith(f"{base}/"):
        return None
    try:
        return resolve(urlsplit(address).path.removeprefix(urlsplit(base).path))
    except (Http404, ValueError):
        return None


def compare_link(slug: str, **fields: Any) -> str:
    """The comparison of a workspace; a field may hold one value or several, None is left out.

    Values are sorted, as in the canonical query, so that equal views have equal links.
    """
    pairs = [
        (name.rstrip("_"), text)
        for name, value in fields.items()
        for text in sorted(map(str, value if isinstance(value, (list, tuple)) else [value]))
        if value is not None
    ]
    return link_to("compare-page", slug, query=sorted(pairs))


def comparison_link(slug: str, query: str) -> str:
    """The comparison of a canonical query; of everything, the address names the workspace.

    Without a query it would open the largest group, where everything is too much to compare.
    """
    return link_to("compare-page", slug, query=query or [("workspace", slug)])


def pair_link(slug: str, a: UUID | str, b: UUID | str) -> str:
    """Two runs, or two versions of a server, side by side; a is the baseline."""
    return link_to("compare-pair", slug, query=[("a", str(a)), ("b", str(b))])


def run_link(run_id: UUID | str) -> str:
    return link_to("run-page", run_id)


def trial_link(trial_id: UUID | str) -> str:
    return link_to("trial-page", trial_id)


def artefact_link(artefact_id: UUID | str) -> str:
    return link_to("artefact-page", artefact_id)


def session_link(slug: str, name: str) -> str:
    """The page of a session. Its name may hold slashes and more, so all of it is quoted."""
    return link_to("session-page", slug, "-").removesuffix("-") + quote(name, safe="")


def result_set_link(link: UUID, form: str = "page") -> str:
    """A result set as page, json, csv, png or svg."""
    return link_to(f"result-set-{form}", link)


def shared_run_link(link: UUID) -> str:
    """The page of a run for the readers of its link."""
    return link_to("shared-run-page", link)


@lru_cache(maxsize=256)  # an answer names the same few checks for each of its trials
def check_link(check_id: str) -> str:
    """The section of the documentation that explains a check."""
    return link_to("guide-page", "checks", fragment=check_id)
