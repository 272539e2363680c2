"""Trials that tell nothing, with why: their output could not be read, or the load tool failed."""

import uuid
from collections.abc import Iterable

from backend.runs.database.bulk import among
from backend.runs.models import Cell, Trial

NO_FIGURE = "The output has no figure."
CUT_OFF = "The output was cut off before the first figure."


def fetch_reasons(trial_ids: Iterable[uuid.UUID]) -> dict[uuid.UUID, str]:
    """By trial, one sentence on why it has no figure; no statement where there is no trial."""
    ids = list(trial_ids)
    if not ids:
        return {}
    rows = Trial.objects.filter(among("pk", ids))
    columns = rows.values_list("pk", "error", "exit_code", "incomplete")
    return {pk: _reason(error, exit_code, cut) for pk, error, exit_code, cut in columns}


def _reason(error: str, exit_code: int | None, is_cut: bool) -> str:
    if error:
        return error
    if exit_code:
        return f"The load tool ended with exit status {exit_code}."
    return CUT_OFF if is_cut else NO_FIGURE


def fetch_trial_counts(cell_ids: Iterable[uuid.UUID]) -> dict[uuid.UUID, int]:
    """How many trials of each cell have a figure; no statement where there is no cell."""
    ids = list(cell_ids)
    if not ids:
        return {}
    return dict(Cell.objects.filter(among("pk", ids)).values_list("pk", "trial_count"))
