"""Corrections of members: a layer over what was read, applied whenever a run is recorded.

A correction replaces one field by a value; the latest of a field counts. All functions work on the
texts and identity fields of an upload, so they give the same whether a run is read or edited.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from backend.runs.models import Correction

if TYPE_CHECKING:
    from backend.runs.measured.measured import TrialRecord
    from backend.runs.recording.record import RunInput

Field = Correction.Field
HOST_FIELDS_OF_RUN = (Field.SERVER_HOST, Field.CLIENT_HOST)
TRIAL_FIELDS = frozenset({Field.SERVER, Field.VERSION, Field.WORKLOAD})
FREE_TEXTS = frozenset({Field.LABELS, Field.NOTES})
# Members of what is read of a run, beside its hosts.
_TIMES = ("started_at", "finished_at")


def active_corrections(run_id: UUID) -> Sequence[Correction]:
    """The corrections of a run that were not undone, the earliest first."""
    return standing_corrections_of_runs([run_id])[run_id]


def standing_corrections_of_runs(run_ids: Collection[UUID]) -> Mapping[UUID, Sequence[Correction]]:
    """By run, as `active_corrections`; a run without any has none."""
    corrections: dict[UUID, list[Correction]] = defaultdict(list)
    for correction in Correction.objects.filter(run__in=run_ids, undone_at=None):
        corrections[correction.run_id].append(correction)
    return corrections


def correct_trial(
    read: Mapping[str, Any], ordinal: int, corrections: Sequence[Correction]
) -> dict[str, Any]:
    """`read`, which has the identity fields of "server" and "workload", with the corrections."""
    corrected = {part: dict(read[part]) for part in ("server", "workload")}
    for correction in corrections:
        if correction.field not in TRIAL_FIELDS or not _is_of(correction, ordinal):
            continue
        if correction.field == Field.WORKLOAD:
            corrected["workload"] = {
                **read["workload"],
                **correction.facts,
                "name": correction.value,
            }
        else:
            name = "name" if correction.field == Field.SERVER else "version"
            corrected["server"][name] = correction.value
    return corrected


def _is_of(correction: Correction, ordinal: int) -> bool:
    return correction.ordinals is None or ordinal in correction.ordinals


def correct_run(read: Mapping[str, Any], corrections: Sequence[Correction]) -> dict[str, Any]:
    """`read`, which has hosts, times as ISO texts, labels and notes, with the corrections.

    A run that began at another time ended as much later or earlier.
    """
    corrected = dict(read)
    for correction in corrections:
        if correction.field in HOST_FIELDS_OF_RUN:
            corrected[correction.field] = _corrected_host(read.get(correction.field), correction)
        elif correction.field == Field.STARTED_AT:
            corrected["finished_at"] = _moved_end(read, correction.value)
            corrected["started_at"] = correction.value
        elif correction.field not in TRIAL_FIELDS:
            corrected[correction.field] = correction.value
    return corrected


def _corrected_host(
    read: Mapping[str, Any] | None, correction: Correction
) -> dict[str, Any] | None:
    if correction.value is None:
        return None
    return {**(read or {}), **correction.facts, "name": correction.value}


def _moved_end(read: Mapping[str, Any], started_at: str | None) -> str | None:
    began, ended, begins = (
        as_time(text) for text in (read["started_at"], read["finished_at"], started_at)
    )
    if began is None or ended is None or begins is None:
        return as_text(ended)
    try:
        return as_text(begins + (ended - began))
    except OverflowError:
        # Uploads may name any year, so a run may have lasted millennia by its own times.
        return None


def as_time(text: str | None) -> datetime | None:
    """The time of an ISO text."""
    return None if text is None else datetime.fromisoformat(text)


def as_text(time: datetime | None) -> str | None:
    """A time as the ISO text that a correction stores: of UTC, so that equal times are equal."""
    return None if time is None else time.astimezone(UTC).isoformat()


def read_of_run(run_input: RunInput) -> dict[str, Any]:
    """What an upload says of its run, in the form of `correct_run`."""
    return {
        "server_host": run_input.server_host,
        "client_host": run_input.client_host,
        "started_at": as_text(run_input.started_at),
        "finished_at": as_text(run_input.finished_at),
        "labels": dict(run_input.labels),
        "notes": run_input.notes,
    }


def correct_input(run_input: RunInput, corrections: Sequence[Correction]) -> RunInput:
    """The run as its upload says, with the corrections."""
    if not corrections:
        return run_input
    corrected = correct_run(read_of_run(run_input), corrections)
    times = {name: as_time(corrected[name]) for name in _TIMES}
    return replace(run_input, **{**corrected, **times})


def correct_record(record: TrialRecord, corrections: Sequence[Correction]) -> TrialRecord:
    """The trial as its upload says, with the corrections."""
    if not corrections:
        return record
    read = {"server": record.server, "workload": record.workload}
    return replace(record, **correct_trial(read, record.ordinal, corrections))
