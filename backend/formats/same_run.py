"""Whether two readings are of one run, and one trial of the parts of a text that are."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from backend.formats.blocks import TABLE
from backend.formats.model import Latency, ParsedTrial
from backend.formats.parts import Part, lines_of_entries
from backend.formats.read_trial import latency_of
from backend.formats.tools import read_alone

# Counts are the same in each output of a run.
COUNTS = ("requests_completed", "requests_ok")
TIMES = ("mean_us", "min_us", "max_us")
# Of a time, beside what each of two outputs rounds: histograms have three digits.
PRECISION = 0.002
# Of the elapsed time: tools measure it in several places, some in whole seconds.
ELAPSED_SHARE, ELAPSED_S = 0.02, 1.0
# Two outputs of one run agree in a count and so many times; without counts in more times.
FEWEST_TIMES, FEWEST_TIMES_ALONE = 2, 5
# Runs above one that are held against it.
MOST_LOOKED_AT = 20


def is_same_run(trial: ParsedTrial, other: ParsedTrial) -> bool:
    """Whether two outputs of one tool agree in all figures that both have, and in enough."""
    counts = _counts_of(trial, other)
    known = [pair for pair in counts if None not in pair]
    if any(ours != theirs for ours, theirs in known) or not _is_same_time(trial, other):
        return False
    times = list(_times_agree(trial, other))
    fewest = FEWEST_TIMES if any(ours for ours, _ in known) else FEWEST_TIMES_ALONE
    return all(times) and len(times) >= fewest


def _counts_of(trial: ParsedTrial, other: ParsedTrial) -> list[tuple[int | None, int | None]]:
    # Where redirects are not told from errors, successes are of fewer statuses.
    are_alike = trial.not_2xx is None and other.not_2xx is None
    names = COUNTS if are_alike else COUNTS[:1]
    return [(getattr(trial, name), getattr(other, name)) for name in names]


def _is_same_time(trial: ParsedTrial, other: ParsedTrial) -> bool:
    ours, theirs = trial.elapsed_s, other.elapsed_s
    if ours is None or theirs is None:
        return True
    return abs(ours - theirs) <= ELAPSED_S + ELAPSED_SHARE * max(ours, theirs)


def _times_agree(trial: ParsedTrial, other: ParsedTrial) -> Iterator[bool]:
    """Of each latency that both have, whether it is the same but for rounding."""
    ours, theirs = _latency(trial), _latency(other)
    step_us = max(trial.latency_resolution_us or 1, other.latency_resolution_us or 1)
    pairs = [(getattr(ours, name), getattr(theirs, name)) for name in TIMES]
    # Percentiles of samples follow another rule than the printed ones.
    if trial.histogram is None and other.histogram is None:
        pairs += [(us, theirs.percentiles.get(name)) for name, us in ours.percentiles.items()]
    for first, second in pairs:
        if first is not None and second is not None:
            yield abs(first - second) <= step_us + PRECISION * max(first, second)


def _latency(trial: ParsedTrial) -> Latency:
    histogram = trial.histogram
    if trial.latency.mean_us is not None or histogram is None or not histogram.count:
        return trial.latency
    return latency_of(histogram)


def with_same_runs(parts: Sequence[Part]) -> list[Part]:
    """The parts, with a JSON document or a table joined to its tool's report of the same run above
    it."""
    kinds: dict[str | None, set[str]] = {}
    for part in parts:
        kinds.setdefault(part.tool, set()).add(part.kind)
    joined: list[Part] = []
    for part in parts:
        has_several = part.tool is not None and (len(kinds[part.tool]) > 1 or part.kind == TABLE)
        for run in _runs_apart(part) if has_several else [part]:
            _add(joined, run)
    return joined


def _runs_apart(part: Part) -> list[Part]:
    """A part for each run in it, where its lines are known."""
    lines = lines_of_entries(part)
    if len(lines) < 2 or lines[0] == lines[1]:
        return [part]
    runs = []
    for (first, last), entry in zip(lines, part.entries, strict=True):
        run = Part(part.source.part(first, last), part.kind, first, last, part.command)
        vars(run).update(claims=part.claims, entries=[entry])
        runs.append(run)
    return runs


def _add(joined: list[Part], run: Part) -> None:
    """Add a run, to another output of it where there is one."""
    before = reversed(range(len(joined))) if run.tool is not None else ()
    near = (at for at in before if joined[at].tool == run.tool)
    for at in islice(near, MOST_LOOKED_AT):
        if (both := _joined(joined[at], run)) is not None:
            joined[at] = both
            return
    joined.append(run)


def _only(part: Part) -> ParsedTrial | None:
    """The trial of a part that is one run."""
    return part.trials[0] if len(part.trials) == len(part.entries) == 1 else None


def _joined(part: Part, other: Part) -> Part | None:
    """The two as one, where their tool reads one trial in them and their figures agree."""
    if part.tool is None or (part.kind == other.kind and part.kind != TABLE):
        return None
    ours, theirs = _only(part), _only(other)
    if ours is None or theirs is None or not is_same_run(ours, theirs):
        return None
    both = replace(part, others=[*part.others, other], names={})
    entries = read_alone(part.tool, [*part.sources, other.source])
    vars(both).update(claims=part.claims, entries=entries)
    trial = _only(both)
    if trial is None or {*trial.disagreements} - {*ours.disagreements, *theirs.disagreements}:
        return None
    return both
