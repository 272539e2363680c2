"""Grouping cells into series and points; names of the panels that labels of runs divide."""

import dataclasses
import hashlib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from msgspec.structs import replace

from backend.analysis.grouping.grouping import Grouping, SeriesGroup
from backend.analysis.grouping.series_labels import held_load, label_series, run_text, series_name
from backend.analysis.query.field import Value, natural, ordered, reader_of, text_of, value_of
from backend.analysis.query.fields import FIELDS, OF_PART, PARTS
from backend.analysis.query.records import LoadedCell

MAX_SERIES = 40
MAX_POINTS = 60
Label = tuple[str, str]


def group_cells(
    cells: Sequence[LoadedCell], grouping: Grouping
) -> tuple[list[SeriesGroup], list[str]]:
    """Every series, and sentences on what is left out. `fill_groups` ends it."""
    place_of = reader_of(FIELDS[grouping.x])
    kinds = _kinds_of_series(cells, grouping)
    reads = [PARTS[part] for part in grouping.parts if OF_PART[part].level != "series"]
    grouped: dict[tuple[object, ...], dict[Value, list[LoadedCell]]] = {}
    without_place = 0
    for cell in cells:
        place = place_of(cell)
        if place is None:
            without_place += 1
            continue
        key = (kinds[cell.series.id.int], _panel(grouping, cell), *[read(cell) for read in reads])
        grouped.setdefault(key, defaultdict(list))[place].append(cell)
    left_out = _left_out(list(grouped.values()), without_place, grouping)
    groups = sorted((_group(points, grouping) for points in grouped.values()), key=_order)
    return name_label_panels(groups) if grouping.facet == "label" else groups, left_out


def _kinds_of_series(cells: Sequence[LoadedCell], grouping: Grouping) -> dict[int, int]:
    """A number for each series of the cells, the same where their workspace and all parts are.

    Many cells are of one series: its parts are read once.
    """
    reads = [PARTS[part] for part in grouping.parts if OF_PART[part].level == "series"]
    kinds: dict[tuple[object, ...], int] = {}
    # By integers: a UUID takes a call to be hashed.
    cell_by_series = {cell.series.id.int: cell for cell in cells}
    return {
        id_: kinds.setdefault(
            (cell.series.workspace_id, *[read(cell) for read in reads]), len(kinds)
        )
        for id_, cell in cell_by_series.items()
    }


def fill_groups(
    groups: Iterable[SeriesGroup], cells: Iterable[LoadedCell], grouping: Grouping
) -> list[SeriesGroup]:
    """The series with `cells`, which have trials, in place of their own, labelled and in order.

    Cells that are not among `cells`, and points and series without any, drop out.
    """
    # By integers: a UUID takes a call to be hashed.
    by_id = {cell.id.int: cell for cell in cells}
    filled = []
    for group in groups:
        points = {
            place: measured
            for place, own in group.points.items()
            if (measured := tuple([by_id[cell.id.int] for cell in own if cell.id.int in by_id]))
        }
        if points:
            # Panels keep their names: all series of the question decided on them.
            filled.append(dataclasses.replace(_group(points, grouping), panel=group.panel))
    # Once more by the labels, which tell series of one name apart: the first one is the baseline.
    return sorted(label_series(sorted(filled, key=_order), grouping), key=_order)


def group_by_name(cells: Iterable[LoadedCell], grouping: Grouping) -> list[SeriesGroup]:
    """The series of these cells with their labels; places on the axis do not count."""
    reads = [PARTS[part] for part in grouping.parts]
    by_series: dict[tuple[object, ...], list[LoadedCell]] = defaultdict(list)
    for cell in cells:
        by_series[(cell.series.workspace_id, *(read(cell) for read in reads))].append(cell)
    return label_series([_group({"": same}, grouping) for same in by_series.values()], grouping)


def find_series_name(cells: Iterable[LoadedCell], grouping: Grouping, series: str) -> str | None:
    """The name of the series with the id `series` among these cells; None if it has none."""
    named = (cell for cell in cells if _id(cell, grouping) == series)
    first = next(named, None)
    return None if first is None else series_name(first, grouping)


