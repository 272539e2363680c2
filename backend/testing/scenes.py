"""A small world for tests of who sees what: two workspaces, people in them, one measured run."""

import hashlib
import json
import uuid
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from django.utils import timezone

from backend.accounts.models import Membership, Role, User, Workspace
from backend.alerts.models import Alert, AlertChange, AlertRule, AlertState, RuleKind
from backend.analysis.figures import plain_figures
from backend.deliveries.models import Channel, ChannelKind
from backend.feeds.models import FeedToken
from backend.feeds.tokens import make_token
from backend.formats.model import Latency, ParsedTrial, TimeSlice
from backend.formats.read_trial import ReadTrial
from backend.ingest.models import Artefact, State, Upload
from backend.ingest.removing.trash import trash_run
from backend.runs.amending.editing import correct
from backend.runs.amending.merging import merge
from backend.runs.measured.measured import TrialRecord
from backend.runs.models import FormerName, Run, Trial
from backend.runs.recording.record import RunInput, record_run
from backend.sharing.models import ResultSet, SavedView, SharedRun, Visibility
from backend.storage import storage
from backend.testing.figures import make_figures
from backend.testing.uploads import WRK, Tenant, make_tenant
from backend.transfer.models import Export, ExportState

PARSED = ParsedTrial(
    tool="wrk",
    loop=None,
    elapsed_s=3.0,
    requests_completed=18_000,
    requests_ok=18_000,
    reported_rps=6_000.0,
    latency=Latency(mean_us=1_940.0, max_us=30_510.0, percentiles={"50": 1_410.0, "99": 10_020.0}),
)
SECONDS = tuple(
    TimeSlice(
        start_s=second,
        length_s=1.0,
        completed=6_000 - second,
        failed=second,
        percentiles={"50": 1_400.0, "99": 9_000.0},
    )
    for second in range(3)
)
HOST = {"name": "bench-1", "cpu_model": "Xeon", "cores": 2, "os": "Debian 12", "kernel": "6.1"}


@dataclass(frozen=True, slots=True)
class Scene:
    """The world: `own` is where the run is, `foreign` another workspace."""

    own: Tenant
    foreign: Tenant
    viewer: User
    run: Run
    trial: Trial
    upload: Upload
    artefact: Artefact


def make_scene() -> Scene:
    own, foreign = make_tenant("own-lab"), make_tenant("foreign-lab")
    viewer = User.objects.create_user(username="viewer", password=None)
    Membership.objects.create(user=viewer, workspace=own.workspace, role=Role.VIEWER)
    upload = make_measured_run(own.workspace)
    run = Run.objects.get(upload=upload)
    trial = Trial.objects.filter(run=run).earliest("ordinal")
    return Scene(own, foreign, viewer, run, trial, upload, upload.artefacts.get())


def make_measured_run(
    workspace: Workspace, *, servers: tuple[str, ...] = ("secret-server", "other-server")
) -> Upload:
    """A parsed upload whose run has three trials of each server at 8 and 64 connections."""
    upload = Upload.objects.create(workspace=workspace, content_sha256="0" * 64, state=State.PARSED)
    run_input = RunInput(
        id=upload.pk,
        workspace=workspace,
        started_at=datetime(2026, 1, 31, 12, tzinfo=UTC),
        same_host=True,
        labels={"for": "test"},
        server_host=HOST,
        client_host=HOST,
    )
    points = [(s, c, r) for s in servers for c in (8, 64) for r in range(3)]
    trials = record_run(run_input, [_record(n, *point) for n, point in enumerate(points)])
    Upload.objects.filter(pk=upload.pk).update(run_id=run_input.id)
    upload.refresh_from_db()
    make_artefact(upload).trials.set(trials)
    return upload


def _record(ordinal: int, server: str, connections: int, repeat: int) -> TrialRecord:
    completed = 18_000 + 100 * repeat
    parsed = replace(
        PARSED,
        requests_completed=completed,
        requests_ok=completed,
        timeline=SECONDS if ordinal == 0 else (),
    )
    return TrialRecord(
        ordinal=ordinal,
        server={"name": server, "version": "1.0", "configuration": {}},
        workload={"name": "hello", "method": "GET", "path": "/"},
        load={"tool": "wrk", "tool_version": "4.1", "loop": "closed", "connections": connections},
        reading=ReadTrial.of(parsed),
        repeat=repeat,
        command=["wrk", f"-c{connections}", "http://127.0.0.1:8080/"],
        exit_code=0,
    )


