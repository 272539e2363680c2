"""The newest version of a server and the version before, where both were measured alike."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple
from uuid import UUID

from backend.analysis.pages.workspace_cells import (
    CellSummary,
    Conditions,
    Query,
    Variant,
    WorkspaceCells,
    sets_by_key,
)
from backend.analysis.query.compare_query import MAX_LENGTH, MAX_VALUES
from backend.analysis.query.field import UNKNOWN, natural, number_text


class _Place(NamedTuple):
    """What two versions share before they are held against each other."""

    workload: str
    conditions: Conditions
    server: str
    variant: Variant
    load: float


@dataclass(frozen=True, slots=True)
class VersionPair:
    """Two versions of a server, the older first, and the comparison of them.

    `is_direct`: no known version of the server lies between them. `place`: the load and workload.
    `runs`: those that the comparison is about, the newest first.
    """

    server: str
    previous: str
    newest: str
    is_direct: bool
    place: str
    query: Query
    runs: tuple[UUID, ...]

    def of_its_runs(self) -> VersionPair:
        """The pair without runs that were measured besides."""
        runs = tuple(map(str, self.runs[:MAX_VALUES]))
        return replace(self, query={"run": runs, **self.query})


def find_version_pair(measured: WorkspaceCells) -> VersionPair | None:
    """The newest version of a server against an earlier one, of one configuration and place.

    Two versions that follow each other come first, then the place with the most versions, then the
    place that most servers share. None if no server was measured so.
    """
    versions = _known_versions(measured.every)
    places = _places_of_newest(measured.every, versions)
    usual = measured.workload, measured.conditions

    def weight(place: _Place) -> tuple[bool, int, bool]:
        is_direct = places[place][-2:] == versions[place.server][-2:]
        return is_direct, len(places[place]), (place.workload, place.conditions) == usual

    for place in sorted(places, key=weight, reverse=True):
        previous, newest = places[place][-2:]
        here = measured.under(place.workload, place.conditions)
        of_server = (cell for cell in here.alike if cell.server == place.server)
        cells = [cell for cell in of_server if cell.version in (previous, newest)]
        query = _query(here, place, cells, (previous, newest))
        if query is not None:
            text = f"{here.load_text(place.load)}, workload {place.workload}"
            runs = tuple(dict.fromkeys(run for cell in cells for run in cell.runs))
            return VersionPair(place.server, previous, newest, weight(place)[0], text, query, runs)
    return None


def find_server_of_versions(measured: WorkspaceCells) -> tuple[str, str] | None:
    """A server that was measured in several versions, with the newest of them; None without."""
    versions = _known_versions(measured.every)
    return next(((name, own[-1]) for name, own in versions.items() if len(own) > 1), None)


def _known_versions(cells: Iterable[CellSummary]) -> dict[str, list[str]]:
    """The known versions of each server in their order."""
    versions = sets_by_key((cell.server, cell.version) for cell in cells if cell.version)
    return {server: sorted(own, key=natural) for server, own in versions.items()}


def _places_of_newest(
    cells: Iterable[CellSummary], known_versions: dict[str, list[str]]
) -> dict[_Place, list[str]]:
    """The versions in their order at each place with the newest of its server and another one."""
    versions = sets_by_key(
        (_Place(cell.workload, cell.conditions, cell.server, cell.variant, cell.load), cell.version)
        for cell in cells
        if cell.version and cell.load is not None
    )
    return {
        place: sorted(own, key=natural)
        for place, own in versions.items()
        if len(own) > 1 and known_versions[place.server][-1] in own
    }


def _query(
    here: WorkspaceCells, place: _Place, cells: Sequence[CellSummary], versions: tuple[str, str]
) -> Query | None:
    """The comparison of both versions; None if no filter leaves out other configurations."""
    chosen = _variant_filter(place.variant, cells)
    if chosen is None:
        return None
    at = number_text(float(place.load))
    return {**here.base_query, "server": place.server, "version": versions, "at": at, **chosen}


def _variant_filter(wanted: Variant, cells: Sequence[CellSummary]) -> Query | None:
    """A filter that keeps the cells of one variant; nothing where there is no other."""
    others = {cell.variant for cell in cells} - {wanted}
    if not others:
        return {}
    if all(other.runtime != wanted.runtime for other in others):
        return {"runtime": wanted.runtime or UNKNOWN}
    setting = _own_setting(wanted.settings, [other.settings for other in others])
    return _runs_of(wanted, cells) if setting is None else {"configuration": setting}


def _own_setting(settings: Collection[str], others: Sequence[Collection[str]]) -> str | None:
    """The first setting that no other configuration has; None without one."""
    if not settings and all(others):
        return UNKNOWN
    fitting = (text for text in settings if len(text) <= MAX_LENGTH)
    return next((text for text in fitting if not any(text in other for other in others)), None)


def _runs_of(wanted: Variant, cells: Sequence[CellSummary]) -> Query | None:
    """The runs that hold no other variant; None where these lack one of the versions."""
    own = [cell for cell in cells if cell.variant == wanted]
    runs = _runs_in(own) - _runs_in(cell for cell in cells if cell.variant != wanted)
    kept = {cell.version for cell in own if runs.intersection(cell.runs)}
    if kept != {cell.version for cell in own} or len(runs) > MAX_VALUES:
        return None
    return {"run": tuple(sorted(map(str, runs)))}


def _runs_in(cells: Iterable[CellSummary]) -> set[UUID]:
    return {run for cell in cells for run in cell.runs}
