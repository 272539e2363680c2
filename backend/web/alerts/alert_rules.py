"""The rules that raise alerts: the list, and the forms that change it."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_http_methods, require_POST

from backend.accounts.models import Workspace
from backend.alerts.models import AlertRule, RuleKind
from backend.alerts.rules import (
    METRICS,
    OVER_A_VIEW,
    THRESHOLDS,
    BadRule,
    RuleRefused,
    add_rule,
    change_rule,
    delete_rule,
    rules_in,
)
from backend.links import link_to
from backend.noise.sentences import share_text
from backend.sharing.saved_views import views_in
from backend.web.base import visible

KINDS = {
    RuleKind.REGRESSION: (
        "Regression",
        "The newest run of a view is slower than the runs before it, by more than the noise.",
    ),
    RuleKind.ERROR_RATE: ("Error rate", "Too many requests failed in the newest run of a view."),
    RuleKind.NOISY_HOST: ("Noisy host", "A machine became too noisy to compare servers on."),
    RuleKind.SILENT_AGENT: (
        "Silent agent",
        "An agent stopped in the middle of a run, or sent nothing for a long time.",
    ),
}
# As the forms show thresholds: in percent, or in hours.
_PERCENT = (RuleKind.ERROR_RATE, RuleKind.NOISY_HOST)


@require_http_methods(["GET", "HEAD", "POST"])
def alert_rules(request: HttpRequest, slug: str) -> HttpResponse:
    """The rules. A POST adds one: kind, name, view, label, metrics, threshold."""
    if request.method != "POST":
        return _page(request, visible.own_workspace_or_404(request, slug))
    workspace = visible.writable_workspace_or_404(request, slug)
    form = request.POST
    try:
        rule = add_rule(
            workspace,
            author=visible.viewer(request),
            kind=form.get("kind", ""),
            name=form.get("name", ""),
            view=form.get("view") or None,
            label=form.get("label", ""),
            metrics=form.getlist("metrics"),
            threshold=_threshold(form),
        )
    except (BadRule, RuleRefused) as refused:
        return _page(request, workspace, refused=refused, sent=form)
    messages.info(request, f"Added the rule “{rule.name}”.")
    return HttpResponseRedirect(link_to("alert-rules-page", workspace.slug))


def _threshold(form: QueryDict) -> float | None:
    """The threshold in the form, as a share or in hours. Raises BadRule."""
    text = form.get("threshold", "").strip()
    if not text:
        return None
    try:
        number = float(text)
    except ValueError:
        raise BadRule(f"threshold: got “{text[:20]}”, expected a number.") from None
    return number / 100 if form.get("kind") in _PERCENT else number


@require_POST
def change(request: HttpRequest, slug: str, rule_id: UUID) -> HttpResponse:
    """Field: is_enabled (0 or 1)."""
    workspace = visible.writable_workspace_or_404(request, slug)
    rule = get_object_or_404(rules_in([workspace.pk]), pk=rule_id)
    change_rule(rule, is_enabled=request.POST.get("is_enabled") == "1")
    return HttpResponseRedirect(link_to("alert-rules-page", workspace.slug))


@require_POST
def delete(request: HttpRequest, slug: str, rule_id: UUID) -> HttpResponse:
    """Delete a rule with its alerts."""
    workspace = visible.writable_workspace_or_404(request, slug)
    rule = get_object_or_404(rules_in([workspace.pk]), pk=rule_id)
    delete_rule(rule)
    messages.info(request, f"Deleted the rule “{rule.name}” and its alerts.")
    return HttpResponseRedirect(link_to("alert-rules-page", workspace.slug))


def _page(
    request: HttpRequest,
    workspace: Workspace,
    *,
    refused: BadRule | RuleRefused | None = None,
    sent: QueryDict | None = None,
) -> HttpResponse:
    context = {
        "workspace": workspace,
        "nav": "alerts",
        "rules": [
            {"rule": rule, "watches": watches_text(rule)} for rule in rules_in([workspace.pk])
        ],
        "writable": visible.may_write(request, workspace),
        "views": views_in([workspace.pk]),
        "kinds": [_kind(kind, *texts) for kind, texts in KINDS.items()],
        "metrics": METRICS,
        "refused": refused,
        "sent": sent or {},
    }
    return render(request, "alert_rules.html", context, status=400 if refused else 200)


def _kind(kind: RuleKind, label: str, help_text: str) -> dict[str, Any]:
    usual = THRESHOLDS.get(kind, (None,))[0]
    return {
        "id": kind.value,
        "label": label,
        "help": help_text,
        "has_view": kind in OVER_A_VIEW,
        "is_regression": kind == RuleKind.REGRESSION,
        "unit": "%" if kind in _PERCENT else "hours",
        "usual": None if usual is None else f"{usual * 100 if kind in _PERCENT else usual:g}",
    }


def watches_text(rule: AlertRule) -> str:
    """What a rule watches, in a sentence."""
    if rule.kind == RuleKind.NOISY_HOST:
        return f"Hosts whose noise is above {share_text(rule.threshold or 0)}."
    if rule.kind == RuleKind.SILENT_AGENT:
        return f"Agents that are silent in a run, or for {rule.threshold or 0:g} hours."
    view = "a deleted view" if rule.view is None else f"the view {rule.view.name}"
    runs = f"runs of {view}" + (f" with the label {rule.label}" if rule.label else "")
    if rule.kind == RuleKind.ERROR_RATE:
        return f"More than {share_text(rule.threshold or 0)} failed requests in {runs}."
    return f"Regressions of {' and '.join(rule.metrics)} in {runs}."
