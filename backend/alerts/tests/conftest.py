from datetime import timedelta

import pytest

from backend.accounts.models import User
from backend.alerts.models import Alert, PendingRun
from backend.alerts.rules import add_rule
from backend.deliveries.models import Channel
from backend.runs.models import Run
from backend.sharing.models import SavedView
from backend.testing.rows import STARTED, CellSpec, make_run, make_workspace
from backend.testing.worked_off import judge_due

# Trials of a run around its rate: 1 % apart, as on a quiet machine.
TRIALS = (0.99, 1.0, 1.01, 1.0, 0.995)


class History:
    """Runs of one branch, an hour apart, each judged as it comes."""

    def __init__(self, workspace):
        self.workspace = workspace
        self.hours = 0

    def run(
        self,
        rate=1000.0,
        *,
        branch="main",
        version=None,
        started_at=None,
        recorded_at=None,
        **fields,
    ):
        """A run of `rate` requests/s, judged by the rules; its p99 rises as the rate falls."""
        self.hours += 1
        spec = CellSpec(
            rates=[rate * each for each in TRIALS],
            version=version or f"1.{self.hours}",
            **fields,
        )
        at = started_at or STARTED + timedelta(hours=self.hours)
        run = make_run(self.workspace, spec, started_at=at)
        labels = {"branch": branch, "commit": f"c{self.hours:07d}"}
        Run.objects.filter(pk=run.pk).update(labels=labels, recorded_at=recorded_at or at)
        run.refresh_from_db()
        PendingRun.objects.create(run=run, workspace=self.workspace)
        judge_due()
        return run

    def good(self, count):
        """Runs that differ by chance."""
        return [self.run(1000.0 * each) for each in [1.0, 1.004, 0.997, 1.002, 0.996][:count]]

    @property
    def states(self):
        return sorted(Alert.objects.values_list("state", flat=True))


@pytest.fixture
def workspace(db):
    return make_workspace("lab")


@pytest.fixture
def history(workspace):
    return History(workspace)


@pytest.fixture
def view(workspace):
    return SavedView.objects.create(workspace=workspace, name="nightly", query="server=sync")


@pytest.fixture
def rule(workspace, view):
    return add_rule(
        workspace,
        author=None,
        kind="regression",
        name="main",
        view=view.pk,
        label="branch:main",
        metrics=["throughput"],
    )


@pytest.fixture
def channel(workspace):
    return Channel.objects.create(
        workspace=workspace,
        kind="webhook",
        name="hook",
        address="https://hooks.example/",
        topics=["alerts", "runs"],
    )


@pytest.fixture
def member(db):
    return User.objects.create_user(username="ada", password=None)