def make_artefact(upload: Upload, data: bytes = WRK.encode(), *, name: str = "wrk.txt") -> Artefact:
    """An artefact whose bytes are really in the storage."""
    stored = storage().put([data])
    return Artefact.objects.create(
        upload=upload,
        position=upload.artefacts.count(),
        name=name,
        sha256=stored.sha256,
        size_bytes=stored.size_bytes,
    )


def make_result_set(workspace: Workspace, visibility: Visibility, **fields: Any) -> ResultSet:
    """A frozen view with small figures, without asking analysis."""
    id_ = uuid.uuid4()
    figures = plain_figures(make_figures(finding="secret-finding"))
    whole = {"figures": figures, "marker": str(id_), "query": f"run={id_}"}
    snapshot = json.dumps(whole).encode()
    return ResultSet.objects.create(
        id=id_,
        link=id_,
        workspace=workspace,
        title="secret-title",
        visibility=visibility,
        snapshot=snapshot,
        sha256=hashlib.sha256(snapshot).hexdigest(),
        **fields,
    )


def make_shared_run(
    workspace: Workspace, visibility: Visibility = Visibility.UNLISTED, **fields: Any
) -> SharedRun:
    """A measured run that is shared, with these columns."""
    run = Run.objects.get(upload=make_measured_run(workspace))
    Run.objects.filter(pk=run.pk).update(**{"notes": "secret-notes", **fields})
    return SharedRun.objects.create(run=run, visibility=visibility)


def make_saved_view(workspace: Workspace, **fields: Any) -> SavedView:
    """A saved view of everything in the workspace."""
    return SavedView.objects.create(workspace=workspace, **{"name": "secret-view", **fields})


def make_alerts(tenant: Tenant, run: Run) -> dict[str, uuid.UUID]:
    """A rule with a new alert, a channel and a feed token of the tenant, by their nouns."""
    workspace = tenant.workspace
    rule = AlertRule.objects.create(
        workspace=workspace, name="secret-rule", kind=RuleKind.NOISY_HOST, threshold=0.05
    )
    alert = Alert.objects.create(
        workspace=workspace,
        rule=rule,
        subject="host",
        state=AlertState.NEW,
        text="secret-alert",
        first_run=run,
    )
    AlertChange.objects.create(alert=alert, state=AlertState.NEW)
    channel = Channel.objects.create(
        workspace=workspace,
        kind=ChannelKind.WEBHOOK,
        name="secret-channel",
        address="https://secret-hook.example/",
        topics=["alerts"],
    )
    make_token(workspace, tenant.user, "secret-reader")
    feed_token = FeedToken.objects.get(workspace=workspace, name="secret-reader")
    return {
        "rule": rule.pk,
        "alert": alert.pk,
        "channel": channel.pk,
        "feed_token": feed_token.pk,
    }


def make_export(workspace: Workspace) -> Export:
    """An archive of the workspace that is done; its bytes are no zip."""
    stored = storage().put([b"secret-archive"])
    return Export.objects.create(
        workspace=workspace,
        state=ExportState.DONE,
        finished_at=timezone.now(),
        files_total=0,
        sha256=stored.sha256,
        size_bytes=stored.size_bytes,
    )


def make_changes(scene: Scene) -> dict[str, uuid.UUID]:
    """What members change and can undo, by its noun: a correction, a merge, a run in the trash."""
    workspace = scene.own.workspace
    (correction,) = correct(scene.run.pk, {"notes": "The cable was loose."}, author=None)
    make_measured_run(workspace, servers=("old-name", "new-name"))
    merged = merge(workspace, FormerName.Kind.SERVER, "old-name", "new-name", None)
    trashed = Run.objects.get(upload=make_measured_run(workspace))
    trash_run(trashed, by=None)
    return {"correction": correction.pk, "merge": merged.pk, "trashed": trashed.pk}
