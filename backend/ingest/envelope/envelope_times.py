"""The times of an envelope: by the service's clock, and not in the future.

The agent times a run by the clock of its machine, and says how far the service's clock is from it.
That is added here, once, where an envelope is read. So all times of the service are by one clock.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec.structs import replace

from backend.runs.measured.host_facts import APPLIED, clock_offset_s
from backend.runs.tables.happening import refuse_future

if TYPE_CHECKING:
    from backend.ingest.envelope.envelope import Envelope, RunPart, TrialEntry

Timed = TypeVar("Timed", "RunPart", "TrialEntry")


def by_service_clock(envelope: Envelope) -> Envelope:
    """The envelope with its times by the service's clock, where it says the offset; its facts say
    that the offset was applied."""
    client = envelope.hosts and envelope.hosts.client
    facts = (client and client.facts) or {}
    clock, offset_s = facts.get("clock"), clock_offset_s(facts)
    if not (envelope.hosts and client and isinstance(clock, dict)):
        return envelope
    # What a sender says of this member counts for nothing.
    applied = {**clock, APPLIED: offset_s is not None}
    hosts = replace(envelope.hosts, client=replace(client, facts={**facts, "clock": applied}))
    envelope = replace(envelope, hosts=hosts)
    return envelope if offset_s is None else _shifted(envelope, timedelta(seconds=offset_s))


def _shifted(envelope: Envelope, offset: timedelta) -> Envelope:
    run = envelope.run and _moved(envelope.run, offset)
    if run and run.events:
        events = [replace(event, at=_after(event.at, offset)) for event in run.events]
        run = replace(run, events=events)
    trials = envelope.trials and tuple(_moved(entry, offset) for entry in envelope.trials)
    return replace(envelope, run=run, trials=trials)


def _moved(timed: Timed, offset: timedelta) -> Timed:
    began, ended = _after(timed.started_at, offset), _after(timed.finished_at, offset)
    return replace(timed, started_at=began, finished_at=ended)


def _after(time: Any, offset: timedelta) -> Any:
    """As it was sent where no calendar has the sum."""
    try:
        return time if time is None else time + offset
    except OverflowError:
        return time


@dataclass(frozen=True, slots=True)
class NamedTime:
    """A time of an envelope, and where it stands."""

    where: str
    time: datetime


def refuse_future_times(envelope: Envelope) -> None:
    """Raises TooEarly for the first time that lies ahead.

    For what is received now. Envelopes that are stored may have such times, and are read again.
    """
    for named in _times(envelope):
        refuse_future(f"envelope: {named.where}", named.time)


def _times(envelope: Envelope) -> Iterator[NamedTime]:
    run = envelope.run
    if run is not None:
        yield from _of("run", run)
        for index, event in enumerate(run.events or ()):
            if event.at is not None:
                yield NamedTime(f"run.events[{index}].at", event.at)
    for index, entry in enumerate(envelope.entries):
        yield from _of(f"trials[{index}]", entry)


def _of(place: str, timed: RunPart | TrialEntry) -> Iterator[NamedTime]:
    for name in ("started_at", "finished_at"):
        if (time := getattr(timed, name)) is not None:
            yield NamedTime(f"{place}.{name}", time)
