"""One trial: what was read from its raw output, beside the raw output."""

from __future__ import annotations

import logging
import shlex
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from backend.analysis.pages.resource_use import list_resource_figures
from backend.analysis.pages.run import describe_hosts, describe_trial
from backend.analysis.pages.trial import list_trial_figures
from backend.ingest.evidence import artefacts_by_trial
from backend.ingest.provenance import ParserFailed, Provenance, StorageAway, provenance_of
from backend.runs.dismissals import dismissals_of
from backend.runs.models import Trial, TrialTimeline
from backend.web import visible
from backend.web.host_facts import shown_host
from backend.web.links import compare_url
from backend.web.raw_text import rows_of, shown_texts
from backend.web.things import SLOTS

log = logging.getLogger(__name__)


@require_safe
def trial(request: HttpRequest, trial_id: UUID) -> HttpResponse:
    """The trial with every figure, each pointing to the line it came from."""
    rows = Trial.objects.select_related(
        *("cell__series__server", "cell__series__workload"),
        *("run__workspace", "run__server_host", "run__client_host"),
    ).defer("histogram", "cell__histogram", "cell__curve", "run__plan")
    found = rows.filter(pk=trial_id, run__workspace__in=visible.workspaces(request)).first()
    if found is None:
        raise Http404
    workspace = found.run.workspace
    groups = list_trial_figures(found)
    provenance = _provenance(found)
    standing = dismissals_of([found.run_id])[found.run_id]
    view = describe_trial(found)
    context = {
        "workspace": workspace,
        "nav": "runs",
        "trial": {**view, "command": shlex.join(str(part) for part in found.command)},
        "cell": found.cell,
        "slot": found.cell.series.server.slot % SLOTS,
        "run": found.run,
        "server_url": f"/w/{workspace.slug}/servers/{found.cell.series.server_id}",
        "workload_url": f"/w/{workspace.slug}/workloads/{found.cell.series.workload_id}",
        "compare_url": compare_url(
            workspace.slug, run=found.run_id, workload=found.cell.series.workload.name
        ),
        "groups": rows_of(groups, provenance, found.parsed),
        "texts": shown_texts(provenance, groups),
        "why_not": provenance.why_not,
        "checks": [{**check, "dismissal": standing.get(check["id"])} for check in view["checks"]],
        "may_dismiss": visible.may_write(request, workspace),
        "resources": list_resource_figures(found.resources),
        "glance": _glance(found.glance),
        "artefacts": artefacts_by_trial(found.run_id).get(str(found.pk), []),
        "hosts": [shown_host(host) for host in describe_hosts(found.run)],
        "has_timeline": TrialTimeline.objects.filter(trial=found).exists(),
        "timeline_url": f"/api/v1/trials/{found.pk}/timeline",
        **_neighbours(found),
    }
    return render(request, "trial.html", context)


def _provenance(found: Trial) -> Provenance:
    try:
        return provenance_of(found)
    except ParserFailed as failed:
        return Provenance((), {}, str(failed))
    except FileNotFoundError:
        log.error("artefact_missing", extra={"trial": str(found.pk)})
        return Provenance((), {}, "A stored file of this trial is missing from the storage.")
    except StorageAway:
        return Provenance((), {}, "The storage is away; the figures stand, try again for the text.")


_GLANCE = (
    ("throughput_rps", "Throughput", "rate", 1.0),
    ("p99_s", "p99", "time", 1e6),
    ("error_rate", "Error rate", "ratio", 1.0),
)


def _glance(glance: Any) -> list[tuple[str, float, str]]:
    """What the agent saw of the tool's own figures: its rules and searches decided on them."""
    if not isinstance(glance, dict):
        return []
    known = [(glance.get(name), label, kind, scale) for name, label, kind, scale in _GLANCE]
    return [
        (label, value * scale, kind)
        for value, label, kind, scale in known
        if isinstance(value, int | float)
    ]


def _neighbours(found: Trial) -> dict[str, Any]:
    """The trials before and after this one in its run."""
    others = Trial.objects.filter(run=found.run_id).only("id", "ordinal")
    before = others.filter(ordinal__lt=found.ordinal).order_by("-ordinal").first()
    after = others.filter(ordinal__gt=found.ordinal).order_by("ordinal").first()
    return {
        "before": before and {"url": f"/t/{before.pk}", "ordinal": before.ordinal},
        "after": after and {"url": f"/t/{after.pk}", "ordinal": after.ordinal},
        "of": Trial.objects.filter(run=found.run_id).count(),
    }
