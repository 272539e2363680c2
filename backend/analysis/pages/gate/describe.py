"""A candidate held against a baseline, with the requirements of a build."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from backend.analysis.compare.advice import as_sentence
from backend.analysis.compare.comparability import Comparability
from backend.analysis.compare.design import NamedRatio, design_doubts
from backend.analysis.compare.gathering import Gathered, gather
from backend.analysis.compare.panels import Judgement, combine
from backend.analysis.figures import Outcome, Ratio
from backend.analysis.grouping.points import place_of
from backend.analysis.grouping.sweep import Sweep
from backend.analysis.judge.cases import FamilySize, Judged, RunNoise, judge_cases, list_cases
from backend.analysis.judge.history import History, gather_baseline, history_in
from backend.analysis.judge.requirements import Requirement
from backend.analysis.loading.rows import MAX_TRIALS
from backend.analysis.loading.viewer_slots import comparison_slot
from backend.analysis.pages.gate.answer import (
    AdviceUnit,
    Gate,
    GateAdvice,
    GateNoise,
    GateRow,
    GateRun,
    GateSide,
)
from backend.analysis.pages.gate.expected import lack_of_expected
from backend.analysis.pages.gate.missing import missing_text, names_of
from backend.analysis.pages.gate.sentences import (
    GRAVITY,
    change_text,
    finding_text,
    gravest,
    row_text,
    settle_text,
    verdict_text,
)
from backend.analysis.pages.gate.sides import Side, find_baseline, find_candidate
from backend.analysis.pages.pair.judging import figure_of_level, figure_of_measure
from backend.analysis.query.compare_query import CompareQuery
from backend.analysis.query.metrics import CORE
from backend.analysis.query.timestamps import instant
from backend.analysis.query.units import place_text
from backend.analysis.record import record_of
from backend.errors import Conflict
from backend.links import compare_link, pair_link, run_link
from backend.noise.models import HostNoise
from backend.runs.database.read_router import repeatable_read
from backend.runs.models import Run
from backend.runs.tables.happening import happened_at
from backend.stats.replicates import Unit

_UNITS: dict[Unit, AdviceUnit] = {"run": "runs", "start": "starts", "trial": "trials"}

# Each has a history of its own.
MOST_SERIES = 20
# Of all baselines together: no further one is loaded, so that a gate takes about as long as a
# comparison. One of these alone may have as many.
MOST_TRIALS = MAX_TRIALS


class StillMeasured(Conflict):
    """The candidate's trials still come; the same question works later."""


@dataclass(frozen=True, slots=True)
class GateQuery:
    """What a build asks. `narrow`: a comparison whose filters both sides keep. `may_differ`: what
    need not be the same on both sides. `most_runs`: how many runs the candidate gets at the most,
    with a question after each. `expected`: series that must be judged."""

    candidate: Side
    baseline: Side
    requirements: tuple[Requirement, ...]
    narrow: CompareQuery
    may_differ: frozenset[str] = frozenset()
    most_runs: int = 1
    expected: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Sides:
    """The candidate, which of its series are `judged`, and the baselines of these by their ids."""

    candidate: Gathered
    judged: Sequence[Sweep]
    histories: Mapping[str, History]


def judge_build(asked: GateQuery, *, workspace_ids: Sequence[UUID], viewer: str) -> Gate:
    """The verdict of a build. Raises NotVisible for a candidate that is not there, StillMeasured
    for one that is not complete, QueryError for an unknown value, TooManyComparisons and
    AnswersBusy."""
    with comparison_slot(viewer), repeatable_read():
        candidates = find_candidate(asked.candidate, workspace_ids)
        if any(run.is_open for run in candidates):
            raise StillMeasured(
                "The candidate is still being measured: its last trials have not arrived."
            )
        return _answer(asked, candidates)


def _answer(asked: GateQuery, candidates: Sequence[Run]) -> Gate:
    first = _gather(asked, candidates)
    servers = {sweep.group.first.server.name for sweep in first.sweeps}
    baselines = find_baseline(asked.baseline, candidates, servers)
    filters = _filters(asked, asked.baseline, baselines)
    sides = _load_sides(first, filters, candidates[0].workspace_id, asked.may_differ)
    judged, noise = _judge(sides, asked)
    comparability = _comparability(sides)
    axis = first.grouping.x
    missing = _unread_text(first) or _missing_text(asked, first, baselines, judged)
    verdict = gravest([row.verdict for row in judged] + (["not_comparable"] if missing else []))
    reason = missing or _why_nothing(asked, baselines, comparability)
    judged.sort(key=lambda row: GRAVITY.index(row.verdict))
    return Gate(
        verdict=verdict,
        verdict_text=verdict_text(verdict, judged),
        finding=finding_text(verdict, judged, axis, reason),
        settle=settle_text(judged, axis, is_history=asked.baseline.is_history),
        candidate=_side(asked.candidate, candidates),
        baseline=_side(asked.baseline, baselines),
        requirements=[requirement.text for requirement in asked.requirements],
        most_runs=asked.most_runs,
        outcome=_outcome(comparability, reason),
        rows=[_row(row, axis, is_history=asked.baseline.is_history) for row in judged],
        noise=noise,
        notes=list(_notes(sides, judged, asked.most_runs)),
        url=_url(candidates, baselines),
    )


