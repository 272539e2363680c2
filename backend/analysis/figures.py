"""The figures: the answer of a comparison, the same on the page, in the API and in a snapshot.

The OpenAPI document and the types of the browser are made from these records. Their order is the
order of the JSON. Null is unknown. A field with a default may be absent in an older snapshot.
"""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import msgspec
import orjson
from msgspec import UNSET, Meta, UnsetType

from backend.analysis.answer import Answer
from backend.analysis.record import LOW_END, Record
from backend.runs.checks import Severity
from backend.stats import Better, Verdict

SCHEMA = 2

# 64 stays 64 and 64.0 stays 64.0 where a snapshot is read.
Number = int | float
Place = Annotated[Number | str, Meta(description="A number, or the name of a category")]
Id = Annotated[str, Meta(extra_json_schema={"format": "uuid"})]
Instant = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]
LimitDoubt = Annotated[
    str | UnsetType,
    Meta(description="That p99 may be on the other side of `limit`, with its interval"),
]
Status = Literal["comparable", "caveats", "not_comparable"]
Kind = Literal["number", "category"]
Group = Literal["rate", "latency", "errors", "resources"]
Origin = Literal["computed", "reported"]


class Metric(Record, frozen=True, kw_only=True):
    """What can be measured, its unit, and which direction is better."""

    id: str
    label: str
    unit: str
    better: Better
    group: Group | UnsetType = UNSET


class Measure(Record, frozen=True, kw_only=True):
    """One figure of a point: the centre of its trials, its interval and every trial's value."""

    value: Annotated[
        Number | None,
        Meta(description="Geometric mean of the trials, run by run; of errors, their share"),
    ]
    low: Annotated[Number | None, Meta(description=LOW_END)]
    high: Number | None
    each: Annotated[
        Sequence[Number | None] | None,
        Meta(description="The value of each trial; null for a trial without one"),
    ] = None
    origin: Annotated[
        Origin | None,
        Meta(description="Computed from the requests, or as the load tool reports it"),
    ] = None
    interval: Annotated[str | None, Meta(description="What low and high cover")] = None
    pooled: Annotated[
        Number | UnsetType,
        Meta(description="A latency over all requests together, where their distribution is known"),
    ] = UNSET
    step: Annotated[
        Number | UnsetType,
        Meta(description="Step of the printed figure in µs; a smaller value is known as below it"),
    ] = UNSET


class Point(Record, frozen=True, kw_only=True):
    """A series at one place on the axis: the trials of its cells, pooled."""

    x: Place
    cell: str
    cells: Sequence[str] = ()
    trials: int
    overload: Annotated[bool | None, Meta(description="True if the offered rate was not reached")]
    metrics: Annotated[
        dict[str, Measure | None],
        Meta(description="Throughput, p50, p99, error_rate and the metric of the query, by id"),
    ]
    errors: Annotated[
        dict[str, Number | None] | None,
        Meta(description="Shares of the attempts by class; null if the load tool gives none"),
    ] = None
    checks: Sequence[str]
    runs: Annotated[
        Sequence[int] | UnsetType, Meta(description="For each trial, the position of its run")
    ] = UNSET
    limit_doubt: LimitDoubt = UNSET


class Series(Record, frozen=True, kw_only=True):
    """The results that differ in their place on the axis alone."""

    id: Annotated[str, Meta(description="Eight hexadecimal digits; the value of baseline=")]
    label: str
    server: str
    server_slug: str | UnsetType = UNSET
    version: str | None
    runtime: str | None = None
    configuration: str | None = None
    workload: str | None
    workload_slug: str | None = None
    tool: str | None
    loop: str | UnsetType = UNSET
    load: Annotated[str | None, Meta(description="The load, if it is not on the x axis")] = None
    host: str | None
    host_slug: str | None = None
    facet: str | None = None
    slot: Annotated[int, Meta(description="Its colour on every page")]
    points: Sequence[Point]


class Outcome(Record, frozen=True, kw_only=True):
    """Whether the series may be compared at all."""

    status: Status
    differing: Annotated[Sequence[str], Meta(description="Ids of the properties that differ")]
    reasons: Annotated[Sequence[str], Meta(description="Sentences, the most serious first")]
    intent: Annotated[str | None, Meta(description="The only property that differs")] = None
    confounded: Annotated[Sequence[str], Meta(description="Properties that differ together")] = ()
    overridden: Annotated[bool | UnsetType, Meta(description="Ranked although not comparable")] = (
        UNSET
    )


