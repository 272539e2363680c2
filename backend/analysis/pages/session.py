"""A session: the trials that several agents measured at once, joined by their number.

What a page shows of it is bounded by what it takes to read: the bytes of time series and
histograms, packed and unpacked, and not only how many trials there are.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple
from uuid import UUID

import orjson
from django.db.models import F, TextField
from django.db.models.functions import Cast, Left

from backend.analysis.pages.joint_trials import Agents, Allowance, JointTrial, join_trials
from backend.runs.database.portions import portions
from backend.runs.database.read_router import reading_connection, repeatable_read
from backend.runs.measured.host_facts import APPLIED, offset_left_s
from backend.runs.models import Run, Trial
from backend.runs.tables.happening import happened_at_of

# As many as a session may have agents. A run of it may come again.
MOST_RUNS = 1_000
# Of all runs, as many as one comparison counts.
MOST_TRIALS = 20_000
# Of all time series and histograms: as they are stored, and unpacked. To read so many bytes takes a
# processor up to two seconds.
MOST_PACKED_BYTES = 32 << 20
MOST_UNPACKED_BYTES = 64 << 20
# What is fetched at once; a trial of all agents always is.
TRIALS_AT_ONCE = 100
BYTES_AT_ONCE = 4 << 20
# More than any number has.
MOST_CLOCK_TEXT = 40
# The columns that are read here and by the page: runs and trials have many more, and large ones.
_SHOWN = (
    *("session", "agent", "started_at", "recorded_at", "is_open", "interrupted"),
    *("client_host__name", "client_host__cpu_model"),
)
_SHOWN_WITH_TRIAL = ("cell__series__server", "cell__series__workload", "timeline")
_SHOWN_OF_TRIAL = (
    *("run_id", "ordinal", "repeat", "started_at", "elapsed_s", "requests_completed"),
    *("attempts", "failed", "histogram", "timeline__packed"),
    *("cell__connections", "cell__rate_rps", "cell__series__workload__name"),
    *("cell__series__server__name", "cell__series__server__version"),
)
# The lowest numbers of all runs are among the lowest of each, which an index has in order.
_NUMBERS = """
SELECT ordinal, count(*), sum(packed_bytes)
FROM unnest(%s::uuid[]) AS run (id), LATERAL (
    SELECT ordinal,
        coalesce(octet_length(histogram), 0) + coalesce(octet_length(packed), 0) AS packed_bytes
    FROM runs_trial LEFT JOIN runs_trialtimeline ON trial_id = runs_trial.id
    WHERE run_id = run.id AND NOT warmup
    ORDER BY ordinal LIMIT %s
) AS trial
GROUP BY ordinal ORDER BY ordinal LIMIT %s
"""


@dataclass(frozen=True, slots=True)
class MeasuredSession:
    """`runs` that came, of the `parts` that the session has."""

    name: str
    parts: int
    runs: tuple[Run, ...]
    trials: tuple[JointTrial, ...]
    # Sentences on what is not shown.
    left_out: tuple[str, ...]
    # Hosts whose clock is not known: their trials cannot be placed beside the others.
    without_clock: tuple[str, ...]


class _Number(NamedTuple):
    """How many trials of a session have one number, and the bytes of their time series and
    histograms as they are stored."""

    ordinal: int
    trials: int
    packed_bytes: int


def describe_session(workspace_id: UUID, name: str) -> MeasuredSession | None:
    """None if no run of such a session has come."""
    with repeatable_read():
        first = _first_runs(workspace_id, name, MOST_RUNS + 1)
        runs = first[:MOST_RUNS]
        if not runs:
            return None
        offsets_s = {run.pk: _offset_s(run) for run in runs}
        agents = Agents(offsets_s, {run.pk: _host_name(run) for run in runs}, _part_count(runs))
        trials, why_no_more = _join(runs, agents)
    left_out = [f"Only the first {MOST_RUNS:,} runs are shown."] if len(first) > MOST_RUNS else []
    left_out += [why_no_more] if why_no_more else []
    without_clock = tuple(agents.hosts[run.pk] for run in runs if offsets_s[run.pk] is None)
    return MeasuredSession(name, agents.parts, runs, trials, tuple(left_out), without_clock)


def _first_runs(workspace_id: UUID, name: str, most: int) -> tuple[Run, ...]:
    """The runs of a session, with what the page shows and what their clients' clocks say."""
    rows = Run.objects.filter(workspace=workspace_id, session__name=name)
    rows = rows.annotate(offset_s=_clock_text("offset_s"), is_applied=_clock_text(APPLIED))
    shown = rows.select_related("client_host").only(*_SHOWN)
    return tuple(shown.order_by(happened_at_of(), "pk")[:most])


