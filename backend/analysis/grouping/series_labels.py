"""Naming series so that no two read the same, and no name is longer than needed."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from backend.analysis.grouping.grouping import Grouping, SeriesGroup
from backend.analysis.query.field import LAST, Field, text_of, value_of
from backend.analysis.query.fields import COVERS, FIELDS, LOADS, OF_PART, RUN_PARTS
from backend.analysis.query.records import LoadedCell, LoadedHost
from backend.analysis.query.units import load_text

# The parts of which one must make the series, or none; and the text.
_Distinction = tuple[frozenset[str], Callable[[SeriesGroup], str]]
EVERYTHING = "everything"


def held_load(cell: LoadedCell, grouping: Grouping) -> str | None:
    """The loads that are not on the axis, where they are part of what makes a series."""
    texts = [
        _text(FIELDS[name], cell)
        for name, column in LOADS.items()
        if name in grouping.parts and getattr(cell, column) is not None
    ]
    return ", ".join(texts) or None


def run_text(cell: LoadedCell, grouping: Grouping) -> str | None:
    """The labels and the time of the runs, where they are part of what makes a series."""
    parts = [part for part in RUN_PARTS if part in grouping.parts]
    fields = sorted((OF_PART[part] for part in parts), key=lambda field: field.name_rank or 0)
    return ", ".join(_text(field, cell) for field in fields) or None


def series_name(cell: LoadedCell, grouping: Grouping) -> str:
    """What a series is called unless another is called the same: the server, where it has one."""
    if "name" in grouping.parts:
        return cell.server.label if "version" in grouping.parts else cell.server.name
    texts = (_text(field, cell) for field in _NAMING if field.identity in grouping.parts)
    return next((text for text in texts if text), EVERYTHING)


def _text(field: Field, cell: LoadedCell) -> str:
    """A value of a field as it names a series; empty if it is unknown."""
    if field.text is not None:
        return field.text(cell)
    value = value_of(field, cell)
    if field.id in LOADS:
        return load_text(float(value or 0), field.id)
    return "" if value is None else text_of(value)


def _ranked(rank: Callable[[Field], int | None]) -> list[tuple[int, Field]]:
    """The fields that have the rank, in its order."""
    ranked = [(place, field) for field in FIELDS.values() if (place := rank(field)) is not None]
    return sorted(ranked, key=lambda pair: pair[0])


_OF_SERVER = frozenset(field.identity for field in FIELDS.values() if field.of == "server")
_SETTINGS = frozenset({FIELDS["configuration"].identity})
_NAMING = [field for _, field in _ranked(lambda field: field.name_rank)]


def label_series(groups: Sequence[SeriesGroup], grouping: Grouping) -> list[SeriesGroup]:
    """Groups with labels that differ: each ambiguous one names what distinguishes it."""
    by_label: dict[tuple[str | None, str], list[SeriesGroup]] = defaultdict(list)
    for group in (groups := _with_server(groups, grouping)):
        by_label[(group.panel, group.label)].append(group)
    labels: dict[str, str] = {}
    for namesakes in by_label.values():
        texts = _distinctions(namesakes, grouping)
        for group, text in zip(namesakes, texts, strict=True):
            labels[group.id] = f"{group.label} ({text})" if text else group.label
    return [replace(group, label=labels[group.id]) for group in groups]


def _with_server(groups: Sequence[SeriesGroup], grouping: Grouping) -> Sequence[SeriesGroup]:
    """Series that versions or settings of one server make, called after the server first.

    `2.8` alone would not say of what. Where servers lie on the axis, their names stand there.
    """
    if "name" in grouping.parts or "name" in COVERS[grouping.x]:
        return groups
    servers = {cell.server.name for group in groups for cell in group.cells()}
    if len(servers) != 1 or _OF_SERVER.isdisjoint(grouping.parts):
        return groups
    (server,) = servers
    return [replace(group, label=_joined(server, group.label)) for group in groups]


def _joined(server: str, label: str) -> str:
    return server if label == EVERYTHING else f"{server} {label}"


def _distinctions(namesakes: Sequence[SeriesGroup], grouping: Grouping) -> list[str]:
    """For each series what distinguishes it from the others of its name, and no more."""
    chosen: list[tuple[str, ...]] = [() for _ in namesakes]
    for texts in _candidates(namesakes, grouping):
        if len(set(chosen)) == len(namesakes):
            break
        longer = [(*own, text) for own, text in zip(chosen, texts, strict=True)]
        if len(set(longer)) > len(set(chosen)):
            chosen = longer
    return [", ".join(filter(None, own)) for own in chosen]


def _candidates(namesakes: Sequence[SeriesGroup], grouping: Grouping) -> Iterable[list[str]]:
    """What each may be called after, the most telling first: only what makes the series."""
    for parts, read in _DISTINCTIONS:
        if parts == _SETTINGS and not parts.isdisjoint(grouping.parts):
            yield _own_settings(namesakes)
        elif not parts or not parts.isdisjoint(grouping.parts):
            yield [read(group) for group in namesakes]


def _own_settings(namesakes: Sequence[SeriesGroup]) -> list[str]:
    """The settings of each server that not all of them have."""
    settings = [group.first.server.settings for group in namesakes]
    shared = set(settings[0]).intersection(*settings)
    return [" ".join(text for text in own if text not in shared) for own in settings]


def _distinction(field: Field) -> _Distinction:
    def read(group: SeriesGroup) -> str:
        text = _text(field, group.first)
        return field.apart.format(text) if text else ""

    return frozenset({field.identity}), read


def _kernel(host: LoadedHost | None) -> str:
    return "" if host is None else host.kernel or ""


# What tells series of one name apart beside the fields, by rank among them.
_DETAILS: tuple[tuple[int, _Distinction], ...] = (
    (20, (frozenset(RUN_PARTS), lambda group: group.of_run or "")),
    (45, (frozenset({"workload"}), lambda group: group.first.workload.path or "")),
    (90, (frozenset(LOADS), lambda group: "" if group.held is None else f"at {group.held}")),
    (140, (frozenset({"server_host"}), lambda group: _kernel(group.first.series.server_host))),
    (
        150,
        (
            frozenset({"client_host"}),
            lambda group: f"client {_kernel(group.first.series.client_host)}",
        ),
    ),
    (LAST + 1, (frozenset(), lambda group: group.first.run.workspace)),
    (LAST + 2, (frozenset(), lambda group: f"series {group.id}")),
)


def _distinctions_in_order() -> list[_Distinction]:
    of_fields = _ranked(lambda field: field.apart_rank if field.level == "series" else None)
    ranked = [*((rank, _distinction(field)) for rank, field in of_fields), *_DETAILS]
    return [distinction for _, distinction in sorted(ranked, key=lambda pair: pair[0])]


_DISTINCTIONS = _distinctions_in_order()
