"""Trials whose output another trial of the workspace has too, told on the pages of a trial.

A run may have thousands of trials, all read from one file, so no trial is compared with each other.
"""

import uuid
from collections import defaultdict
from dataclasses import dataclass, field
from typing import NamedTuple

from django.db.models import Count, F, QuerySet, Window
from django.db.models.functions import RowNumber

from backend.runs.checks import Finding
from backend.runs.database.read_router import reading_connection
from backend.runs.models import Trial
from backend.runs.tables.happening import happened_at_of

_NAME = ("cell__series_id", "cell__connections", "cell__rate_rps")
_SERVER = ("cell__series__server__name", "cell__series__server__version")

# The outputs of trials that two counted trials of the workspace have: mostly none. By an array, so
# that the index of outputs is read.
_REPEATED = """
SELECT trial.output_sha256 FROM runs_trial trial JOIN runs_run run ON run.id = trial.run_id
WHERE trial.output_sha256 = ANY(
        ARRAY(SELECT output_sha256 FROM runs_trial WHERE {} = %s AND NOT warmup)
    )
    AND NOT trial.warmup AND run.workspace_id = %s AND run.trashed_at IS NULL
GROUP BY trial.output_sha256 HAVING count(*) > 1
"""

Name = tuple[uuid.UUID, int | None, float | None]


class _Place(NamedTuple):
    """Where a trial stands, in the order in which the trials were measured."""

    pk: str
    run_id: uuid.UUID
    ordinal: int
    server: str


class _Own(NamedTuple):
    """A trial that is told."""

    pk: str
    run_id: uuid.UUID
    name: Name


@dataclass(slots=True)
class _Named:
    """The trials of one output and one name: their number, and the first two of them."""

    count: int
    first: list[_Place] = field(default_factory=list)


@dataclass(slots=True)
class _Output:
    """The trials of one output: their number, and by name, in the order of the first of each."""

    count: int = 0
    by_name: dict[Name, _Named] = field(default_factory=dict)


def find_repeated_outputs(
    workspace_id: uuid.UUID, run_id: uuid.UUID, trial_id: uuid.UUID | None = None
) -> dict[str, Finding]:
    """By the id of a trial of the run: what to say of other trials that have its output, if there
    are any. With `trial_id`, of this one alone."""
    own = {"run_id": run_id} if trial_id is None else {"id": trial_id}
    same_output = _with_same_output(workspace_id, **own)
    if not same_output:
        # As mostly.
        return {}
    trials = Trial.objects.filter(**own, warmup=False, output_sha256__in=list(same_output))
    rows = trials.values_list("pk", "output_sha256", *_NAME)
    found = {
        str(pk): _finding(_Own(str(pk), run_id, tuple(name)), same_output[bytes(sha256)])
        for pk, sha256, *name in rows
    }
    return {pk: finding for pk, finding in found.items() if finding is not None}


def _with_same_output(workspace_id: uuid.UUID, **own: uuid.UUID) -> dict[bytes, _Output]:
    """By output of the trials with this `run_id` or `id`, the trials of the workspace that have it,
    where there are two."""
    ((column, id_),) = own.items()
    with reading_connection().cursor() as cursor:
        cursor.execute(_REPEATED.format(column), [id_, workspace_id])
        repeated = [output for (output,) in cursor.fetchall()]
    counted = Trial.of_kept_runs.filter(run__workspace=workspace_id, warmup=False)
    by_output: dict[bytes, _Output] = defaultdict(_Output)
    if not repeated:
        return by_output
    for place, name, sha256, count in _first_two(counted.filter(output_sha256__in=repeated)):
        output = by_output[sha256]
        if name not in output.by_name:
            output.by_name[name] = _Named(count)
            output.count += count
        output.by_name[name].first.append(place)
    return by_output


def _first_two(trials: QuerySet[Trial]) -> list[tuple[_Place, Name, bytes, int]]:
    """The first two trials of each output and name, with how many have both."""
    equal = [F("output_sha256"), *map(F, _NAME)]
    order = (happened_at_of("run__"), F("run__recorded_at"), F("ordinal"))
    rows = trials.annotate(
        at=Window(RowNumber(), partition_by=equal, order_by=order),
        count=Window(Count("*"), partition_by=equal),
    ).filter(at__lte=2)
    columns = ("pk", "run_id", "ordinal", "output_sha256", "count", *_NAME, *_SERVER)
    return [
        (
            _Place(str(pk), run, ordinal, f"{server} {version or ''}".strip()),
            name,
            bytes(output),
            count,
        )
        for pk, run, ordinal, output, count, *name_of, server, version in rows.order_by(
            *order
        ).values_list(*columns)
        for name in [tuple(name_of)]
    ]


def _finding(trial: _Own, output: _Output) -> Finding | None:
    own = output.by_name.get(trial.name, _Named(0))
    contradicting = output.count - own.count
    if contradicting:
        first = next(each for name, each in output.by_name.items() if name != trial.name).first[0]
        where = f"{_place(first, trial)}, of {first.server}"
        return Finding("same-output", f"{where}, has the same output{_more(contradicting)}.")
    equal = [place for place in own.first if place.pk != trial.pk]
    if not equal:
        return None
    where = _place(equal[0], trial)
    return Finding("duplicate", f"{where} has the same output{_more(own.count - 1)}.")


def _place(other: _Place, trial: _Own) -> str:
    where = "this run" if other.run_id == trial.run_id else f"run {other.run_id}"
    return f"Trial {other.ordinal} of {where}"


def _more(count: int) -> str:
    """Of `count` trials, those beside the first."""
    more = count - 1
    return f", and so {'does' if more == 1 else 'do'} {more} more" if more else ""
