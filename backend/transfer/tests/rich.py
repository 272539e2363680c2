"""A workspace with a row in every table that an archive has, and its archive."""

import uuid
import zipfile
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import orjson
from django.utils import timezone

from backend.accounts.models import Workspace
from backend.alerts.models import Alert, AlertRule, RuleKind
from backend.analysis.query.compare_query import CompareQuery
from backend.ingest.models import Rereading, SmallContent, Upload
from backend.ingest.queue.worker import process
from backend.ingest.reprocessing.editing import edit_run
from backend.noise.models import HostNoise, SelfComparison
from backend.runs.amending.dismissals import dismiss, fired_in
from backend.runs.models import Host, Run, Series, Trial
from backend.runs.recording.observations import Sample, observe
from backend.sharing.edits import supersede, withdraw
from backend.sharing.freezing import Description, freeze, save_live
from backend.sharing.models import ResultSet, Visibility
from backend.sharing.run_sharing import share_run
from backend.sharing.saved_views import save_view
from backend.storage import storage
from backend.testing.scenes import Scene, make_alerts, make_changes, make_scene
from backend.testing.uploads import WRK, make_envelope, make_upload
from backend.transfer.exporting import request_export, write_due
from backend.transfer.layout import MANIFEST
from backend.transfer.models import Export


def make_rich_scene() -> Scene:
    """The scene, with everything in its own workspace that a member can make."""
    scene = make_scene()
    workspace, user = scene.own.workspace, scene.own.user
    make_alerts(scene.own, scene.run)
    make_changes(scene)
    _measure(scene)
    _edit(scene)
    view = save_view(
        workspace, author=user, name="One run", query=f"run={scene.run.pk}", is_default=True
    )
    AlertRule.objects.create(
        workspace=workspace, author=user, name="Errors", kind=RuleKind.ERROR_RATE, view=view
    )
    Alert.objects.update(subject=f"host {scene.run.server_host_id}")
    _share(scene)
    _note_noise(scene)
    Workspace.objects.filter(pk=workspace.pk).update(
        relevant_share=0.07, min_trials=4, must_match=["cpu"], raw_kept_days=3650
    )
    workspace.refresh_from_db()
    return scene


def _measure(scene: Scene) -> None:
    """Uploads that were read, one by an agent, one that failed; raw output large and small."""
    tenant = scene.own
    run_id = str(uuid.uuid4())
    envelope = make_envelope(2)
    envelope |= {"id": run_id, "run": {**envelope.get("run", {}), "id": run_id}}
    uploads = [
        make_upload(tenant, WRK, WRK + "\n", envelope=envelope),
        make_upload(tenant, WRK + "#" * (100 << 10)),
        make_upload(tenant, "no output of a load tool"),
    ]
    for upload in uploads:
        process(upload.pk)
    small = Upload.objects.get(pk=uploads[0].pk).artefacts.first()
    assert small is not None
    with storage().open(small.sha256) as content:
        SmallContent.objects.get_or_create(
            sha256=small.sha256,
            defaults={"content": content.read(), "size_bytes": small.size_bytes},
        )
    Rereading.objects.create(
        upload=uploads[0], from_version="1", to_version="2", changes=[{"ordinal": 0}]
    )
    observe(
        tenant.workspace,
        id_=uuid.uuid4(),
        run_id=scene.run.pk,
        host={"name": "bench-1"},
        uncertainty_s=0.002,
        samples=[Sample(at_s=1769860801.5, cpu_s=12.5)],
    )


def _note_noise(scene: Scene) -> None:
    # Last, because edits of runs estimate it again.
    host = Host.objects.filter(workspace=scene.own.workspace).first()
    series = Series.objects.filter(workspace=scene.own.workspace).first()
    assert host is not None
    assert series is not None
    SelfComparison.objects.create(
        run=scene.run,
        host=host,
        series=series,
        difference=0.01,
        trials_a=3,
        trials_b=3,
        start_group=0,
        measured_at=timezone.now(),
    )
    HostNoise.objects.update_or_create(host=host, defaults={"floor_share": 0.02, "comparisons": 7})


def _edit(scene: Scene) -> None:
    user = scene.own.user
    run = Run.objects.get(pk=scene.run.pk)
    edit_run(run, {"version": "2.0"}, ordinals=[0, 1, 2], author=user)
    dismiss(run, check_id=sorted(fired_in(run))[0], reason="On purpose.", author=user)


def _share(scene: Scene) -> None:
    """Result sets: frozen, superseded, live, withdrawn; and a run."""
    first, second = (_freeze(scene, title) for title in ("First", "Second"))
    supersede(first, second)
    query = CompareQuery.parse(f"run={scene.run.pk}")
    description = Description(title="Live", notes="*of today*")
    save_live(query, workspace=scene.own.workspace, author=scene.own.user, description=description)
    withdraw(_freeze(scene, "Gone"), "The cable was loose.")
    share_run(Run.objects.get(pk=scene.run.pk), Visibility.UNLISTED)
    ResultSet.objects.update(expires_at=timezone.now() + timedelta(days=30))


def _freeze(scene: Scene, title: str) -> ResultSet:
    description = Description(title=title, visibility=Visibility.UNLISTED)
    query = CompareQuery.parse(f"run={scene.run.pk}")
    return freeze(
        query, workspace=scene.own.workspace, author=scene.own.user, description=description
    )


def export_to(workspace: Workspace, folder: Path) -> Path:
    """The archive of a workspace, written as a worker does."""
    request_export(workspace, author=None)
    assert write_due() == 1
    export = Export.objects.get(workspace=workspace, state="done")
    path = folder / f"{workspace.slug}.zip"
    with storage().open(export.sha256) as source:
        path.write_bytes(source.read())
    return path


def contents_of(archive: Path) -> dict[str, bytes]:
    """The files of an archive, by their paths."""
    with zipfile.ZipFile(archive) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def rows_of(archive: Path, table: str) -> list[dict[str, object]]:
    """The rows of one table of an archive."""
    lines = contents_of(archive)[f"rows/{table}.jsonl"].splitlines()
    return [orjson.loads(line) for line in lines]


def manifest_of(archive: Path) -> dict[str, object]:
    """What the archive says of itself."""
    manifest: dict[str, object] = orjson.loads(contents_of(archive)[MANIFEST])
    return manifest


def trials_in(workspace: Workspace) -> Iterator[Trial]:
    """The trials, the trash included, in their order."""
    rows = Trial.objects.filter(run__workspace=workspace)
    return rows.order_by("run__recorded_at", "ordinal").iterator()