class Axis(Record, frozen=True, kw_only=True):
    """What lies on the x axis."""

    field: str
    label: str
    kind: Kind | UnsetType = UNSET
    values: Sequence[Place]


class Ratio(Record, frozen=True, kw_only=True):
    """One figure divided by the baseline's, with its 95 % interval."""

    value: Number | None
    low: Number | None
    high: Number | None
    verdict: Verdict
    why: str | None
    scope: Annotated[str | None, Meta(description="Which runs the interval covers")] = None
    # Left out by older versions, so that what they froze keeps its bytes.
    finds_from: Annotated[
        Number | UnsetType | None,
        Meta(description="Smallest difference (a share) that would have been found, if none was"),
    ] = UNSET


class RankRow(Record, frozen=True, kw_only=True):
    """A series in a ranking."""

    series: str
    label: str
    value: Number | None
    low: Number | None
    high: Number | None
    tier: str | None
    ratio: Ratio | None
    significant: Annotated[bool | None, Meta(description="Beyond noise")] = None
    relevant: Annotated[bool | None, Meta(description="Beyond the workspace's threshold")] = None
    why: Annotated[str | None, Meta(description="Why its figure may not be compared")] = None
    over_limit: Annotated[
        str | UnsetType, Meta(description="Why it does not keep limit=, if it does not")
    ] = UNSET
    limit_doubt: LimitDoubt = UNSET


class Ranking(Record, frozen=True, kw_only=True):
    """The series at one place on the axis, the best first."""

    x: Place
    metric: str
    baseline: Annotated[str | None, Meta(description="The id of its series")]
    rows: Sequence[RankRow]
    # Left out where all series are compared, so that what was frozen keeps its bytes.
    beyond: Annotated[
        Sequence[RankRow] | UnsetType,
        Meta(description="Series beyond the largest number that is compared"),
    ] = UNSET


class Dismissed(Record, frozen=True, kw_only=True):
    """A run in which a member said why a check's finding does not count."""

    run: str
    reason: str
    by: str | None
    at: Instant | None


class FiredCheck(Record, frozen=True, kw_only=True):
    """A check that fired, with the cells and trials it fired on (at most 100 of each)."""

    id: str
    severity: Severity
    title: str
    explanation: str
    section: Annotated[str | UnsetType, Meta(description="Its section in the documentation")] = (
        UNSET
    )
    count: int
    cells: Sequence[str] = ()
    trials: Sequence[str] = ()
    runs: Annotated[
        Sequence[str] | UnsetType, Meta(description="For an error: its runs' ids, at most 100")
    ] = UNSET
    dismissed: Annotated[Sequence[Dismissed], Meta(description="A member dismissed it")] = ()


class SourceRun(Record, frozen=True, kw_only=True):
    """A run whose trials are shown."""

    id: Id
    started_at: Instant | None
    recorded_at: Instant | UnsetType = UNSET
    url: str
    servers: Sequence[str] = ()
    versions: Annotated[
        dict[str, Sequence[str]] | UnsetType,
        Meta(description="By server, the versions that it has in this run"),
    ] = UNSET
    trials: int
    # Left out for a run that has ended, so that what was frozen keeps its bytes.
    open: Annotated[bool | UnsetType, Meta(description="Whether more trials will arrive")] = UNSET


class Panel(Record, frozen=True, kw_only=True):
    """One panel of a comparison that facet= divides."""

    value: str
    series: Sequence[str]
    finding: str
    outcome: Outcome
    ranking: Ranking | None


class Curve(Record, frozen=True, kw_only=True):
    """The latency of a series by percentile."""

    series: str
    count: Annotated[int, Meta(description="Requests in the histogram")]
    points: Annotated[Sequence[tuple[Number, Number]], Meta(description="[percent, µs], rising")]


class Curves(Record, frozen=True, kw_only=True):
    """Latency percentile curves, each of all its trials' histograms merged."""

    at: Annotated[
        Number | str | None, Meta(description="The place on the axis; null where panels differ")
    ]
    series: Sequence[Curve]


class Knee(Record, frozen=True, kw_only=True):
    """The lowest load beyond which throughput gains nothing."""

    series: str
    x: Number | None
    throughput: Number | None
    why: str | None


