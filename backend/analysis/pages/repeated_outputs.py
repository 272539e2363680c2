"""Trials whose output another trial of the workspace has too, told on the pages of a trial."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Sequence

from django.db.models import Count

from backend.analysis.pages.run_trials import ShownTrial
from backend.runs.checks import Finding
from backend.runs.models import Trial

_COLUMNS = ("pk", "output_sha256", "run_id", "run__recorded_at", "ordinal")
_NAME = ("cell__series_id", "cell__connections", "cell__rate_rps")


def find_repeated_outputs(
    trials: Sequence[ShownTrial], workspace_id: uuid.UUID
) -> dict[uuid.UUID, Finding]:
    """By the id of a trial: what to say of other trials that have its output, if there are any."""
    same_output = _with_same_output(trials, workspace_id)
    findings = {}
    for trial in (trial for trial in trials if not trial.warmup):
        others = [
            row for row in same_output[bytes(trial.output_sha256 or b"")] if row.pk != trial.pk
        ]
        if others:
            findings[trial.pk] = _finding(trial, others)
    return findings


def _with_same_output(
    trials: Sequence[ShownTrial], workspace_id: uuid.UUID
) -> dict[bytes, list[Trial]]:
    outputs = {bytes(trial.output_sha256) for trial in trials if trial.output_sha256 is not None}
    by_output: dict[bytes, list[Trial]] = defaultdict(list)
    if not outputs:
        return by_output
    counted = Trial.of_kept_runs.filter(
        output_sha256__in=outputs, run__workspace=workspace_id, warmup=False
    )
    # Mostly no output is there twice: then no trial is read.
    by_count = counted.order_by().values("output_sha256").annotate(count=Count("*"))
    repeated = list(by_count.filter(count__gt=1).values_list("output_sha256", flat=True))
    rows = (
        counted.filter(output_sha256__in=repeated)
        .select_related("run", "cell__series__server")
        .only(*_COLUMNS, *_NAME, "cell__series__server__name", "cell__series__server__version")
    )
    for row in rows.order_by("run__recorded_at", "ordinal") if repeated else ():
        by_output[bytes(row.output_sha256 or b"")].append(row)
    return by_output


def _finding(trial: ShownTrial, others: Sequence[Trial]) -> Finding:
    contradicting = [other for other in others if _name(other) != _name(trial)]
    if contradicting:
        first = contradicting[0]
        name = f"{_place(first, trial)}, of {first.cell.series.server}"
        return Finding("same-output", f"{name}, has the same output{_more(contradicting)}.")
    return Finding("duplicate", f"{_place(others[0], trial)} has the same output{_more(others)}.")


def _name(trial: Trial | ShownTrial) -> tuple[object, ...]:
    return trial.cell.series_id, trial.cell.connections, trial.cell.rate_rps


def _place(other: Trial, trial: ShownTrial) -> str:
    where = "this run" if other.run_id == trial.run_id else f"run {other.run_id}"
    return f"Trial {other.ordinal} of {where}"


def _more(others: Sequence[Trial]) -> str:
    count = len(others) - 1
    return f", and so {'does' if count == 1 else 'do'} {count} more" if count else ""
