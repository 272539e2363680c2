"""Whether series may be compared at all: like for like.

1. The server is under test: that servers differ is the comparison.
2. Workload, loop and load must match.
3. Load tool and hardware must match too, unless one of them is all that differs: then the
   comparison is about it. Which facts of the hosts count is the workspace's choice.
4. What lies on the x axis is compared along it. Along it nothing else may differ, or no change
   could be put down to the axis.
5. The trials of one point must be of one kind.
6. Every other difference is a caveat, and so is every check of weight.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from backend.analysis.compare.differences import Differences, find_differences
from backend.analysis.compare.reasons import (
    Harm,
    Reason,
    caveat,
    check_caveats,
    missing_caveat,
    mixed_reasons,
    refusal,
    unknown_caveat,
)
from backend.analysis.figures import Outcome, Status
from backend.analysis.grouping.fired_checks import Fired
from backend.analysis.grouping.grouping import Grouping, SeriesGroup
from backend.analysis.grouping.unread import UnreadSeries
from backend.analysis.query.factors import MACHINE, Factor, MustMatch
from backend.analysis.record import record_of

NOTHING_MEASURED = Reason("no measurement matches this query", "Remove a filter.", Harm.FORBIDS)


LOAD_UNKNOWN = Reason(
    "the load of every series is unknown",
    "Upload the outputs again with their load: the connections of a closed loop, the offered rate "
    "of an open loop.",
    Harm.FORBIDS,
)


@dataclass(frozen=True, slots=True)
class Comparability:
    """`differing`: ids of factors. `because`: the reasons, those that forbid it first."""

    status: Status
    differing: tuple[str, ...]
    because: tuple[Reason, ...]
    # The only difference, as a sentence: "only the kernel differs".
    intent: str | None = None
    # Words of differences that occur together, so that no effect can be put down to one.
    confounded: tuple[str, ...] = ()
    overridden: bool = False
    # Whether the points of each series differ in their place alone.
    is_alike_along_axis: bool = True

    @property
    def reasons(self) -> tuple[str, ...]:
        return tuple(reason.sentence for reason in self.because)

    @property
    def allows_ranking(self) -> bool:
        """Whether places and ratios may be shown."""
        return self.status != "not_comparable" or self.overridden

    @property
    def allows_sweeps(self) -> bool:
        """Whether a series may be compared with itself over its loads."""
        return self.is_alike_along_axis or self.overridden

    def without(self, missing: Sequence[UnreadSeries]) -> Comparability:
        """The same where series are not shown at all: their absence is a caveat."""
        if not missing:
            return self
        status: Status = "caveats" if self.status == "comparable" else self.status
        return replace(self, status=status, because=(*self.because, missing_caveat(missing)))

    def to_record(self) -> Outcome:
        return record_of(Outcome, self)


def judge_comparability(
    groups: Sequence[SeriesGroup],
    fired: Sequence[Fired],
    *,
    trials: int,
    grouping: Grouping,
    must_match: MustMatch,
    override: bool = False,
) -> Comparability:
    """May these series be ranked against each other, and if not, why not.

    `trials`: how many there are in all. `override`: the reader wants a ranking nevertheless.
    """
    if not groups:
        return Comparability("not_comparable", (), (NOTHING_MEASURED,))
    differences = find_differences(groups, grouping, must_match)
    refused = _refused(differences)
    confounded = _confounded(differences)
    caveats = _caveats(differences, confounded)
    points = sum(len(group.points) for group in groups)
    because = (
        *_reasons(differences, refused, caveats),
        *check_caveats(fired, trials=trials, points=points),
    )
    is_refused = bool(refused or differences.mixed)
    return Comparability(
        status=_status(is_refused=is_refused, has_reasons=bool(because)),
        differing=tuple(factor.id for factor in (*differences.across, *differences.within)),
        because=because,
        intent=_intent(differences, confounded),
        confounded=confounded,
        overridden=is_refused and override,
        is_alike_along_axis=not (differences.mixed or differences.along_axis),
    )


def of_unknown_load() -> Comparability:
    """Of series that match, and have no place on the axis because their load is unknown."""
    return Comparability("not_comparable", (), (LOAD_UNKNOWN,))


def _reasons(
    differences: Differences, refused: Sequence[Factor], caveats: Sequence[Factor]
) -> list[Reason]:
    """What the differences say against the comparison, the most serious first."""
    return [
        *mixed_reasons(differences),
        *(refusal(factor, differences) for factor in refused),
        *(caveat(factor, differences) for factor in caveats if factor not in refused),
        *(unknown_caveat(factor, differences.cells) for factor in differences.partly_unknown),
    ]


def _status(*, is_refused: bool, has_reasons: bool) -> Status:
    if is_refused:
        return "not_comparable"
    return "caveats" if has_reasons else "comparable"


def _refused(differences: Differences) -> list[Factor]:
    """The factors that forbid the comparison (rules 2 to 4)."""
    refused = {*differences.along_axis, *_refused_across(differences)}
    return [factor for factor in (*differences.across, *differences.within) if factor in refused]


def _refused_across(differences: Differences) -> list[Factor]:
    """The factors that forbid a comparison between the series (rules 2 and 3)."""
    must_match = [factor for factor in differences.across if factor.rule == "must"]
    alone_only = [factor for factor in differences.across if factor.rule == "axis"]
    # Facts of one machine are one difference; so are all differences of the servers.
    compared = {"machine" if factor.id in MACHINE else factor.id for factor in alone_only}
    if differences.tested:
        compared.add("server")
    return must_match + (alone_only if len(compared) > 1 else [])


def _confounded(differences: Differences) -> tuple[str, ...]:
    """What differs together. What the axis explains cannot be mistaken for another difference."""
    names = differences.unexplained
    if differences.along_axis:
        names = (differences.axis.label.lower(), *names)
    return names if len(names) > 1 else ()


def _caveats(differences: Differences, confounded: Collection[str]) -> list[Factor]:
    """The differences that a reader must know about.

    That servers differ is the purpose of a comparison. A difference within one server (its version,
    its settings) is a caveat only where something else differs too.
    """
    across = [
        factor
        for factor in differences.across
        if factor.rule != "test" or (confounded and factor.id != "server")
    ]
    return [*across, *differences.within]


def _intent(differences: Differences, confounded: Collection[str]) -> str | None:
    """What the comparison is about, where one thing alone differs."""
    is_alone = len(differences.dimensions) == 1 and not confounded
    if not is_alone or differences.within or differences.mixed:
        return None
    return f"only the {differences.dimensions[0]} differs"