def _left_out(
    series: Sequence[Mapping[Value, object]], without_place: int, grouping: Grouping
) -> list[str]:
    sentences = []
    if without_place:
        noun = FIELDS[grouping.x].noun
        points = "1 load point has" if without_place == 1 else f"{without_place:,} load points have"
        sentences.append(f"{points} no known {noun}")
    if len(series) > MAX_SERIES:
        count = len(series)
        sentences.append(f"the best {MAX_SERIES} of {count:,} series are compared; add a filter")
    if any(len(points) > MAX_POINTS for points in series):
        sentences.append(f"the first {MAX_POINTS} points of a series are shown")
    return sentences


def _panel(grouping: Grouping, cell: LoadedCell) -> str | None:
    if grouping.facet is None:
        return None
    value = value_of(FIELDS[grouping.facet], cell)
    return "unknown" if value is None else text_of(value)


def _order(group: SeriesGroup) -> tuple[object, ...]:
    server, held = group.first.server, natural(group.held or "")
    return (
        natural(group.panel or ""),
        server.name.lower(),
        natural(server.version or ""),
        held,
        natural(group.label),
        group.id,
    )


def _group(points: Mapping[Value, Sequence[LoadedCell]], grouping: Grouping) -> SeriesGroup:
    shown = {place: tuple(points[place]) for place in ordered(points)[:MAX_POINTS]}
    first = next(iter(shown.values()))[0]
    return SeriesGroup(
        id=_id(first, grouping),
        label=series_name(first, grouping),
        held=held_load(first, grouping),
        of_run=run_text(first, grouping),
        panel=_panel(grouping, first),
        points=shown,
    )


def _parts_of_whole(whole: str) -> frozenset[str]:
    return frozenset(field.identity for field in FIELDS.values() if field.of == whole)


# What a server and a workload are whole: named by their ids, which outlive their names.
_WHOLE: dict[str, tuple[frozenset[str], Callable[[LoadedCell], object]]] = {
    "server": (_parts_of_whole("server"), lambda cell: cell.server.id),
    "workload": (_parts_of_whole("workload"), lambda cell: cell.workload.id),
}


def _id(cell: LoadedCell, grouping: Grouping) -> str:
    """Eight hexadecimal digits, the same as long as what makes the series is the same."""
    cell = _as_first_named(cell)
    parts = set(grouping.parts)
    named = {"workspace": str(cell.series.workspace_id), "panel": _panel(grouping, cell)}
    for name, (whole, read) in _WHOLE.items():
        if whole <= parts:
            parts -= whole
            named[name] = str(read(cell))
    named |= {part: str(PARTS[part](cell)) for part in parts}
    return hashlib.sha256(repr(sorted(named.items())).encode()).hexdigest()[:8]


def _as_first_named(cell: LoadedCell) -> LoadedCell:
    """The cell with its original names, so that a baseline in a link outlives a renaming."""
    named = {
        part: replace(thing, name=thing.first_name)
        for part in ("server", "workload", "server_host", "client_host")
        if (thing := getattr(cell.series, part)) is not None and thing.first_name is not None
    }
    return replace(cell, series=replace(cell.series, **named)) if named else cell


def name_label_panels(groups: Sequence[SeriesGroup]) -> list[SeriesGroup]:
    """The series, each under the labels that not all of their runs share.

    Where one key tells the panels apart and its values are phrases, the value alone is the name.
    Panels that have no such label keep their name; all do where two would have one name.
    """
    own = _labels_of_their_own([group.first.run.labels.items() for group in groups])
    are_phrases = _are_phrases_of_one_key({label for each in own for label in each})
    names = {
        group.panel: _text(labels, are_phrases=are_phrases) or group.panel
        for group, labels in zip(groups, own, strict=True)
    }
    if len(set(names.values())) < len(names):
        return list(groups)
    return [dataclasses.replace(group, panel=names[group.panel]) for group in groups]


def _labels_of_their_own(all_labels: Sequence[Collection[Label]]) -> list[list[Label]]:
    shared = set(all_labels[0]).intersection(*all_labels) if all_labels else set()
    return [sorted(set(labels) - shared) for labels in all_labels]


def _are_phrases_of_one_key(labels: Collection[Label]) -> bool:
    return len({key for key, _ in labels}) == 1 and all(" " in text for _, text in labels)


def _text(labels: Sequence[Label], *, are_phrases: bool) -> str:
    return ", ".join(text if are_phrases else f"{key}:{text}" for key, text in labels)
