"""Trials whose output another trial of the workspace has too, told on the pages of a trial.

A run may have thousands of trials, all read from one file, so no trial is compared with each other.
"""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from django.db.models import BooleanField, Count, F, Func, QuerySet, Value, Window
from django.db.models.functions import RowNumber

from backend.analysis.pages.run_trials import ShownTrial
from backend.runs.checks import Finding
from backend.runs.models import Trial

_NAME = ("cell__series_id", "cell__connections", "cell__rate_rps")
_SERVER = ("cell__series__server__name", "cell__series__server__version")

Name = tuple[uuid.UUID, int | None, float | None]


class _Place(NamedTuple):
    """Where a trial stands, in the order in which the workspace recorded its trials."""

    pk: str
    run_id: uuid.UUID
    ordinal: int
    server: str


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
    trials: Sequence[ShownTrial], workspace_id: uuid.UUID
) -> dict[str, Finding]:
    """By the id of a trial: what to say of other trials that have its output, if there are any."""
    same_output = _with_same_output(trials, workspace_id)
    findings = {}
    # Mostly there are none.
    for trial in trials if same_output else ():
        output = same_output.get(bytes(trial.output_sha256 or b""))
        if output is None or trial.warmup:
            continue
        if (finding := _finding(trial, output)) is not None:
            findings[trial.pk] = finding
    return findings


def _with_same_output(
    trials: Sequence[ShownTrial], workspace_id: uuid.UUID
) -> dict[bytes, _Output]:
    outputs = {bytes(trial.output_sha256) for trial in trials if trial.output_sha256 is not None}
    by_output: dict[bytes, _Output] = defaultdict(_Output)
    if not outputs:
        return by_output
    counted = Trial.of_kept_runs.filter(
        _is_any_of(outputs), run__workspace=workspace_id, warmup=False
    )
    # Mostly no output is there twice: then no trial is read.
    by_count = counted.order_by().values("output_sha256").annotate(count=Count("*"))
    repeated = list(by_count.filter(count__gt=1).values_list("output_sha256", flat=True))
    for place, name, sha256, count in _first_two(counted.filter(output_sha256__in=repeated)):
        output = by_output[sha256]
        if name not in output.by_name:
            output.by_name[name] = _Named(count)
            output.count += count
        output.by_name[name].first.append(place)
    return by_output


def _is_any_of(outputs: Iterable[bytes]) -> Func:
    """As `among`, as one text: to write an array of 800 values of bytes takes milliseconds."""
    array = ",".join(rf'"\\x{output.hex()}"' for output in outputs)
    return Func(
        F("output_sha256"),
        Value(f"{{{array}}}"),
        template="%(expressions)s::bytea[])",
        arg_joiner=" = ANY(",
        output_field=BooleanField(),
    )


def _first_two(trials: QuerySet[Trial]) -> list[tuple[_Place, Name, bytes, int]]:
    """The first two trials of each output and name, with how many have both."""
    equal = [F("output_sha256"), *map(F, _NAME)]
    order = ("run__recorded_at", "ordinal")
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


def _finding(trial: ShownTrial, output: _Output) -> Finding | None:
    own_name = (trial.cell.series_id, trial.cell.connections, trial.cell.rate_rps)
    own = output.by_name.get(own_name, _Named(0))
    contradicting = output.count - own.count
    if contradicting:
        first = next(each for name, each in output.by_name.items() if name != own_name).first[0]
        where = f"{_place(first, trial)}, of {first.server}"
        return Finding("same-output", f"{where}, has the same output{_more(contradicting)}.")
    equal = [place for place in own.first if place.pk != trial.pk]
    if not equal:
        return None
    where = _place(equal[0], trial)
    return Finding("duplicate", f"{where} has the same output{_more(own.count - 1)}.")


def _place(other: _Place, trial: ShownTrial) -> str:
    where = "this run" if other.run_id == trial.run_id else f"run {other.run_id}"
    return f"Trial {other.ordinal} of {where}"


def _more(count: int) -> str:
    """Of `count` trials, those beside the first."""
    more = count - 1
    return f", and so {'does' if more == 1 else 'do'} {more} more" if more else ""
