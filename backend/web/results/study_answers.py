"""What the same test says today, on the pages of the library and of its result sets."""

from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest

from backend.analysis.query.metrics import METRICS
from backend.analysis.query.units import short_figure_text
from backend.library.envelopes import TODAY
from backend.library.loading import SLUG
from backend.library.study import Study
from backend.library.today import TodayAnswer, answer_today
from backend.runs.models import Run
from backend.runs.tables.large_columns import large_columns
from backend.web.base import visible
from backend.web.base.trust_levels import TRUST_LEVELS

# Series that a plot has room for, and the unit of their figures.
MOST_PLOTTED, UNIT = 5, METRICS["throughput"].unit


def today_answers(
    request: HttpRequest, study: Study, servers: Sequence[str] = ()
) -> list[dict[str, Any]]:
    """What the comparison of each workload answers, with its level of trust and its address; none
    where today's run is not loaded, or the viewer may not read it. `servers`: of these alone.
    """
    run = _today_runs(request).get(study.name)
    if run is None:
        return []
    answers = answer_today(study, run, servers=servers, viewer=visible.viewer_name(request))
    return [
        {
            "workload": each.workload,
            "sentence": each.answer.sentence,
            # Of one series alone, it says what to measure beside it.
            "margin": None if len(each.ranked) == 1 else each.answer.margin,
            "level": TRUST_LEVELS[each.answer.trust.level],
            "url": each.url,
            "plot": _plot(each),
        }
        for each in answers
    ]


def _plot(answer: TodayAnswer) -> dict[str, Any] | None:
    """The first series of its ranking, their figures and intervals in percent of the largest bound;
    None where fewer than two are ranked."""
    if len(answer.ranked) < 2:
        return None
    shown = [(row, row.value or 0.0) for row in answer.ranked[:MOST_PLOTTED]]
    percent = 100 / max(row.high or value for row, value in shown)
    rows = [
        {
            "label": row.label,
            "low": round((row.low or value) * percent, 1),
            "at": round(value * percent, 1),
            "high": round((row.high or value) * percent, 1),
            "figure": short_figure_text(value, UNIT).removesuffix(f" {UNIT}"),
        }
        for row, value in shown
    ]
    more = len(answer.ranked) - len(rows)
    title = f"Throughput in {UNIT}: {answer.workload} {answer.place}"
    return {"title": title, "rows": rows, "more": more, "url": answer.url}


@visible.read_once
def _today_runs(request: HttpRequest) -> dict[str, Run]:
    """The runs of today that the viewer may read, by their study."""
    rows = Run.objects.filter(
        workspace__slug=SLUG,
        workspace__in=visible.workspaces(request),
        author=None,
        labels__part=TODAY,
        labels__has_key="study",
    )
    runs = rows.select_related("workspace").defer(*large_columns())
    return {run.labels["study"]: run for run in runs}
