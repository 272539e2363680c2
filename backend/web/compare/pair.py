"""Two runs, or two versions of a server, side by side."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any
from uuid import UUID

from django.db.models import Min
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.http import require_safe

from backend.accounts.models import Workspace
from backend.analysis.compare.advice import as_sentence, found_text
from backend.analysis.figures import Ratio
from backend.analysis.pages.pair.answer import PairDifference, PairRow, SeriesPair, SideKind
from backend.analysis.pages.pair.describe import compare_pair
from backend.analysis.pages.pair.sides import NoPair, read_side_ids
from backend.analysis.query.metrics import METRICS
from backend.links import link_to, pair_link
from backend.runs.models import Cell, Run
from backend.runs.tables.happening import happened_at_of
from backend.web.base import visible
from backend.web.base.trust_levels import TRUST_LEVELS
from backend.web.registry.host_facts import fact_label

_TOPICS = {
    "run": "Run",
    "conditions": "Conditions",
    "plan": "Plan",
    "server host": "Server host",
    "client host": "Client host",
}
_KINDS = {"us": "time", "ratio": "ratio", "req/s": "rate"}
_VERDICTS = {
    "improved": "better",
    "regressed": "worse",
    "unchanged": "level",
    "size_uncertain": "differs",
    "inconclusive": "too noisy",
}
MAX_REASONS = 3
# A topic with more differences is opened by the reader.
MOST_OPEN = 20


@require_safe
def compare_two(request: HttpRequest, slug: str) -> HttpResponse:
    """The pair a and b. The page of a server sends the versions that were ticked."""
    workspace = visible.workspace_or_404(request, slug)
    if ticked := request.GET.getlist("server"):
        return HttpResponseRedirect(pair_of_ticked(workspace, "server", ticked))
    a, b = read_side_ids(request.GET.dict())
    pair = compare_pair(a, b, workspace_ids=[workspace.pk], viewer=visible.viewer_name(request))
    intent = pair.outcome.intent or ""
    context = {
        "workspace": workspace,
        "nav": "runs" if pair.a.kind == "run" else "servers",
        "pair": pair,
        "margin": as_sentence(pair.margin or ""),
        "level": TRUST_LEVELS[pair.trust.level],
        "intent": "" if pair.finding.lower().startswith(intent) else intent,
        "reasons": pair.trust.reasons[:MAX_REASONS],
        "count": len(pair.trust.reasons),
        "most_open": MOST_OPEN,
        "topics": list(_topics(pair.differences)),
        "series": [_series(each) for each in pair.pairs],
        "swapped_url": pair_link(slug, b, a),
        "api_url": link_to("compare-pair-api", query=[("a", str(a)), ("b", str(b))]),
    }
    return render(request, "pair.html", context)


def pair_of_ticked(workspace: Workspace, kind: SideKind, ticked: Sequence[str]) -> str:
    """The link of the two that were ticked in a list, the older first. Raises NoPair."""
    if len(set(ticked)) != 2:
        raise NoPair(f"{len(set(ticked))} {kind}s were ticked, expected two. Go back and tick two.")
    a, b = read_side_ids(dict(zip("ab", ticked, strict=True)))
    first, second = sorted((a, b), key=lambda id_: _age(workspace, kind, id_))
    return pair_link(workspace.slug, first, second)


def _age(workspace: Workspace, kind: SideKind, id_: UUID) -> Any:
    """When the run began, or the server was first measured."""
    if kind == "run":
        runs = Run.objects.filter(pk=id_, workspace=workspace)
        first = runs.aggregate(first=Min(happened_at_of()))["first"]
    else:
        cells = Cell.of_kept_runs.filter(series__server=id_, workspace=workspace)
        first = cells.aggregate(first=Min(happened_at_of("run__")))["first"]
    return (first is not None, first, str(id_))


def _topics(
    differences: Sequence[PairDifference],
) -> Iterator[tuple[str, list[tuple[str, PairDifference]]]]:
    """The differences under a heading each, with their names as people read them."""
    for topic, rows in groupby(differences, key=lambda row: row.topic):
        yield _TOPICS[topic], [(_name_of(row), row) for row in rows]


def _name_of(row: PairDifference) -> str:
    """As people read it. Keys of a plan stay as they are written there."""
    if row.topic == "plan":
        return row.name
    name = fact_label(row.name) if row.topic.endswith("host") else row.name
    return name[:1].upper() + name[1:]


def _series(pair: SeriesPair) -> dict[str, Any]:
    """A series pair as a table: a line for each load point, with both figures of each metric."""
    lines = [
        {"x": place, "metrics": [_cells(row) for row in rows]}
        for place, rows in groupby(pair.rows, key=lambda row: row.x)
    ]
    return {
        "pair": pair,
        "is_renamed": pair.a != pair.b,
        "lines": lines,
        "metrics": [_column(id_) for id_ in dict.fromkeys(row.metric for row in pair.rows)],
    }


def _column(metric: str) -> dict[str, Any]:
    """The heads of a metric's columns. Shares of failed requests have no ratio."""
    kind = _KINDS[METRICS[metric].unit]
    label = METRICS[metric].label.removeprefix("Latency ")
    return {"label": label, "kind": kind, "has_ratio": METRICS[metric].group != "errors"}


def _cells(row: PairRow) -> dict[str, Any]:
    ratio = row.ratio
    return {
        "sides": (row.a, row.b),
        **_column(row.metric),
        "text": row.text,
        "why": None if ratio is None else _why(ratio),
        "verdict": "" if ratio is None else _verdict(ratio),
        "tone": "" if ratio is None else ratio.verdict,
    }


def _why(ratio: Ratio) -> str | None:
    """Why the verdict is that; of noise, which difference would have been found."""
    if not isinstance(ratio.finds_from, int | float):
        return ratio.why
    return as_sentence(found_text(ratio.finds_from))


def _verdict(ratio: Ratio) -> str:
    """Without an interval nothing is known of the noise."""
    return "no interval" if ratio.low is None else _VERDICTS[ratio.verdict]
