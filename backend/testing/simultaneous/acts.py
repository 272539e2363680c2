"""What destroys, or changes what others refer to, each as one call; with what it may leave."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.utils import timezone

from backend.accounts.models import Act, AuditEvent, Token, User, Workspace
from backend.accounts.takedown_models import Report, Takedown, Thing
from backend.config.recovery.deletions import repeat_deletions
from backend.ingest.models import Upload
from backend.ingest.removing.collector import collect
from backend.ingest.removing.purging import purge_deleted_workspaces
from backend.ingest.removing.retention import remove_due_output
from backend.ingest.removing.trash import KEPT_IN_TRASH, remove_expired_runs
from backend.runs.models import Run
from backend.sharing.takedowns import restore, take_down
from backend.testing.simultaneous.writers import API, JSON, NUMBERS, World, client_of, session_of
from backend.transfer.exporting import write_due


def delete_workspace(world: World) -> Any:
    slug = world.busy.workspace.slug
    answer = world.owner.delete(f"{API}/workspaces/{slug}?confirm={slug}")
    # Beside the writers, as the collector does it.
    purge_deleted_workspaces()
    return answer


def delete_workspace_on_its_page(world: World) -> Any:
    slug = world.busy.workspace.slug
    return world.owner.post(f"/w/{slug}/delete", {"confirm": slug})


def delete_workspace_after_a_restore(world: World) -> None:
    event = AuditEvent(act=Act.WORKSPACE_DELETED, workspace_id=world.busy.workspace.pk)
    repeat_deletions([event])


def rename_workspace(world: World) -> Any:
    slug = world.busy.workspace.slug
    return world.owner.patch(f"{API}/workspaces/{slug}", {"slug": f"{slug}-moved"}, JSON)


def revoke_token(world: World) -> Any:
    token = Token.objects.get(workspace=world.busy.workspace, name="of the member")
    return world.owner.delete(f"{API}/tokens/{token.pk}")


def remove_member(world: World) -> Any:
    return world.owner.delete(f"{API}/members/{world.member.pk}?{_workspace(world)}")


def leave(world: World) -> Any:
    return world.colleague.delete(f"{API}/members/{world.member.pk}?{_workspace(world)}")


def erase_account(world: World) -> Any:
    return world.colleague.post("/account/erase", {"confirm": world.member.get_username()})


def close_account(world: World) -> Any:
    """As the staff do it: a form without the tick."""
    staff = client_of(session_of(_new_staff()))
    return staff.post(f"/staff/accounts/user/{world.member.pk}/change/", {})


def take_down_workspace(world: World) -> Takedown:
    workspace = world.busy.workspace
    report = Report.objects.create(
        workspace=workspace,
        kind=Thing.WORKSPACE,
        thing_id=workspace.pk,
        page=f"/w/{workspace.slug}/",
        reason=Report.Reason.SPAM,
    )
    return take_down(report, reason="Spam.", is_legal=False, by=_new_staff())


def restore_workspace(world: World) -> None:
    takedown = take_down_workspace(world)
    assert takedown.by is not None
    restore(takedown, by=takedown.by)


def _new_staff() -> User:
    return User.objects.create_user(f"staff-{next(NUMBERS)}", is_staff=True)


def trash_runs(world: World) -> Any:
    world.owner.delete(f"{API}/runs/{world.open_run}")
    return world.owner.delete(f"{API}/runs/{world.run.pk}")


def delete_runs(world: World) -> Any:
    """Of the open one its agent makes a new run at once; the other is gone."""
    world.owner.delete(f"{API}/runs/{world.open_run}?permanently=true")
    return world.owner.delete(f"{API}/runs/{world.run.pk}?permanently=true")


def delete_runs_after_a_restore(world: World) -> None:
    workspace = world.busy.workspace.pk
    ids = (world.run.pk, world.open_run)
    events = [
        AuditEvent(act=Act.RUN_DELETED, workspace_id=workspace, subject_id=run) for run in ids
    ]
    assert repeat_deletions(events).failed_runs == 0


def empty_trash(world: World) -> None:
    trash_runs(world)
    Run.with_trash.filter(workspace=world.busy.workspace, trashed_at__isnull=False).update(
        trashed_at=timezone.now() - KEPT_IN_TRASH
    )
    remove_expired_runs()


def merge_names(world: World) -> Any:
    body = {"kind": "server", "source": "other-server", "target": "secret-server"}
    body["workspace"] = world.busy.workspace.slug
    return world.owner.post(f"{API}/merges", body, JSON)


def rename_server(world: World) -> Any:
    body = {"kind": "server", "former": "hello", "current": "hello again"}
    body["workspace"] = world.busy.workspace.slug
    return world.owner.post(f"{API}/renames", body, JSON)


def withdraw_result_set(world: World) -> Any:
    path = f"{API}/result-sets/{world.result_set.link}/withdraw"
    return world.owner.post(path, {"reason": "A loose cable."}, JSON)


def delete_rule(world: World) -> Any:
    return world.owner.delete(f"{API}/alert-rules/{world.ids['rule']}")


def delete_channel(world: World) -> Any:
    return world.owner.delete(f"{API}/channels/{world.ids['channel']}")


def delete_view(world: World) -> Any:
    return world.owner.delete(f"{API}/views/{world.ids['view']}")


def remove_old_output(world: World) -> None:
    own = Workspace.objects.filter(pk=world.busy.workspace.pk)
    own.update(raw_kept_days=1)
    ended = Upload.objects.filter(pk=world.run.upload.pk)
    ended.update(received_at=timezone.now() - timedelta(days=2))
    remove_due_output()


def collect_bytes(_world: World) -> None:
    """With the usual age: of younger bytes the upload may be on its way."""
    collect(is_forced=True)


def export(world: World) -> Any:
    answer = world.owner.post(
        f"{API}/exports", {"workspace": world.busy.workspace.slug}, content_type=JSON
    )
    write_due()
    return answer


def _workspace(world: World) -> str:
    return f"workspace={world.busy.workspace.slug}"


DestructiveAct = Callable[[World], Any]
OF_WORKSPACES: tuple[DestructiveAct, ...] = (
    *(delete_workspace, delete_workspace_on_its_page, delete_workspace_after_a_restore),
)
OF_RUNS: tuple[DestructiveAct, ...] = (
    *(trash_runs, delete_runs, delete_runs_after_a_restore, empty_trash),
)
ACTS: dict[str, tuple[DestructiveAct, ...]] = {
    "workspaces": OF_WORKSPACES,
    "runs": OF_RUNS,
    "access": (rename_workspace, revoke_token, remove_member, leave),
    "accounts and takedowns": (
        *(erase_account, close_account, take_down_workspace, restore_workspace),
    ),
    "names and bytes": (merge_names, rename_server, remove_old_output, collect_bytes, export),
    "what members made": (withdraw_result_set, delete_rule, delete_channel, delete_view),
}
