"""Two runs, or two versions of a server, compared with each other."""

from collections.abc import Sequence
from uuid import UUID

from backend.analysis.compare.comparability import Comparability
from backend.analysis.compare.gathering import Gathered
from backend.analysis.compare.headline import Headline
from backend.analysis.compare.panels import combine
from backend.analysis.compare.reasons import Harm, Reason
from backend.analysis.compare.trust import judge_trust
from backend.analysis.grouping.sweep import Sweep
from backend.analysis.loading.viewer_slots import comparison_slot
from backend.analysis.pages.pair.answer import Pair, SeriesPair
from backend.analysis.pages.pair.differences import find_differences
from backend.analysis.pages.pair.headline import decide_pairs, write_finding, write_pair_finding
from backend.analysis.pages.pair.judging import JudgedPair, judge_pairs
from backend.analysis.pages.pair.matching import match_series
from backend.analysis.pages.pair.sides import Side, load_sides
from backend.analysis.query.fields import FIELDS
from backend.runs.database.read_router import repeatable_read

NOTHING_SHARED = "Nothing was measured in both: no server with the same workload and path"
_NOTHING_SHARED = Reason(
    NOTHING_SHARED, "Choose two runs of one server and one workload.", Harm.FORBIDS
)


def compare_pair(a: UUID, b: UUID, *, workspace_ids: Sequence[UUID], viewer: str) -> Pair:
    """Both sides with what differs and their figures; ratios are b ÷ a.

    Raises NotVisible, NoPair, TooManyComparisons and AnswersBusy.
    """
    with comparison_slot(viewer), repeatable_read():
        sides = load_sides(a, b, workspace_ids)
        return _answer(*sides)


def _answer(a: Side, b: Side) -> Pair:
    matched = match_series(a.gathered.sweeps, b.gathered.sweeps)
    pairs = judge_pairs(a, b, matched.pairs)
    axis, relevant = a.gathered.grouping.x, a.gathered.demands.relevant
    differences = find_differences(a, b)
    names = _names(a, b)
    headline, comparability = _overall(pairs, names, axis, relevant)
    return Pair(
        a=a.to_record(),
        b=b.to_record(),
        finding=headline.text,
        sentence=headline.sentence,
        margin=headline.margin,
        outcome=comparability.to_record(),
        trust=judge_trust(comparability, decide_pairs(pairs, names)),
        axis=FIELDS[axis].label,
        differences=differences.rows,
        differences_left_out=differences.left_out,
        alike=differences.alike,
        pairs=[_series_pair(pair, names, a.gathered, is_alone=len(pairs) == 1) for pair in pairs],
        only_a=_labels(matched.only_a, workloads := _workloads(a, b)),
        only_b=_labels(matched.only_b, workloads),
    )


def _overall(
    pairs: Sequence[JudgedPair], names: tuple[str, str], axis: str, relevant: float
) -> tuple[Headline, Comparability]:
    """The sentence about all pairs, and whether they may be compared."""
    if not pairs:
        return Headline(NOTHING_SHARED), Comparability("not_comparable", (), (_NOTHING_SHARED,))
    judgements = [pair.judgement for pair in pairs]
    # Joined reasons begin with the name of their pair.
    comparability = combine(judgements) if len(pairs) > 1 else judgements[0].comparability
    headline = write_finding(pairs, comparability, names, axis=axis, relevant=relevant)
    return headline, comparability


def _names(a: Side, b: Side) -> tuple[str, str]:
    """What the sides are called in a sentence: servers by their names, if these differ."""
    if a.kind == "server" and a.name != b.name:
        return a.name, b.name
    return (f"{a.kind} A", f"{b.kind} B")


def _series_pair(
    pair: JudgedPair, names: tuple[str, str], a: Gathered, *, is_alone: bool
) -> SeriesPair:
    """`is_alone`: whether its finding is that of the page, which says what would decide it."""
    axis, relevant = a.grouping.x, a.demands.relevant
    headline = write_pair_finding(pair, names, axis=axis, relevant=relevant, is_advised=is_alone)
    return SeriesPair(
        a=pair.a.group.label,
        b=pair.b.group.label,
        slot=pair.a.group.first.server.slot,
        finding=headline.text,
        outcome=pair.judgement.comparability.to_record(),
        rows=pair.rows(),
    )


def _workloads(*sides: Side) -> set[str]:
    return {sweep.group.first.workload.name for side in sides for sweep in side.gathered.sweeps}


def _labels(sweeps: Sequence[Sweep], workloads: set[str]) -> list[str]:
    """The names of series; each with its workload where the sides have several of them."""
    if len(workloads) < 2:
        return [sweep.group.label for sweep in sweeps]
    return [_with_workload(sweep) for sweep in sweeps]


def _with_workload(sweep: Sweep) -> str:
    workload = sweep.group.first.workload.name
    label = sweep.group.label
    return label if workload in label else f"{label} · {workload}"
