"""The answer about a pair as typed records, for the page and the API. Null is unknown."""

from collections.abc import Sequence
from typing import Annotated, Literal

from msgspec import Meta

from backend.analysis.answer import Trust
from backend.analysis.figures import Id, Instant, Number, Outcome, Place, Ratio
from backend.analysis.grouping.measure_texts import range_of_unlike
from backend.analysis.record import LOW_END, Record

SideKind = Literal["run", "server"]
# Where something differs: in what is compared, in the conditions, in the plan, on a host.
Topic = Literal["run", "conditions", "plan", "server host", "client host"]


class PairSide(Record, frozen=True, kw_only=True):
    """One of the two."""

    kind: SideKind
    id: Id
    name: str
    url: Annotated[str, Meta(description="Its page")]
    started_at: Instant | None
    trials: Annotated[int, Meta(description="Without warm-ups")]
    points: Annotated[int, Meta(description="Load points")]


class PairDifference(Record, frozen=True, kw_only=True):
    """Something that differs between the sides."""

    topic: Topic
    name: str
    a: str | None
    b: str | None
    meaning: Annotated[str | None, Meta(description="What it means for the comparison")] = None


class PairFigure(Record, frozen=True, kw_only=True):
    """The figure of one side."""

    value: Number | None
    low: Annotated[Number | None, Meta(description=LOW_END)]
    high: Number | None
    interval: Annotated[str | None, Meta(description="What low and high cover")]
    step: Annotated[
        Number | None, Meta(description="The smallest step of a latency that the tool prints, µs")
    ]

    @property
    def range_of_unlike(self) -> tuple[float, float] | None:
        return range_of_unlike(self)


class PairRow(Record, frozen=True, kw_only=True):
    """One metric at one load point."""

    x: Place
    metric: str
    a: PairFigure | None
    b: PairFigure | None
    ratio: Annotated[
        Ratio | None,
        Meta(
            description="b ÷ a. The intervals of one metric and load point hold together at 95 %. "
            "Null where the sides may not be compared, and for errors"
        ),
    ]
    text: Annotated[str | None, Meta(description="The ratio as pages show it")]


class SeriesPair(Record, frozen=True, kw_only=True):
    """A series of each side that are held against each other."""

    a: Annotated[str, Meta(description="Its name")]
    b: str
    slot: Annotated[int, Meta(description="The colour of its server")]
    finding: str
    outcome: Outcome
    rows: Sequence[PairRow]


class Pair(Record, frozen=True, kw_only=True):
    """Two runs, or two versions of a server, side by side."""

    a: PairSide
    b: PairSide
    finding: Annotated[str, Meta(description="The sentence with its margin")]
    sentence: str
    margin: Annotated[
        str | None,
        Meta(description="By how much, and what would decide it; null if nothing is open"),
    ]
    outcome: Outcome
    trust: Annotated[Trust, Meta(description="Whether to trust the finding")]
    axis: Annotated[str, Meta(description="The label of the axis, such as Connections")]
    differences: Sequence[PairDifference]
    differences_left_out: Annotated[int, Meta(description="How many more differ; not listed")]
    alike: Annotated[Sequence[str], Meta(description="Names of conditions that do not differ")]
    pairs: Sequence[SeriesPair]
    only_a: Annotated[Sequence[str], Meta(description="Series of a without a counterpart in b")]
    only_b: Sequence[str]
