"""Replaces former names in a query with current ones, so that old links keep their meaning."""

from collections.abc import Sequence
from dataclasses import replace

from backend.analysis.loading.series_cache import Catalogue
from backend.analysis.query.compare_query import CompareQuery
from backend.analysis.query.fields import FIELDS
from backend.runs.models import FormerName

Kind = FormerName.Kind
# The fields whose values are names, with what is called so.
NAMED = {"server": Kind.SERVER, "host": Kind.HOST, "client": Kind.HOST, "workload": Kind.WORKLOAD}


def replace_former_names(query: CompareQuery, catalogues: Sequence[Catalogue]) -> CompareQuery:
    """`query` with the current names of what it names by slugs or by former names.

    A value that something else is spelled like stays beside them; so does an id, which means one
    of several things that may have a name.
    """
    filters = {
        name: {current for value in values for current in _current(catalogues, name, value)}
        for name in NAMED
        if (values := query.wanted(name))
    }
    query = query.with_filters(**filters)
    if query.at is None or query.x not in NAMED:
        return query
    places = _current(catalogues, query.x, query.at)
    return query if query.at in places else replace(query, at=min(places))


def _current(catalogues: Sequence[Catalogue], name: str, value: str) -> set[str]:
    """What `value` of a field means now; itself where nothing is or was called so."""
    names: set[str] = set()
    for catalogue in catalogues:
        own = catalogue.called(FIELDS[name], value)
        # A full name is not also read as the slug of another name.
        names |= own if value in own else own | catalogue.names.current(NAMED[name], value)
    return names or {value}
