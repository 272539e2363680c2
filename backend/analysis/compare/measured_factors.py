"""Differences that are read from the outputs, where nobody declared them."""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from statistics import median

from backend.analysis.query.factors import FACTORS, Factor
from backend.analysis.query.field import Rule
from backend.analysis.query.fields import FIELDS
from backend.analysis.query.records import LoadedCell, LoadedTrial
from backend.runs.checks.response_sizes import (
    LONGEST_HEADER_BYTES,
    USUAL_HEADER_BYTES,
    ResponseSize,
    group_sizes,
    response_size_of,
)
from backend.stats.thresholds import HIGH_ERROR_RATE, percent

# At the end each connection may have read a part of a response that is not counted.
MAX_UNFINISHED = 0.05
# The check of each trial with redirects, if the load tool counts redirects.
REDIRECTS = "redirects"


def find_measured_factors(cells: Iterable[LoadedCell]) -> tuple[Factor, ...]:
    """The factors that are read from the trials of `cells`; those that cannot differ are left out.

    What a workload declares counts before what its outputs say. The check `contradicts-envelope`
    compares the two.
    """
    cells = list(cells)
    names = _printed_names(cells)
    factors = [f for f in _PRINTED if f.id in names and _is_printed(f, cells)]
    factors.append(_size_factor(cells))
    if any(_has_redirects(cell) for cell in cells):
        limit = percent(HIGH_ERROR_RATE)
        shares = {
            cell.id: f"{'over' if _has_redirects(cell) else 'under'} {limit}" for cell in cells
        }
        factors.append(_factor(REDIRECTS, "share of redirects", shares))
    return tuple(factors)


def _size_factor(cells: Iterable[LoadedCell]) -> Factor:
    """The size of the responses, in the place of the declared payload.

    If unusually long headers may explain a difference, it is a caveat.
    """
    cells = list(cells)
    sizes = {cell.id: size for cell in cells if (size := response_size(cell)) is not None}
    groups = group_sizes(sizes, LONGEST_HEADER_BYTES)
    rule: Rule = "must"
    if len(groups) < 2:
        groups, rule = group_sizes(sizes, USUAL_HEADER_BYTES), "note"
    declared = {cell.id for cell in cells if cell.workload.payload_bytes is not None}
    texts = {
        cell_id: _group_text(list(group.values()), is_declared=declared.issuperset(group))
        for group in groups
        for cell_id in group
    }
    word = FIELDS["payload"].noun if declared.issuperset(texts) else "response size"
    return replace(_factor("payload", word, texts), rule=rule)


def _group_text(sizes: Sequence[ResponseSize], *, is_declared: bool) -> str:
    """`37 to 39 B` of declared payloads; else the smallest size, in two digits."""
    least, most = sizes[0].size, sizes[-1].size
    if not is_declared:
        return size_text(least)
    return f"{least:,.0f} B" if least == most else f"{least:,.0f} to {most:,.0f} B"


def keepalive_of(cell: LoadedCell) -> object:
    """Whether connections were kept: as declared, else as outputs or commands say.

    None if neither says it; a text where the trials differ.
    """
    return _declared_or_printed("keepalive", cell)


def _declared_or_printed(name: str, cell: LoadedCell) -> object:
    declared = getattr(cell.workload, name, None)
    return _printed(name, cell) if declared is None else declared


def _printed(name: str, cell: LoadedCell) -> object:
    values = {trial.printed[name] for trial in cell.trials if name in trial.printed}
    if len(values) == 1:
        return values.pop()
    texts = {True: "yes", False: "no"}
    return " and ".join(sorted(str(texts.get(value, value)) for value in values)) or None


def _printed_names(cells: Iterable[LoadedCell]) -> set[str]:
    return {name for cell in cells for trial in cell.trials for name in trial.printed}


def _is_printed(factor: Factor, cells: Sequence[LoadedCell]) -> bool:
    """Whether some output says it where nothing was declared."""
    return any(
        getattr(cell.workload, factor.id, None) is None and factor.read(cell) is not None
        for cell in cells
    )


def _printed_factor(name: str, word: str) -> Factor:
    return Factor(name, word, "must", "request", word, partial(_printed, name))


_PRINTED = (
    *(
        replace(factor, read=partial(_declared_or_printed, factor.id))
        for factor in FACTORS
        if factor.id in ("keepalive", "tls", "path")
    ),
    _printed_factor("asked_keepalive", "keep-alive asked for"),
    _printed_factor("protocol", "version of HTTP"),
    # A note: the server may not compress. If it does, the response size shows it.
    replace(_printed_factor("asked_compression", "request for compression"), rule="note"),
)


def response_size(cell: LoadedCell) -> ResponseSize | None:
    """The declared payload, else what a response had by the output; None if neither is known."""
    if cell.workload.payload_bytes is not None:
        return ResponseSize(cell.workload.payload_bytes)
    return measured_response_size(cell)


def measured_response_size(cell: LoadedCell) -> ResponseSize | None:
    """The median of the trials' bytes of a response: of bodies, if one trial tells these."""
    sizes = [
        size
        for trial in cell.trials
        if _is_typical(trial, cell.connections or 0)
        and (size := _size_of(cell.series.tool, trial)) is not None
    ]
    alike = [size for size in sizes if not size.has_header] or sizes
    return replace(alike[0], size=median(size.size for size in alike)) if alike else None


def _size_of(tool: str, trial: LoadedTrial) -> ResponseSize | None:
    return response_size_of(tool, trial.response_bytes, trial.printed.get("body_bytes"))


def size_text(*sizes: float) -> str:
    """About how many bytes, in two digits: `about 120 B`, or of two sizes `about 120 to 470 B`."""
    return f"about {' to '.join(map(_rounded, sizes))} B"


def _rounded(size: float) -> str:
    digits = max(len(str(round(size))) - 2, 0)
    return f"{round(size, -digits):,.0f}"


def _is_typical(trial: LoadedTrial, connections: int) -> bool:
    """Whether the bytes are of whole, successful responses."""
    if trial.error_rate is not None and trial.error_rate > HIGH_ERROR_RATE:
        return False
    return connections <= MAX_UNFINISHED * (trial.requests_completed or 0)


def _has_redirects(cell: LoadedCell) -> bool:
    return any(REDIRECTS in trial.checks for trial in cell.trials)


def _factor(id_: str, word: str, values: Mapping[uuid.UUID, str]) -> Factor:
    part = FIELDS["payload"].identity
    return Factor(id_, word, "must", part, word, lambda cell: values.get(cell.id))
