"""What everybody finds by name: studies, servers of the library, and what members made public."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from django.http import HttpRequest

from backend.accounts.models import Workspace
from backend.library.loading import SLUG as LIBRARY
from backend.library.shelf import read_shelf
from backend.library.study import read_studies
from backend.links import link_to
from backend.sharing.directory import directory_page
from backend.web.search.search_results import Searched, find_named, result

# What the group is called.
PUBLIC = "Public"
# Of each kind.
MOST = 4
# The kinds of the directory, as a result is called.
_KINDS = {"result-sets": "result set", "runs": "run", "workspaces": "workspace"}


def with_public(
    request: HttpRequest, results: Sequence[dict[str, Any]], asked: str
) -> list[dict[str, Any]]:
    """`results`, and behind them in a group of its own what is public and not among them; nothing
    more where nothing is asked."""
    if not asked:
        return list(results)
    by_url = {each["url"]: each for each in results}
    for each in _public(request, asked):
        by_url.setdefault(each["url"], {**each, "group": PUBLIC})
    return list(by_url.values())


def _public(request: HttpRequest, asked: str) -> Iterator[dict[str, Any]]:
    yield from islice(_studies(asked), MOST)
    yield from islice(_shelved_servers(asked), MOST)
    library = Workspace.objects.public().filter(slug=LIBRARY)
    yield from find_named(request, Searched(list(library), names_workspaces=True), asked)
    for kind, noun in _KINDS.items():
        for entry in directory_page(kind, asked, limit=MOST).rows:
            yield result(noun, entry.title, entry.workspace or "", entry.url)


def _studies(asked: str) -> Iterator[dict[str, Any]]:
    for study in read_studies():
        if asked.lower() in f"{study.title} {study.author} {study.source}".lower():
            url = f"{link_to('library')}#{study.name}"
            yield result("study", study.title, f"{study.author}, {study.published[:4]}", url)


def _shelved_servers(asked: str) -> Iterator[dict[str, Any]]:
    for server in read_shelf():
        if asked.lower() in server.name.lower():
            url = link_to("library-server", server.slug)
            yield result("server", server.name, "Library of published benchmarks", url)
