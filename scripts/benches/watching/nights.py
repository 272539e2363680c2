"""Nights of a lab that alert rules watch, as rows of a database, by the functions of the service.

Every server has its own noise from night to night.
"""

import random
from typing import Any

from backend.accounts.models import Workspace
from backend.alerts.models import Alert, AlertChange, AlertState
from backend.alerts.rules import add_rule
from backend.alerts.wording import commit_of
from backend.deliveries.models import Channel, Delivery
from backend.sharing.models import SavedView
from backend.testing.nights import add_night, commit_of_night
from backend.testing.rows import make_workspace

TRIALS, TRIAL_SD = 3, 0.01
SERIES, NIGHTS = 14, 100
# How far the runs of a server differ.
RUN_SDS = (0.01, 0.015)
FALL, NIGHTS_TO_TELL = 0.06, 3
HISTORY = 20
HALVED_SERVERS, HALVED_HISTORY = 12, 7


def watch_unchanged(campaign: int, seed: int) -> dict[str, Any]:
    """Nights in which nothing changes. `alerts`: how many were confirmed."""
    run_sd = RUN_SDS[campaign % len(RUN_SDS)]
    lab = _Lab(f"unchanged-{campaign}", SERIES, run_sd, seed)
    for night in range(NIGHTS):
        lab.measure(night)
    alerts = AlertChange.objects.filter(alert__workspace=lab.workspace, state=AlertState.NEW)
    return {"run_sd": run_sd, "alerts": alerts.count()}


def watch_falls(campaign: int, seed: int) -> dict[str, Any]:
    """After a history, all servers fall. `told`: how many are told after 1, 2 … nights; `ranged`:
    how many of these name a range of commits that has the first bad one; `exact`: only that."""
    run_sd = RUN_SDS[campaign % len(RUN_SDS)]
    lab = _Lab(f"falls-{campaign}", SERIES, run_sd, seed)
    for night in range(HISTORY):
        lab.measure(night, is_judged=False)
    told = []
    for night in range(HISTORY, HISTORY + NIGHTS_TO_TELL):
        lab.measure(night, 1 - FALL)
        told.append(_told(lab.workspace).count())
    good, bad = commit_of_night(HISTORY - 1), commit_of_night(HISTORY)
    alerts = _told(lab.workspace).select_related("before_run", "first_run")
    ranges = [(commit_of(alert.before_run), commit_of(alert.first_run)) for alert in alerts]
    return {
        "run_sd": run_sd,
        "series": SERIES,
        "told": told,
        # Commits of nights are in the order of their names.
        "ranged": sum(before <= good and bad <= first for before, first in ranges),
        "exact": ranges.count((good, bad)),
    }


def watch_halved(campaign: int, seed: int) -> dict[str, Any]:
    """After a history, all servers halve for two nights. `told`: how many are told; `messages`."""
    lab = _Lab(f"halved-{campaign}", HALVED_SERVERS, max(RUN_SDS), seed)
    for night in range(HALVED_HISTORY + 2):
        lab.measure(night, 1.0 if night < HALVED_HISTORY else 0.5)
    messages = Delivery.objects.filter(channel__workspace=lab.workspace, event="alert.new")
    told = _told(lab.workspace).count()
    return {"series": HALVED_SERVERS, "told": told, "messages": messages.count()}


def _told(workspace: Workspace) -> Any:
    return Alert.objects.filter(workspace=workspace, state=AlertState.NEW)


class _Lab:
    """A workspace with a rule about throughput and a channel."""

    def __init__(self, name: str, servers: int, run_sd: float, seed: int) -> None:
        self.workspace = make_workspace(name)
        self._servers = [f"server-{number:02d}" for number in range(servers)]
        self._run_sd = run_sd
        self._chance = random.Random(f"{seed} {name}")  # noqa: S311  figures, no secrets
        view = SavedView.objects.create(workspace=self.workspace, name="nightly", query="")
        add_rule(
            self.workspace,
            author=None,
            kind="regression",
            name="main",
            view=view.pk,
            label="branch:main",
            metrics=["throughput"],
        )
        Channel.objects.create(
            workspace=self.workspace,
            kind="webhook",
            name="hook",
            address="https://hooks.example/",
            topics=["alerts"],
        )

    def measure(self, night: int, share: float = 1.0, *, is_judged: bool = True) -> None:
        """A night in which each server serves this share of 1,000 requests per second."""
        rates = {name: self._rates(1000 * share) for name in self._servers}
        add_night(self.workspace, night, rates, is_judged=is_judged)

    def _rates(self, rate: float) -> list[float]:
        rate *= self._chance.lognormvariate(0, self._run_sd)
        return [rate * self._chance.lognormvariate(0, TRIAL_SD) for _ in range(TRIALS)]
