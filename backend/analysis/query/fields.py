"""The fields by what they can do, from their one table."""

from collections.abc import Callable

from backend.analysis.query.field import Field, identity_of
from backend.analysis.query.field_table import TABLE
from backend.analysis.query.records import LoadedCell

FIELDS = {field.id: field for field in TABLE}
FILTERS = tuple(field.id for field in TABLE if field.is_filter)
# What may make a series, or divide a chart into panels.
GROUPING = tuple(field.id for field in TABLE if field.is_axis)
# The loads as columns of a cell.
LOADS = {field.id: field.column for field in TABLE if field.level == "load"}
AXES = (*LOADS, *(name for name in GROUPING if name not in LOADS))

# The parts that make a series together; each is what two results must share to be of one.
IDENTITY: dict[str, Callable[[LoadedCell], object]] = {
    field.identity: identity_of(field) for field in TABLE if field.is_identity
}
# What a run adds where a link asks for it: when something was measured, and how its run is
# labelled, is no part of what was measured.
RUN_PARTS: dict[str, Callable[[LoadedCell], object]] = {
    field.identity: identity_of(field) for field in TABLE if field.is_axis and field.level == "run"
}
PARTS = {**IDENTITY, **RUN_PARTS}
# The fields by the parts of the identity.
OF_PART = {field.identity: field for field in TABLE if field.identity in PARTS}


def _covers(axis: Field) -> frozenset[str]:
    fields = (field for field in TABLE if field is axis or axis.id in field.along)
    return frozenset(field.identity for field in fields)


# By axis, the parts of the identity that differ along with it, and so make no series there.
COVERS = {name: _covers(FIELDS[name]) for name in GROUPING}


def parts_of(name: str) -> tuple[str, ...]:
    """The parts of the identity that a field makes differ where a link names it."""
    field = FIELDS[name]
    return (field.identity, *(FIELDS[other].identity for other in field.splits))


def page_fields() -> dict[str, list[tuple[str, str]]]:
    """What the page offers: ids and names of the filters, the axes, and what makes series."""

    def named(ids: tuple[str, ...]) -> list[tuple[str, str]]:
        return [(id_, FIELDS[id_].name) for id_ in ids]

    return {"filters": named(FILTERS), "axes": named(AXES), "grouping": named(GROUPING)}
