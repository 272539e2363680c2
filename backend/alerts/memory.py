"""What the alerts of a rule say of each subject: its baseline, and its suspicious runs."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Any

from backend.alerts.models import OPEN_STATES, Alert, AlertRule, AlertState
from backend.runs.models import Run
from backend.runs.tables.happening import happened_at, happened_at_of

# Older alerts are about runs that are no baseline any more.
MOST_ALERTS = 2000


@dataclass(frozen=True, slots=True)
class Memory:
    """What is known of one series and metric.

    `begun`: the first run of its open alert. `since`: the first run of a level that a member
    accepted. `bad`: the first and last runs of alerts that were fixed. `ratio`: how much worse the
    open alert is, if it is confirmed.
    """

    begun: datetime | None = None
    since: datetime | None = None
    bad: tuple[tuple[datetime, datetime], ...] = ()
    ratio: float | None = None

    def is_baseline(self, run: Run) -> bool:
        """Whether an earlier run shows the level that is good."""
        at = happened_at(run)
        if self.is_suspicious(run) or (self.since is not None and at < self.since):
            return False
        return not any(first <= at <= last for first, last in self.bad)

    def is_suspicious(self, run: Run) -> bool:
        """Whether an earlier run belongs to the open alert."""
        return self.begun is not None and happened_at(run) >= self.begun


def memories_of(rule: AlertRule) -> Mapping[str, Memory]:
    """By subject, what the rule's alerts say of it."""
    told = [*OPEN_STATES, AlertState.FIXED, AlertState.NOT_A_REGRESSION]
    rows = Alert.objects.filter(rule=rule, state__in=told, first_run__isnull=False).annotate(
        first_at=happened_at_of("first_run__"), last_at=happened_at_of("last_run__")
    )
    by_subject: dict[str, list[Any]] = defaultdict(list)
    for alert in rows[:MOST_ALERTS]:
        by_subject[alert.subject].append(alert)
    return {subject: _memory(alerts) for subject, alerts in by_subject.items()}


def _memory(alerts: list[Any]) -> Memory:
    by_state: dict[str, list[Any]] = defaultdict(list)
    for each in alerts:
        by_state[each.state].append(each)
    begun = next(chain.from_iterable(by_state[state] for state in OPEN_STATES), None)
    accepted = [each.first_at for each in by_state[AlertState.NOT_A_REGRESSION]]
    fixed = by_state[AlertState.FIXED]
    return Memory(
        begun=None if begun is None else begun.first_at,
        since=max(accepted, default=None),
        bad=tuple((each.first_at, each.last_at or each.first_at) for each in fixed),
        ratio=None if begun is None or is_suspicion(begun) else begun.data.get("ratio"),
    )


def is_suspicion(alert: Alert) -> bool:
    """Whether nobody was told of it yet."""
    return alert.state == AlertState.UNCONFIRMED