def _part_count(runs: Sequence[Run]) -> int:
    """How many agents the session has; where no run tells it, those that came."""
    return max(int(run.session.get("parts") or len(runs)) for run in runs)


def _clock_text(name: str) -> Left:
    """What the facts of the client say of its clock, as JSON; the facts may hold megabytes."""
    return Left(Cast(F(f"facts__client__clock__{name}"), TextField()), MOST_CLOCK_TEXT)


def _offset_s(run: Any) -> float | None:
    """As `offset_left_s`, of a run with the texts of its clock."""
    texts = {"offset_s": run.offset_s, APPLIED: run.is_applied}
    clock = {key: _json_of(text) for key, text in texts.items() if text is not None}
    return offset_left_s({"clock": clock})


def _json_of(text: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return None  # cut off: it was neither a number nor a truth value


def _host_name(run: Run) -> str:
    return str(run.client_host or run.agent.get("hostname") or "unknown")


def _join(runs: Sequence[Run], agents: Agents) -> tuple[tuple[JointTrial, ...], str]:
    """The trials in the order of their numbers, and a sentence on why there are no more; empty
    where there are none."""
    most = max(1, MOST_TRIALS // len(runs))
    numbers = _lowest_numbers(runs, most + 1)
    allowance = Allowance(MOST_UNPACKED_BYTES)
    joined: list[JointTrial] = []
    for trials in _trials_of_numbers(runs, _within_bytes(numbers[:most])):
        joint = join_trials(trials, agents, allowance)
        if joint is None:
            break
        joined.append(joint)
    return tuple(joined), _why_no_more(len(joined), len(numbers), most)


def _why_no_more(shown: int, count: int, most: int) -> str:
    which = f"Only the first {shown:,} trials are shown" if shown else "No trial is shown"
    if shown < min(count, most):
        return f"{which}: the time series and histograms of all agents are too large for one page."
    return f"{which}." if count > most else ""


def _lowest_numbers(runs: Sequence[Run], most: int) -> list[_Number]:
    """The lowest numbers of trials of all runs, in order; `most` of them."""
    with reading_connection().cursor() as cursor:
        cursor.execute(_NUMBERS, [[run.pk for run in runs], most, most])
        return [_Number(ordinal, trials, int(size)) for ordinal, trials, size in cursor.fetchall()]


def _within_bytes(numbers: Sequence[_Number]) -> list[_Number]:
    """The first of them, whose trials have MOST_PACKED_BYTES together at most."""
    totals = accumulate(number.packed_bytes for number in numbers)
    count = sum(1 for total in totals if total <= MOST_PACKED_BYTES)
    return list(numbers[:count])


def _trials_of_numbers(runs: Sequence[Run], numbers: Iterable[_Number]) -> Iterator[list[Trial]]:
    """The trials of all runs that have one number, in the order of the numbers; few at a time,
    because each may have a long time series."""
    for some in _batches(numbers):
        rows = Trial.objects.filter(run__in=runs, warmup=False, ordinal__in=some)
        by_ordinal: dict[int, list[Trial]] = {ordinal: [] for ordinal in some}
        for trial in rows.select_related(*_SHOWN_WITH_TRIAL).only(*_SHOWN_OF_TRIAL):
            by_ordinal[trial.ordinal].append(trial)
        yield from by_ordinal.values()


def _batches(numbers: Iterable[_Number]) -> Iterator[list[int]]:
    """The numbers whose trials are fetched together."""
    sized = ((number.ordinal, (number.trials, number.packed_bytes)) for number in numbers)
    return portions(sized, (TRIALS_AT_ONCE, BYTES_AT_ONCE))
