"""What beat asks for: agents that fell silent, and what may be forgotten."""

from datetime import timedelta

from django.db.models.functions import Now
from django.utils import timezone

from backend.accounts.workspace.turns import forget_turns
from backend.alerts.lifecycle import apply_sightings
from backend.alerts.models import OPEN_STATES, Alert, AlertRule, AlertState, RuleKind
from backend.alerts.thresholds import judge_agents
from backend.deliveries.queue import forget_old

# A suspicion that no second run confirmed or refuted for so long says nothing any more.
UNCONFIRMED_KEPT = timedelta(days=30)


def look_at_agents() -> None:
    """Judge the agents of every workspace that has a rule for them."""
    rules = AlertRule.objects.filter(
        kind=RuleKind.SILENT_AGENT, is_enabled=True, workspace__deleted_at=None
    )
    for rule in rules.select_related("workspace"):
        assert rule.threshold is not None
        sightings = judge_agents(rule.workspace, rule.threshold, timezone.now())
        apply_sightings(rule, sightings, run=None)
        _end_gone(rule, {sighting.subject for sighting in sightings})


def _end_gone(rule: AlertRule, subjects: set[str]) -> None:
    """End the alerts of agents whose token was revoked or expired: they are silent on purpose."""
    rows = Alert.objects.filter(rule=rule, state__in=OPEN_STATES).exclude(subject__in=subjects)
    rows.filter(state=AlertState.UNCONFIRMED).delete()
    rows.update(state=AlertState.FIXED, ended_at=timezone.now())


def forget() -> None:
    """Delete old deliveries and old suspicions."""
    forget_old()
    forget_turns()
    old = Alert.objects.filter(state=AlertState.UNCONFIRMED, seen_at__lt=Now() - UNCONFIRMED_KEPT)
    old.delete()
