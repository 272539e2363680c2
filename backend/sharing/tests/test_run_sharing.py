"""Sharing one run: who may read it and why, the life of its link, and secrets in its texts."""

import pytest
from django.utils import timezone

from backend.accounts.credentials import token_format
from backend.accounts.models import Workspace
from backend.accounts.workspace import workspace_links
from backend.errors import NotFound
from backend.ingest.removing.removal import remove_run
from backend.ingest.removing.trash import restore_run, trash_run
from backend.runs.amending.dismissals import dismiss, fired_in
from backend.runs.amending.editing import correct, undo_correction
from backend.runs.models import Correction, Dismissal, Run, Trial
from backend.sharing.models import SharedRun, Visibility
from backend.sharing.run_sharing import (
    NoLink,
    describe_sharing,
    find_shared_run,
    revoke_link,
    share_run,
)
from backend.sharing.secret_check import SecretShared
from backend.sharing.shared_run import describe_shared_run
from backend.sharing.workspace_deletion import delete_workspace
from backend.testing.scenes import make_scene

pytestmark = pytest.mark.django_db
PRIVATE, UNLISTED, PUBLIC = Visibility
TOKEN = token_format.new_token("api")


@pytest.fixture
def scene(settings, tmp_path):
    settings.DATA_DIR = tmp_path
    return make_scene()


@pytest.fixture
def run(scene):
    return Run.objects.select_related("workspace").get(pk=scene.run.pk)


def link_of(run):
    return SharedRun.objects.get(run=run).link


@pytest.mark.parametrize(
    ("of_workspace", "own", "effective", "why"),
    [
        (PRIVATE, PRIVATE, PRIVATE, ["Only members", "the run and its workspace are private"]),
        (PRIVATE, UNLISTED, UNLISTED, ["its link", "it is unlisted"]),
        (PRIVATE, PUBLIC, PUBLIC, ["Everyone may read it", "it is public"]),
        (UNLISTED, PRIVATE, UNLISTED, ["the link of the workspace", "workspace is unlisted"]),
        (UNLISTED, UNLISTED, UNLISTED, ["its link", "the link of the workspace"]),
        (UNLISTED, PUBLIC, PUBLIC, ["it is public"]),
        (PUBLIC, PRIVATE, PUBLIC, ["the workspace is public"]),
        (PUBLIC, UNLISTED, PUBLIC, ["the workspace is public"]),
        (PUBLIC, PUBLIC, PUBLIC, ["it is public"]),
    ],
)
def test_the_more_open_of_run_and_workspace_counts(scene, of_workspace, own, effective, why):
    workspace = scene.own.workspace
    Workspace.objects.filter(pk=workspace.pk).update(is_public=of_workspace == PUBLIC)
    if of_workspace == UNLISTED:
        workspace_links.make_link(scene.own.user, workspace)
    run = Run.objects.select_related("workspace").get(pk=scene.run.pk)
    share_run(run, own)
    sharing = describe_sharing(run)
    assert (sharing.visibility, sharing.effective_visibility) == (own, effective)
    assert [part for part in why if part not in sharing.why] == []
    assert (sharing.path is None) is (own == PRIVATE)


def test_a_link_stays_until_it_is_revoked_or_the_run_private(run):
    share_run(run, UNLISTED)
    first = link_of(run)
    assert first != run.pk
    assert first.version == 4
    share_run(run, PUBLIC)
    assert link_of(run) == first
    revoke_link(run)
    second = link_of(run)
    assert find_shared_run(first) is None
    share_run(run, PRIVATE)
    assert find_shared_run(second) is None
    share_run(run, UNLISTED)
    assert find_shared_run(second) is None
    assert find_shared_run(link_of(run)).run_id == run.pk
    assert find_shared_run(run.pk) is None


def test_a_private_run_has_no_link_to_revoke(run):
    with pytest.raises(NoLink, match="private"):
        revoke_link(run)


def test_a_link_is_dead_while_the_run_is_in_the_trash_and_for_good_after_it(run):
    share_run(run, PUBLIC)
    link = link_of(run)
    trash_run(run, by=None)
    assert find_shared_run(link) is None
    for change in (lambda: share_run(run, UNLISTED), lambda: revoke_link(run)):
        with pytest.raises(NotFound):
            change()
    restore_run(run)
    assert find_shared_run(link) is not None
    remove_run(run)
    assert not SharedRun.objects.exists()


def test_a_link_is_dead_at_once_when_the_workspace_is_deleted(run):
    share_run(run, PUBLIC)
    link = link_of(run)
    delete_workspace(run.workspace)
    assert find_shared_run(link) is None
    assert not SharedRun.objects.exists()