def _gather(asked: GateQuery, candidates: Sequence[Run]) -> Gathered:
    """The candidate with the metrics of all requirements."""
    filters = _filters(asked, asked.candidate, candidates)
    metrics = tuple(dict.fromkeys(requirement.metric.id for requirement in asked.requirements))
    first = CORE[0] if metrics[0] in CORE else metrics[0]
    query = CompareQuery(metric=first).with_filters(**filters)
    return gather(query, [candidates[0].workspace_id], metrics)


def _filters(asked: GateQuery, side: Side, runs: Sequence[Run]) -> dict[str, Sequence[object]]:
    narrow: Mapping[str, Sequence[object]] = asked.narrow.filters
    return {**narrow, **side.filters, "run": [run.pk for run in runs]}


def _load_sides(
    candidate: Gathered,
    filters: Mapping[str, Sequence[object]],
    workspace_id: UUID,
    may_differ: frozenset[str],
) -> _Sides:
    """The first series of the candidate with their baselines, as many as may be loaded."""
    histories: dict[str, History] = {}
    # Series of one server and workload have their baseline in the same cells.
    baselines: dict[tuple[str, str], Gathered] = {}
    trials = 0
    for number, sweep in enumerate(candidate.sweeps[:MOST_SERIES] if filters["run"] else ()):
        key = sweep.group.first.server.name, sweep.group.first.workload.name
        if key not in baselines:
            if trials >= MOST_TRIALS:
                return _Sides(candidate, candidate.sweeps[:number], histories)
            baselines[key] = gather_baseline(candidate, sweep, filters, workspace_id)
            trials += sum(len(point.trials) for point in baselines[key].points)
        history = history_in(baselines[key], candidate, sweep, may_differ)
        if history is not None:
            histories[sweep.group.id] = history
    return _Sides(candidate, candidate.sweeps[:MOST_SERIES], histories)


def _judge(sides: _Sides, asked: GateQuery) -> tuple[list[Judged], list[GateNoise]]:
    """The rows, whose intervals hold together."""
    cases = list(list_cases(sides.candidate, sides.histories, asked.requirements))
    asking = FamilySize(sum(case.is_estimated for case in cases), asked.most_runs)
    relevant = sides.candidate.demands.relevant
    judged, of_metrics = judge_cases(cases, _noises(sides.histories), relevant, asking)
    return judged, list(map(_noise, of_metrics))


def _noises(histories: Mapping[str, History]) -> list[HostNoise]:
    """Of the hosts of all baselines, each once."""
    noises = (noise for history in histories.values() for noise in history.gathered.noises)
    return list({noise.host_id: noise for noise in noises}.values())


def _noise(of_runs: RunNoise) -> GateNoise:
    return GateNoise(
        metric=of_runs.metric,
        share=of_runs.share,
        source=of_runs.source,  # type: ignore[arg-type]
        comparisons=of_runs.floor.run_freedom,
    )


def _comparability(sides: _Sides) -> Comparability | None:
    """Of all series that have a baseline; None if none has."""
    judgements = [
        Judgement(sweep.group.label, (sweep,), (), history.comparability)
        for sweep in sides.judged
        if (history := sides.histories.get(sweep.group.id)) is not None
    ]
    if len(judgements) == 1:
        return judgements[0].comparability
    return combine(judgements) if judgements else None


def _why_nothing(
    asked: GateQuery, baselines: Sequence[Run], comparability: Comparability | None
) -> str:
    """Why no requirement could be judged, where none was."""
    if not baselines:
        return (
            f"no run with {asked.baseline.text} measured these servers before the candidate. "
            "Measure the baseline first."
        )
    if comparability is None:
        return "the baseline has no series like those of the candidate."
    if comparability.reasons:
        return f"{comparability.reasons[0]}."
    return "the candidate and the baseline share no load point."


def _unread_text(gathered: Gathered) -> str | None:
    """Which load point of the candidate has no figures, because no output could be read."""
    points = {(sweep.group.id, point.x) for sweep in gathered.sweeps for point in sweep.points}
    for row in gathered.not_read:
        if row.x is not None and (row.series, row.x) not in points:
            place = place_text(row.x, gathered.grouping.x)
            return f"no trial of {row.label} {place} has figures. {row.reason}"
    return None


