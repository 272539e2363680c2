"""Each output counts once: an output that was uploaded again is no further measurement.

Two trials of one output, byte for byte, are one measurement. Where their server, workload, hosts,
load tool and load are the same, the earlier trial counts and the later one is a duplicate. Where
these differ, one of the two has a wrong name: both count, with an error.
"""

import uuid
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from backend.analysis.query.records import LoadedCell, LoadedTrial
from backend.runs.tables.happening import place_of

# What a trial is recorded as: its series and its load.
_Name = tuple[uuid.UUID, int | None, float | None]


def count_outputs_once(cells: Sequence[LoadedCell]) -> list[LoadedCell]:
    """The cells without duplicate trials, which move to the cell of the trial that counts.

    A cell left without trials is not in the list. The earlier run counts.
    """
    if not _has_repeats(cells):
        return list(cells)
    contradictory = _contradictory_outputs(cells)
    counting: dict[tuple[_Name, bytes], uuid.UUID] = {}
    counted: dict[uuid.UUID, list[LoadedTrial]] = defaultdict(list)
    duplicates: dict[uuid.UUID, list[LoadedTrial]] = defaultdict(list)
    for cell in sorted(cells, key=lambda cell: (place_of(cell.run), cell.id)):
        for trial in cell.trials:
            if trial.output is None:
                counted[cell.id].append(trial)
                continue
            key = _name(cell), trial.output
            if key in counting:
                duplicates[counting[key]].append(trial)
            else:
                counting[key] = cell.id
                counted[cell.id].append(_marked(trial, contradictory))
    return [
        _with_trials(cell, counted[cell.id], duplicates[cell.id])
        for cell in cells
        if cell.id in counted
    ]


def _name(cell: LoadedCell) -> _Name:
    return cell.series.id, cell.connections, cell.rate_rps


def _outputs(cells: Iterable[LoadedCell]) -> Iterator[tuple[_Name, bytes]]:
    for cell in cells:
        for trial in cell.trials:
            if trial.output is not None:
                yield _name(cell), trial.output


def _has_repeats(cells: Sequence[LoadedCell]) -> bool:
    outputs = [trial.output for cell in cells for trial in cell.trials if trial.output is not None]
    return len(set(outputs)) < len(outputs)


def _contradictory_outputs(cells: Sequence[LoadedCell]) -> set[bytes]:
    """The outputs that are recorded under several names."""
    names: dict[bytes, set[_Name]] = defaultdict(set)
    for name, output in _outputs(cells):
        names[output].add(name)
    return {output for output, named in names.items() if len(named) > 1}


def _marked(trial: LoadedTrial, contradictory: set[bytes]) -> LoadedTrial:
    if trial.output not in contradictory:
        return trial
    return replace(trial, checks=(*trial.checks, "same-output"))


def _with_trials(
    cell: LoadedCell, counted: Sequence[LoadedTrial], duplicates: Sequence[LoadedTrial]
) -> LoadedCell:
    """The cell with these trials.

    Its stored percentiles are of every output of its run. Where one of them counts for an earlier
    run, they are of too many requests and are left out.
    """
    own = {trial.output or trial.id for trial in cell.trials}
    is_whole = len(counted) == len(own)
    percentiles_us = cell.percentiles_us if is_whole else {}
    return replace(
        cell, trials=tuple(counted), duplicates=tuple(duplicates), percentiles_us=percentiles_us
    )
