"""The answer of the gate as typed records. Null is unknown."""

from collections.abc import Sequence
from typing import Annotated, Literal

from msgspec import Meta

from backend.analysis.figures import Id, Instant, Number, Outcome, Place, Ratio
from backend.analysis.judge.cases import CaseVerdict
from backend.analysis.pages.pair.answer import PairFigure
from backend.analysis.record import Record
from backend.stats.sample_size import MOST_ADVISED

VerdictText = Annotated[
    str,
    Meta(
        description="The verdict in words. For too_noisy, the words say which is true: the noise "
        "is too large, or the trials are too few for an interval"
    ),
]
NoiseSource = Literal["history", "host", "assumed"]
_NOTES = (
    "What was left out of the judgement, and why, and what no interval allows for: single starts, "
    "and the order and time of the trials"
)


class GateRun(Record, frozen=True, kw_only=True):
    """A run that counted."""

    id: Id
    url: Annotated[str, Meta(description="Its page")]
    started_at: Instant


class GateSide(Record, frozen=True, kw_only=True):
    """The candidate or the baseline."""

    asked: Annotated[str, Meta(description="As in the request, such as label=branch:main")]
    runs: Annotated[Sequence[GateRun], Meta(description="The newest first")]


class GateNoise(Record, frozen=True, kw_only=True):
    """How far runs of the baseline differ by chance, by metric."""

    metric: str
    share: Annotated[
        Number | None, Meta(description="Standard deviation from run to run; 0.03 is 3 %")
    ]
    source: Annotated[
        NoiseSource,
        Meta(description="The baseline's own runs, all runs of the host, or no record at all"),
    ]
    comparisons: Annotated[Number, Meta(description="Independent comparisons between runs")]


AdviceUnit = Literal["runs", "starts", "trials"]


class GateAdvice(Record, frozen=True, kw_only=True):
    """What would settle a row whose noise is too large."""

    more: Annotated[
        Number | None, Meta(description=f"Null if not even {MOST_ADVISED} more would be enough")
    ]
    unit: AdviceUnit
    odds: Annotated[Number, Meta(description="The chance of a verdict")]


class GateRow(Record, frozen=True, kw_only=True):
    """One requirement for one series at one load point."""

    requirement: str
    metric: str
    series: str
    x: Place | None
    at: Annotated[str, Meta(description="The load point in words, such as at 64 connections")]
    verdict: CaseVerdict
    verdict_text: VerdictText
    text: Annotated[str, Meta(description="The row in one or two sentences")]
    change: Annotated[
        str | None,
        Meta(
            description="From the baseline to the candidate, such as 1.31× [1.2, 1.42], 4 ms → 5 ms"
        ),
    ]
    baseline: PairFigure | None
    candidate: PairFigure | None
    ratio: Annotated[
        Ratio | None,
        Meta(
            description="candidate ÷ baseline. All intervals of an answer hold together at 95 %; "
            "with most_runs, those of all answers about the candidate"
        ),
    ]
    tells_from: Annotated[
        Number | None,
        Meta(description="Which change would have been found in 4 of 5 cases or more; 0.05 is 5 %"),
    ]
    baseline_runs: Annotated[
        Number, Meta(description="Runs of the baseline that counted: those since its last change")
    ]
    candidate_runs: Annotated[Number, Meta(description="Runs of the candidate that counted")]
    advice: GateAdvice | None


class Gate(Record, frozen=True, kw_only=True):
    """Whether a candidate keeps its requirements against a baseline."""

    verdict: CaseVerdict
    verdict_text: VerdictText
    finding: Annotated[str, Meta(description="The answer in one sentence")]
    settle: Annotated[
        str | None, Meta(description="What to measure for a verdict, if it is too_noisy")
    ]
    candidate: GateSide
    baseline: GateSide
    requirements: Sequence[str]
    most_runs: Annotated[Number, Meta(description="As in the request")]
    outcome: Outcome
    rows: Annotated[Sequence[GateRow], Meta(description="The most serious first")]
    noise: Sequence[GateNoise]
    notes: Annotated[Sequence[str], Meta(description=_NOTES)]
    url: Annotated[
        str | None, Meta(description="The page that shows the runs side by side or together")
    ]
