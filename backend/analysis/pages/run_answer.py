"""What a run found, in a sentence: what the comparison of its trials answers, as far as it can."""

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from backend.analysis.compare.gathering import Gathered, gather
from backend.analysis.compare.headline import Headline, write_headline
from backend.analysis.compare.overall import answer_of_panels
from backend.analysis.compare.panels import judge_panels
from backend.analysis.compare.ranking import rank
from backend.analysis.grouping.sweep import Sweep
from backend.analysis.query.compare_query import CompareQuery
from backend.analysis.query.metrics import METRICS
from backend.analysis.query.units import figure_text, place_text
from backend.runs.database.read_router import repeatable_read

# Workloads whose figures one sentence names.
MOST_NAMED = 3


@repeatable_read()
def answer_run(
    run_id: uuid.UUID, summary: Sequence[Mapping[str, Any]], *, workspace_ids: Sequence[uuid.UUID]
) -> Headline | None:
    """What the run says of throughput; None where no trial of it has a figure.

    `summary`: the rows of `summarise_run`. Several servers: the answer of their comparison. One
    server: its highest figure.
    """
    has_workloads = len({row["workload"] for row in summary}) > 1
    facet = {"facet": "workload"} if has_workloads else {}
    gathered = gather(CompareQuery.parse({"run": str(run_id), **facet}), workspace_ids)
    panels = judge_panels(gathered)
    if not gathered.sweeps:
        return None
    failures = _failures_text(gathered)
    if all(len(panel.judgement.sweeps) == 1 for panel in panels):
        return Headline(_highest_figures(gathered), failures)
    answer = answer_of_panels(gathered, panels)
    return Headline(answer.sentence, ". ".join(filter(None, (answer.margin, failures))))


def _highest_figures(gathered: Gathered) -> str:
    """The highest figure of each series, under the name of its workload where there are several."""
    texts = [
        f"{sweep.group.panel}: {text}" if sweep.group.panel else text
        for sweep in gathered.sweeps[:MOST_NAMED]
        for text in [_highest_figure(gathered, sweep)]
    ]
    more = len(gathered.sweeps) - len(texts)
    return "; ".join([*texts, *([f"and {more} more"] if more else [])])


def _highest_figure(gathered: Gathered, sweep: Sweep) -> str:
    """`caddy 1.27 serves 5,730 requests/s [5,600, 5,860] at 64 connections, the highest of 6 loads`

    Of the loads whose figure is fit to be compared; why there is none where no load has one.
    """
    metric = gathered.query.metric
    fit = [p for p in sweep.points if gathered.entrant(sweep, p).unranked(metric) is None]
    point = max(fit or sweep.points, key=lambda point: point.metrics[metric].value or 0.0)
    ranking = rank(
        point.x,
        metric,
        [gathered.entrant(sweep, point)],
        baseline=None,
        yardstick=gathered.yardstick(),
    )
    sentence = write_headline(
        ranking, axis=gathered.grouping.x, relevant=gathered.demands.relevant
    ).sentence
    return f"{sentence}, the highest of {len(fit)} loads" if len(fit) > 1 else sentence


def _failures_text(gathered: Gathered) -> str:
    """`Most failures: 2.1 % of the requests of caddy at 512 connections`; empty without any."""
    rates = [
        (point.metrics["error_rate"].value or 0.0, sweep.group.label, point.x)
        for sweep in gathered.sweeps
        for point in sweep.points
    ]
    share, label, x = max(rates, key=lambda rate: rate[0])
    if not share:
        return ""
    place = place_text(x, gathered.grouping.x)
    percent = figure_text(share, METRICS["error_rate"].unit)
    return f"Most failures: {percent} of the requests of {label} {place}"