PLACES = {
    "notes": lambda run, text: Run.objects.filter(pk=run.pk).update(notes=text),
    "labels": lambda run, text: Run.objects.filter(pk=run.pk).update(labels={"note": text}),
    "plan": lambda run, text: Run.objects.filter(pk=run.pk).update(plan=f'header = "{text}"'),
    "events": lambda run, text: Run.objects.filter(pk=run.pk).update(events=[{"text": text}]),
    "commands": lambda run, text: Trial.objects.filter(run=run).update(command=["wrk", text]),
    "corrections": lambda run, text: Correction.objects.create(
        run=run, field="server", before=[text], value="nginx"
    ),
}


def test_a_correction_that_was_undone_is_not_shared(run):
    PLACES["corrections"](run, TOKEN)
    Correction.objects.update(undone_at=timezone.now())
    share_run(run, UNLISTED)
    shared = find_shared_run(link_of(run))
    assert describe_shared_run(shared)["corrections"] == []


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("visibility", [UNLISTED, PUBLIC])
def test_a_run_with_a_token_in_a_text_is_not_shared(run, place, visibility):
    PLACES[place](run, f"see {TOKEN}.")
    with pytest.raises(SecretShared, match="Loadsheet token") as refused:
        share_run(run, visibility)
    assert refused.value.members == {"field": place}
    assert TOKEN not in str(refused.value)
    assert not SharedRun.objects.exists()
    # Private is always allowed.
    share_run(run, PRIVATE)


def test_what_uploads_lose_is_refused_in_what_members_typed(run):
    Run.objects.filter(pk=run.pk).update(notes="Measured with ?api_key=hunter2 on the proxy.")
    with pytest.raises(SecretShared, match=r"api_key=\[redacted\]") as refused:
        share_run(run, UNLISTED)
    assert "hunter2" not in str(refused.value)
    Run.objects.filter(pk=run.pk).update(notes="Measured with ?api_key=[redacted] on the proxy.")
    share_run(run, UNLISTED)


SECRET = "aws_secret_access_key=wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY"


@pytest.mark.parametrize("visibility", [UNLISTED, PUBLIC])
@pytest.mark.parametrize("values", [{"notes": SECRET}, {"labels": {"key": SECRET}}])
def test_no_secret_is_typed_into_a_shared_run(run, values, visibility):
    share_run(run, visibility)
    (field,) = values
    with pytest.raises(SecretShared, match="Nothing was changed") as refused:
        correct(run.pk, values, author=None)
    assert refused.value.members == {"field": field}
    assert not Correction.objects.exists()
    # Members may write what they like where only members read it.
    share_run(run, PRIVATE)
    correct(run.pk, values, author=None)
    assert getattr(Run.objects.get(pk=run.pk), field) == values[field]


def test_no_finding_of_a_shared_run_is_dismissed_with_a_secret(run):
    share_run(run, PUBLIC)
    check = sorted(fired_in(run))[0]
    with pytest.raises(SecretShared, match="dismissals"):
        dismiss(run, check, reason=SECRET, author=None)
    assert not Dismissal.objects.exists()
    dismiss(run, check, reason="On purpose.", author=None)


def test_undoing_brings_no_secret_back_into_a_shared_run(run):
    correct(run.pk, {"notes": SECRET}, author=None)
    (clean,) = correct(run.pk, {"notes": "none"}, author=None)
    SharedRun.objects.create(run=run, visibility=PUBLIC)
    with pytest.raises(SecretShared):
        undo_correction(run.pk, clean.pk, by=None)
    assert Run.objects.get(pk=run.pk).notes == "none"


@pytest.mark.parametrize(
    ("field", "secret", "clean"),
    [("notes", SECRET, "none"), ("labels", {"key": SECRET}, {"key": "none"})],
)
def test_a_secret_that_was_corrected_is_gone_from_a_shared_run(run, field, secret, clean):
    correct(run.pk, {field: secret}, author=None)
    SharedRun.objects.create(run=run, visibility=PUBLIC)
    correct(run.pk, {field: clean}, author=None)
    view = describe_shared_run(find_shared_run(link_of(run)))
    assert SECRET not in str(view)
    shown = [(each["before"], each["value"]) for each in view["corrections"]]
    assert shown == [([], clean), ([], None)]
    share_run(run, PRIVATE)
    share_run(run, UNLISTED)


def test_text_that_only_looks_like_a_token_is_shared(run):
    almost = TOKEN[:-1] + ("A" if TOKEN[-1] != "A" else "B")
    Trial.objects.filter(run=run).update(command=["wrk", almost])
    share_run(run, UNLISTED)