class CapacityRow(Record, frozen=True, kw_only=True):
    """The highest load of a series under the limit."""

    series: str
    x: Annotated[Number | None, Meta(description="The highest measured load under the limit")]
    throughput: Number | None
    low: Annotated[Number | None, Meta(description="The highest load certainly under the limit")]
    high: Annotated[Number | None, Meta(description="The highest load that may be under the limit")]
    why: str | None


class Capacity(Record, frozen=True, kw_only=True):
    """The highest load of each series whose p99 stays under a limit."""

    limit_us: Number
    rows: Sequence[CapacityRow]


class Baseline(Record, frozen=True, kw_only=True):
    """The row that the ratios are against."""

    server: str
    label: str


class Ratios(Record, frozen=True, kw_only=True):
    """Servers × workloads, each cell within its own workload."""

    baseline: Baseline
    rows: Sequence[str]
    columns: Sequence[str]
    loads: Annotated[
        Sequence[Place], Meta(description="The place at which each column is compared")
    ] = ()
    cells: Sequence[Sequence[Ratio | None]]
    means: Annotated[
        Sequence[Ratio | None], Meta(description="The geometric mean of each row")
    ] = ()
    means_over: Annotated[Sequence[str], Meta(description="The columns of the means")] = ()
    means_text: Annotated[
        str | UnsetType,
        Meta(description="Which columns the means cover, or why there are no means"),
    ] = UNSET
    outcome: Annotated[
        Outcome | UnsetType, Meta(description="Whether the series of each workload may be compared")
    ] = UNSET


class Change(Record, frozen=True, kw_only=True):
    """Where a series changed along versions or dates."""

    series: str
    x: Place
    before: Number | None
    after: Number | None
    ratio: Number | None
    low: Number | None
    high: Number | None
    verdict: Verdict | UnsetType = UNSET
    text: str


class Links(Record, frozen=True, kw_only=True):
    """The same view as page, json and csv."""

    page: str | UnsetType = UNSET
    json: str | UnsetType = UNSET
    csv: str | UnsetType = UNSET


class NotRead(Record, frozen=True, kw_only=True):
    """Trials of a series that are in no figure, and why."""

    series: str
    label: str
    x: Annotated[Place | None, Meta(description="Null without a known place on the axis")]
    trials: int
    reason: Annotated[str, Meta(description="One sentence")]
    runs: Annotated[Sequence[str] | UnsetType, Meta(description="The ids of their runs")] = UNSET


class Figures(Record, frozen=True, kw_only=True):
    """A comparison: the same on the page, here, in an export and in a frozen result set.

    Fields that are not required are in every current answer; they may be absent in a result set
    that an older version froze.
    """

    schema: int = 1
    query: Annotated[str, Meta(description="The canonical query string")]
    links: Links | UnsetType = UNSET
    finding: str
    # Left out by older versions, so that what they froze keeps its bytes.
    answer: Annotated[
        Answer | UnsetType, Meta(description="What to conclude, and whether to trust it")
    ] = UNSET
    conditions: str
    replication: Annotated[
        str | None, Meta(description="What more runs would add; null with three runs a point")
    ] = None
    outcome: Outcome
    x: Axis
    metric: str
    metrics: Sequence[Metric]
    series: Sequence[Series]
    ranking: Annotated[Ranking | None, Meta(description="Null when not comparable")]
    panels: Annotated[Sequence[Panel] | None, Meta(description="Null without facet=")] = None
    curves: Curves | None = None
    knees: Sequence[Knee] = ()
    capacity: Annotated[Capacity | None, Meta(description="Null without limit=")] = None
    ratios: Annotated[Ratios | None, Meta(description="Null with one workload")] = None
    changes: Annotated[Sequence[Change], Meta(description="With x=version or x=date")] = ()
    checks: Sequence[FiredCheck]
    runs: Sequence[SourceRun]
    truncated: Annotated[str | None, Meta(description="What is left out, as a sentence")] = None
    # Left out where all was read, so that what was frozen keeps its bytes.
    not_read: Annotated[
        Sequence[NotRead] | UnsetType, Meta(description="Trials that no figure counts")
    ] = UNSET


def figures_json(figures: Figures) -> bytes:
    return msgspec.json.encode(figures)


def plain_figures(figures: Figures) -> dict[str, Any]:
    """The figures as dicts, lists, texts and numbers."""
    plain: dict[str, Any] = orjson.loads(figures_json(figures))
    return plain
