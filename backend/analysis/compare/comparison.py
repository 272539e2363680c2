"""The comparison: one question in, one answer out, the same for page, API, export and snapshot."""

import uuid
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence

from msgspec import UNSET, structs

from backend.analysis import figures
from backend.analysis.compare.capacity import limit_doubt
from backend.analysis.compare.conditions import conditions_of
from backend.analysis.compare.gathering import Gathered, gather
from backend.analysis.compare.overall import judge_overall
from backend.analysis.compare.panels import (
    Panel,
    judge_panels,
    merge_fired_checks,
)
from backend.analysis.compare.replication import explain_replication
from backend.analysis.compare.views import Views, make_views
from backend.analysis.figures import SCHEMA, Figures, figures_json
from backend.analysis.grouping.points import Point, place_of
from backend.analysis.grouping.sweep import Sweep
from backend.analysis.loading.response_cache import get_or_compute_json
from backend.analysis.query.compare_query import CompareQuery
from backend.analysis.query.field import natural
from backend.analysis.query.fields import FIELDS
from backend.analysis.query.metrics import METRIC_RECORDS
from backend.analysis.query.records import LoadedRun, slug_of
from backend.analysis.query.timestamps import instant
from backend.links import link_to, run_link
from backend.runs.catalogue.naming import sort_names
from backend.runs.database.read_router import repeatable_read


def compare(query: CompareQuery, *, workspace_ids: Sequence[uuid.UUID]) -> Figures:
    """The figures of `query` over what the owner of `workspace_ids` may see.

    Raises NotVisible for a run that does not exist or is not theirs.
    """
    with repeatable_read():
        gathered = gather(query, workspace_ids)
        panels = judge_panels(gathered)
        views = make_views(gathered, panels)
    return _answer(gathered, panels, views)


def compare_as_json(
    query: CompareQuery, *, workspace_ids: Sequence[uuid.UUID], viewer: str
) -> bytes:
    """The JSON of `compare`, kept while nothing that it shows changes.

    Raises as `compare`, and TooManyComparisons or AnswersBusy where too many are computed.
    """
    return get_or_compute_json(
        "compare",
        query,
        workspace_ids,
        lambda: figures_json(compare(query, workspace_ids=workspace_ids)),
        viewer=viewer,
    )


def _answer(gathered: Gathered, panels: Sequence[Panel], views: Views) -> Figures:
    overall = judge_overall(gathered, panels, views)
    has_panels = gathered.grouping.facet is not None
    runs = _runs(gathered)
    return Figures(
        schema=SCHEMA,
        query=gathered.query.canonical(),
        links=_links(gathered),
        finding=overall.headline.text,
        answer=overall.answer(),
        conditions=conditions_of(gathered.points),
        replication=explain_replication(gathered.points, gathered.noises),
        outcome=overall.comparability.to_record(),
        x=_axis(gathered),
        metric=gathered.query.metric,
        metrics=METRIC_RECORDS,
        series=_all_series(gathered, runs),
        ranking=None if overall.ranking is None else overall.ranking.to_record(),
        panels=[panel.to_record() for panel in panels] if has_panels else None,
        curves=views.curves,
        knees=[row.to_record() for row in views.saturation],
        capacity=views.capacity_record(),
        ratios=None if views.ratios is None else views.ratios.to_record(),
        changes=[change.record for change in views.changes],
        checks=[fired.to_record() for fired in merge_fired_checks(panels)],
        runs=runs,
        truncated=_truncated(gathered.left_out),
        not_read=[row.to_record() for row in gathered.not_read] or UNSET,
    )


def _axis(gathered: Gathered) -> figures.Axis:
    field = FIELDS[gathered.grouping.x]
    places = [place_of(place) for place in gathered.places]
    return figures.Axis(field=field.id, label=field.label, kind=field.kind, values=places)


def _truncated(left_out: Sequence[str]) -> str | None:
    text = "; ".join(left_out)
    return f"Not everything is shown: {text}." if text else None


def _links(gathered: Gathered) -> figures.Links:
    query = gathered.query.canonical()
    slug = gathered.query.workspace or next((run.workspace for run in gathered.runs), None)
    return figures.Links(
        page=UNSET if slug is None else link_to("compare-page", slug, query=query),
        json=link_to("compare", query=query),
        csv=link_to("compare-csv", query=query),
    )


def _all_series(gathered: Gathered, runs: Sequence[figures.SourceRun]) -> list[figures.Series]:
    run_places = {uuid.UUID(run.id): place for place, run in enumerate(runs)}
    limit = gathered.query.limit
    return [_series(sweep, run_places, limit) for sweep in gathered.sweeps]


def _series(
    sweep: Sweep, run_places: Mapping[uuid.UUID, int], limit: float | None
) -> figures.Series:
    series = sweep.group.first.series
    host = series.server_host
    return figures.Series(
        id=sweep.group.id,
        label=sweep.group.label,
        server=series.server.name,
        server_slug=slug_of(series.server.name),
        version=series.server.version,
        runtime=series.server.texts["runtime"],
        configuration=" ".join(series.server.settings) or None,
        workload=series.workload.name,
        workload_slug=slug_of(series.workload.name),
        tool=series.tool,
        loop=series.loop,
        load=sweep.group.held,
        host=None if host is None else host.label,
        host_slug=None if host is None else host.slug,
        facet=sweep.group.panel,
        slot=series.server.slot,
        points=[_point(point, run_places, limit) for point in sweep.points],
    )


def _point(point: Point, run_places: Mapping[uuid.UUID, int], limit: float | None) -> figures.Point:
    """The point; with a limit, also whether its p99 may be on the other side."""
    record = point.to_record(run_places)
    doubt = None if limit is None else limit_doubt(point, limit)
    return record if doubt is None else structs.replace(record, limit_doubt=doubt)


def _runs(gathered: Gathered) -> list[figures.SourceRun]:
    """The runs whose trials are shown, the newest first."""
    # By integers: a UUID takes a call to be hashed.
    trials: Counter[int] = Counter()
    servers: dict[int, set[tuple[str, str | None]]] = defaultdict(set)
    for cell in (cell for point in gathered.points for cell in point.cells):
        trials[cell.run.id.int] += len(cell.trials)
        servers[cell.run.id.int].add((cell.server.name, cell.server.version))
    return [
        source_run(run, servers[run.id.int], trials[run.id.int])
        for run in gathered.runs
        if trials[run.id.int]
    ]


def source_run(
    run: LoadedRun, servers: Collection[tuple[str, str | None]], trials: int
) -> figures.SourceRun:
    """The run with its servers, each with its versions where any is known."""
    known: dict[str, list[str]] = defaultdict(list)
    for name, version in servers:
        if version:
            known[name].append(version)
    versions: dict[str, Sequence[str]] = {
        name: sorted(known[name], key=natural) for name in sort_names(known)
    }
    return figures.SourceRun(
        id=str(run.id),
        started_at=instant(run.started_at),
        recorded_at=instant(run.recorded_at),
        url=run_link(run.id),
        servers=sort_names(name for name, _ in servers),
        versions=versions or UNSET,
        trials=trials,
        open=True if run.is_open else UNSET,
    )
