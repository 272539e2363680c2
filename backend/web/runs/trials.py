"""One trial: its figures beside its raw output."""

import logging
import shlex
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from backend.analysis.pages.resource_use import list_resource_figures
from backend.analysis.pages.run import describe_hosts, describe_single_trial
from backend.analysis.pages.trial import list_reading_notes, list_trial_figures
from backend.ingest.listing.listed_artefacts import artefacts_of_trial
from backend.ingest.preview.provenance import provenance_of
from backend.ingest.preview.provenance_records import Provenance
from backend.links import compare_link, link_to, run_link, trial_link
from backend.runs.amending.dismissals import dismissals_of
from backend.runs.models import Trial, TrialTimeline
from backend.storage import StorageAway
from backend.untrusted.sandbox.parser_failures import ParserFailed
from backend.web.base import visible
from backend.web.registry.host_facts import shown_host
from backend.web.registry.registry import SLOTS
from backend.web.runs.raw_text import rows_of, shown_texts
from backend.web.runs.trial_listing import TRIALS_PER_PAGE, place_of_trial

log = logging.getLogger(__name__)


@require_safe
def trial(request: HttpRequest, trial_id: UUID) -> HttpResponse:
    """The trial with every figure; each figure links to the line it was read from."""
    rows = Trial.of_kept_runs.select_related(
        *("cell__series__server", "cell__series__workload"),
        *("run__workspace", "run__server_host", "run__client_host"),
    ).defer("histogram", "cell__histogram", "cell__curve", "run__plan")
    readable = rows.filter(run__workspace__in=visible.workspaces(request))
    trial = get_object_or_404(readable, pk=trial_id)
    workspace, groups = trial.run.workspace, list_trial_figures(trial)
    provenance = _provenance(trial)
    view = describe_single_trial(trial_id, workspace_ids=visible.workspaces(request))
    context = {
        "workspace": workspace,
        "nav": "runs",
        "trial": {**view, "command": shlex.join(str(part) for part in trial.command)},
        "slot": trial.cell.series.server.slot % SLOTS,
        "run": trial.run,
        "server_url": link_to("server-page", workspace.slug, trial.cell.series.server_id),
        "workload_url": link_to("workload-page", workspace.slug, trial.cell.series.workload_id),
        "compare_url": compare_link(
            workspace.slug, run=trial.run_id, workload=trial.cell.series.workload.name
        ),
        "groups": rows_of(groups, provenance, trial.parsed),
        "texts": shown_texts(provenance, groups),
        "why_not": provenance.why_not,
        "notes": list_reading_notes(trial.parsed),
        "checks": _with_dismissals(view["checks"], trial.run_id),
        "may_dismiss": visible.may_write(request, workspace),
        "resources": list_resource_figures(trial.resources),
        "glance": _glance(trial.glance),
        "artefacts": artefacts_of_trial(trial.pk),
        "hosts": [shown_host(host) for host in describe_hosts(trial.run)],
        "has_timeline": TrialTimeline.objects.filter(trial=trial).exists(),
        "timeline_url": link_to("trial-timeline", trial.pk),
        **_neighbours(trial),
    }
    return render(request, "trial.html", context)


def _with_dismissals(checks: list[dict[str, Any]], run_id: UUID) -> list[dict[str, Any]]:
    dismissals = dismissals_of([run_id])[run_id]
    return [{**check, "dismissal": dismissals.get(check["id"])} for check in checks]


def _provenance(trial: Trial) -> Provenance:
    try:
        return provenance_of(trial)
    except ParserFailed as failed:
        return Provenance((), {}, str(failed))
    except FileNotFoundError:
        log.error("artefact_missing", extra={"trial": str(trial.pk)})
        return Provenance((), {}, "A file of this trial is missing from the storage.")
    except StorageAway:
        return Provenance((), {}, "The storage is not reachable. Try again later to see the text.")


_GLANCE = (
    ("throughput_rps", "Throughput", "rate", 1.0),
    ("p99_s", "p99", "time", 1e6),
    ("error_rate", "Error rate", "ratio", 1.0),
)


def _glance(glance: Any) -> list[tuple[str, float, str]]:
    """Figures that the agent read from the tool's output, for its rules and searches."""
    if not isinstance(glance, dict):
        return []
    figures = [(glance.get(name), label, kind, scale) for name, label, kind, scale in _GLANCE]
    return [
        (label, value * scale, kind)
        for value, label, kind, scale in figures
        if isinstance(value, int | float)
    ]


def _neighbours(trial: Trial) -> dict[str, Any]:
    """The trials before and after this one in its run."""
    others = Trial.objects.filter(run=trial.run_id).only("id", "ordinal")
    before = others.filter(ordinal__lt=trial.ordinal).order_by("-ordinal").first()
    after = others.filter(ordinal__gt=trial.ordinal).order_by("ordinal").first()
    count = Trial.objects.filter(run=trial.run_id).count()
    listed = {str(trial.pk)} if count <= TRIALS_PER_PAGE else set()
    return {
        "in_run_url": run_link(trial.run_id) + place_of_trial(trial.pk, listed),
        "before": before and {"url": trial_link(before.pk), "ordinal": before.ordinal},
        "after": after and {"url": trial_link(after.pk), "ordinal": after.ordinal},
        "of": count,
    }
