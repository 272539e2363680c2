"""The cell of each trial and what it is of, one object for all trials that share it.

A join gives each trial objects of its own: six for each of thousands.
"""

from collections.abc import Sequence

from backend.runs.database.bulk import among
from backend.runs.models import Cell, Series, Trial

_CELL_COLUMNS = ("run", "series", "connections", "rate_rps")


def give_cells(trials: Sequence[Trial], *parts: str) -> None:
    """Give the trials their cells, and these their series with `parts`, in two statements.

    `parts`: of server, workload, server_host, client_host. Cells have the columns that say what was
    measured at which load.
    """
    cells = Cell.objects.filter(among("pk", {trial.cell_id for trial in trials}))
    by_id = {cell.pk: cell for cell in cells.only(*_CELL_COLUMNS)}
    rows = Series.objects.filter(among("pk", {cell.series_id for cell in by_id.values()}))
    series = {row.pk: row for row in rows.select_related(*parts)}
    for cell in by_id.values():
        cell.series = series[cell.series_id]
    for trial in trials:
        trial.cell = by_id[trial.cell_id]
