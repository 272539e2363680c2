"""Which earlier runs of a series are its baseline, and which are suspicious, by its alerts."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Any

from django.db.models import F

from backend.alerts.models import OPEN_STATES, Alert, AlertRule, AlertState
from backend.runs.models import Run
from backend.runs.tables.happening import happened_at, happened_at_of

# Older alerts are about runs that are no baseline any more.
MOST_ALERTS = 2000


@dataclass(frozen=True, slots=True)
class SubjectState:
    """The alerts of one series and metric.

    `begun`: the first run of its open alert. `since`: the first run of a level that a member
    accepted. `bad`: the first and last runs of alerts that were fixed. `ratio`: that of the open
    alert to its baseline, once the alert is confirmed.
    """

    begun: datetime | None = None
    since: datetime | None = None
    bad: tuple[tuple[datetime, datetime], ...] = ()
    ratio: float | None = None

    def is_baseline(self, run: Run) -> bool:
        """Whether an earlier run counts in the baseline."""
        at = happened_at(run)
        if self.is_suspicious(run) or (self.since is not None and at < self.since):
            return False
        return not any(first <= at <= last for first, last in self.bad)

    def is_suspicious(self, run: Run) -> bool:
        """Whether an earlier run belongs to the open alert."""
        return self.begun is not None and happened_at(run) >= self.begun


def find_subject_states(rule: AlertRule) -> Mapping[str, SubjectState]:
    """By subject; a subject without alerts is left out."""
    told = [*OPEN_STATES, AlertState.FIXED, AlertState.NOT_A_REGRESSION]
    rows = Alert.objects.filter(rule=rule, state__in=told, first_run__isnull=False).annotate(
        first_at=happened_at_of("first_run__"), last_at=happened_at_of("last_run__")
    )
    by_subject: dict[str, list[Any]] = defaultdict(list)
    # Open alerts first: none of them may be left out.
    for alert in rows.order_by(F("ended_at").desc(nulls_first=True))[:MOST_ALERTS]:
        by_subject[alert.subject].append(alert)
    return {subject: _state_of(alerts) for subject, alerts in by_subject.items()}


def _state_of(alerts: list[Any]) -> SubjectState:
    by_state: dict[str, list[Any]] = defaultdict(list)
    for each in alerts:
        by_state[each.state].append(each)
    begun = next(chain.from_iterable(by_state[state] for state in OPEN_STATES), None)
    accepted = [each.first_at for each in by_state[AlertState.NOT_A_REGRESSION]]
    fixed = by_state[AlertState.FIXED]
    return SubjectState(
        begun=None if begun is None else begun.first_at,
        since=max(accepted, default=None),
        bad=tuple((each.first_at, each.last_at or each.first_at) for each in fixed),
        ratio=None if begun is None or is_suspicion(begun) else begun.data.get("ratio"),
    )


def is_suspicion(alert: Alert) -> bool:
    """Whether the alert is not confirmed yet, so that no message was sent."""
    return alert.state == AlertState.UNCONFIRMED
