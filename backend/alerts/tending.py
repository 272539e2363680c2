"""What beat asks for: agents that fell silent, and what may be forgotten."""

from collections.abc import Generator
from datetime import timedelta
from uuid import UUID

from django.db.models.functions import Now
from django.utils import timezone

from backend.accounts.workspace.turns import Work, guarded, take_turns
from backend.alerts.lifecycle import apply_sightings
from backend.alerts.models import OPEN_STATES, Alert, AlertRule, AlertState, RuleKind
from backend.alerts.thresholds import judge_agents

# A suspicion that no second run confirmed or refuted for so long says nothing any more.
UNCONFIRMED_KEPT = timedelta(days=30)
# Of one look, which beat asks for every five minutes; the next look begins with who was left.
BUDGET_S = 120.0


def look_at_agents(budget_s: float = BUDGET_S) -> None:
    """Judge the agents of the workspaces that have a rule for them. Persons take turns."""
    rules = AlertRule.objects.filter(
        kind=RuleKind.SILENT_AGENT, is_enabled=True, workspace__deleted_at=None
    )

    def look(workspace_id: UUID) -> Generator[None]:
        # In no order: where the time is not enough for all rules, the next look has others.
        own = rules.filter(workspace=workspace_id).order_by("?")
        for rule in own.select_related("workspace"):
            with guarded("agents_not_judged", rule=rule.pk):
                _judge_agents(rule)
            yield

    workspaces = rules.order_by().values_list("workspace", flat=True).distinct()
    take_turns(Work.AGENTS, workspaces, look, budget_s)


def _judge_agents(rule: AlertRule) -> None:
    assert rule.threshold is not None
    sightings = judge_agents(rule.workspace, rule.threshold, timezone.now())
    apply_sightings(rule, sightings, run=None)
    _end_gone(rule, {sighting.subject for sighting in sightings})


def _end_gone(rule: AlertRule, subjects: set[str]) -> None:
    """End the alerts of agents whose token was revoked or expired: they are silent on purpose."""
    rows = Alert.objects.filter(rule=rule, state__in=OPEN_STATES).exclude(subject__in=subjects)
    rows.filter(state=AlertState.UNCONFIRMED).delete()
    rows.update(state=AlertState.FIXED, ended_at=timezone.now())


def forget_suspicions() -> None:
    """Delete old suspicions."""
    old = Alert.objects.filter(state=AlertState.UNCONFIRMED, seen_at__lt=Now() - UNCONFIRMED_KEPT)
    old.delete()