def _missing_text(
    asked: GateQuery, candidate: Gathered, baselines: Sequence[Run], judged: Sequence[Judged]
) -> str | None:
    """Which series or load the newest run of the baseline has, and the candidate lacks; else which
    of the expected series was not judged."""
    if not baselines:
        return None
    filters = _filters(asked, asked.baseline, baselines[:1])
    newest = gather(CompareQuery().with_filters(**filters), [baselines[0].workspace_id])
    if (missing := missing_text(newest, candidate)) is not None:
        return missing
    of_rows = names_of(row.case.sweep for row in judged)
    return lack_of_expected(asked.expected, names_of(candidate.sweeps), of_rows)


def _outcome(comparability: Comparability | None, reason: str) -> Outcome:
    if comparability is None:
        return Outcome(status="not_comparable", differing=(), reasons=(reason,))
    return comparability.to_record()


def _side(side: Side, runs: Sequence[Run]) -> GateSide:
    return GateSide(
        asked=side.text,
        runs=[
            GateRun(id=str(run.pk), url=run_link(run.pk), started_at=instant(happened_at(run)))
            for run in runs
        ],
    )


def _row(judged: Judged, axis: str, *, is_history: bool) -> GateRow:
    case, advice = judged.case, judged.advice
    x = case.point.x
    return GateRow(
        requirement=case.requirement.text,
        metric=case.requirement.metric.id,
        series=case.sweep.group.label,
        x=None if x is None else place_of(x),
        at=place_text(x, axis),
        verdict=judged.verdict,
        verdict_text=verdict_text(judged.verdict, [judged]),
        text=row_text(judged, axis, is_history=is_history),
        change=change_text(judged),
        baseline=None if case.level is None else figure_of_level(case.level),
        candidate=figure_of_measure(case.measure),
        ratio=None if judged.ratio is None else record_of(Ratio, judged.ratio),
        tells_from=judged.tells_from,
        baseline_runs=0 if case.level is None else case.level.runs,
        candidate_runs=case.candidate_runs,
        advice=None
        if advice is None
        else GateAdvice(more=advice.more, unit=_UNITS[advice.unit], odds=advice.odds),
    )


def _notes(sides: _Sides, judged: Sequence[Judged], most_runs: int) -> Sequence[str]:
    """What was left out, and what no interval allows for, in sentences."""
    candidate = sides.candidate
    notes = list(candidate.left_out)
    if len(candidate.sweeps) > len(sides.judged):
        because = "" if len(sides.judged) == MOST_SERIES else f" (limit: {MOST_TRIALS:,} trials)"
        notes.append(
            f"Only the first {len(sides.judged)} series were judged{because}; choose some with "
            "server=."
        )
    for sweep in sides.judged:
        notes += _notes_of_series(sweep.group.label, sides.histories.get(sweep.group.id))
    for row in candidate.not_read:
        notes.append(f"{row.trials} trials of {row.label} have no figures: {row.reason}")
    earlier = max((row.case.level.earlier for row in judged if row.case.level), default=0)
    if earlier:
        notes.append(
            f"Up to {earlier} runs of the baseline are older than its last change and do not count."
        )
    runs = max((row.case.candidate_runs for row in judged), default=0)
    if runs > most_runs > 1:
        notes.append(
            f"The candidate has {runs} runs, more than most_runs = {most_runs}: the intervals of "
            "its answers no longer hold together at 95 %."
        )
    return [*notes, *_design_notes(judged)]


def _design_notes(judged: Sequence[Judged]) -> list[str]:
    """What the intervals of the verdicts do not allow for, and what to do."""
    decided = [row for row in judged if row.is_decided]
    told = [
        NamedRatio(row.ratio, "the candidate", "the baseline")
        for row in decided
        if row.ratio is not None
    ]
    limited = [row.case.measure.sample for row in decided if row.ratio is None]
    doubts = design_doubts(told, [sample.units for sample in limited if sample is not None])
    return [f"{as_sentence(doubt.text)} {doubt.remedy}" for doubt in doubts]


def _notes_of_series(label: str, history: History | None) -> list[str]:
    if history is None:
        return [f"{label} was not measured in the baseline, so nothing was judged."]
    if not history.sweeps:
        return [f"{label} is not comparable with the baseline. {history.why_none}"]
    if history.left_out:
        return [f"{label}: {history.left_out} series of the baseline are not comparable with it."]
    return []


def _url(candidates: Sequence[Run], baselines: Sequence[Run]) -> str | None:
    slug = candidates[0].workspace.slug
    if len(candidates) == len(baselines) == 1 and candidates[0] != baselines[0]:
        return pair_link(slug, baselines[0].pk, candidates[0].pk)
    runs = [str(run.pk) for run in (*candidates, *baselines)]
    return compare_link(slug, run=runs, x="date") if baselines else None
