"""What staff took down is not published again by way of an archive."""

import pytest
from django.core.management import call_command
from django.test import Client

from backend.accounts.models import Workspace
from backend.accounts.takedown_models import Takedown, Thing
from backend.sharing.models import ResultSet, SharedRun, Visibility
from backend.testing.rows import let_a_minute_pass
from backend.transfer.tests.rich import export_to, make_rich_scene

pytestmark = pytest.mark.django_db


@pytest.fixture
def scene():
    scene = make_rich_scene()
    let_a_minute_pass()
    scene.own.workspace.is_public = True
    scene.own.workspace.save()
    ResultSet.objects.filter(title="First").update(visibility=Visibility.PUBLIC)
    return scene


def take_down(scene, kind, thing_id):
    Takedown.objects.create(
        workspace=scene.own.workspace, kind=kind, thing_id=thing_id, reason="It is spam."
    )


def imported(archive, capsys):
    """The new workspace, and what the command said."""
    call_command("import_workspace", archive, slug="copied")
    return Workspace.objects.get(slug="copied"), capsys.readouterr().out


@pytest.mark.parametrize("is_exported_first", [True, False])
def test_a_result_set_is_private(scene, tmp_path, capsys, is_exported_first):
    first = ResultSet.objects.get(title="First")
    archive = export_to(scene.own.workspace, tmp_path) if is_exported_first else None
    take_down(scene, Thing.RESULT_SET, first.pk)
    workspace, said = imported(archive or export_to(scene.own.workspace, tmp_path), capsys)
    again = ResultSet.objects.get(workspace=workspace, title="First")
    assert again.visibility == Visibility.PRIVATE
    assert Client().get(f"/s/{again.link}").status_code == 404
    assert "took down 1 of these runs and result sets" in said
    # The others are as before, and so is the workspace.
    kept = ResultSet.objects.get(workspace=workspace, title="Second")
    assert (kept.visibility, workspace.is_public) == (Visibility.UNLISTED, True)


def test_a_run_is_neither_shared_nor_in_a_public_workspace(scene, tmp_path, capsys):
    take_down(scene, Thing.RUN, scene.run.pk)
    workspace, _ = imported(export_to(scene.own.workspace, tmp_path), capsys)
    assert not SharedRun.objects.filter(run__workspace=workspace).exists()
    assert not workspace.is_public


def test_of_a_workspace_nothing_is_public(scene, tmp_path, capsys):
    take_down(scene, Thing.WORKSPACE, scene.own.workspace.pk)
    workspace, _ = imported(export_to(scene.own.workspace, tmp_path), capsys)
    sets = ResultSet.objects.filter(workspace=workspace)
    assert {each.visibility for each in sets} == {Visibility.PRIVATE}
    assert not SharedRun.objects.filter(run__workspace=workspace).exists()
    assert not workspace.is_public


def test_without_a_takedown_all_is_as_before(scene, tmp_path, capsys):
    workspace, said = imported(export_to(scene.own.workspace, tmp_path), capsys)
    assert workspace.is_public
    assert SharedRun.objects.filter(run__workspace=workspace).exists()
    assert "took down" not in said
