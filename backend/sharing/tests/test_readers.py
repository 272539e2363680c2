"""Who may read a result set and the runs of a workspace, and why, is said where they are shared."""

import uuid

import pytest
from django.test import Client
from django.utils import timezone

from backend.accounts.models import Role
from backend.accounts.workspace.workspace_links import make_link, revoke_link
from backend.runs.models import Run
from backend.sharing.models import SharedRun, Visibility
from backend.sharing.readers import readers_of_runs
from backend.testing.rows import STARTED
from backend.testing.scenes import make_result_set
from backend.testing.uploads import make_tenant

pytestmark = pytest.mark.django_db
ONLY_MEMBERS = "Only members may read the runs, because the workspace is private."
WITH_LINK = (
    "Everyone who has the link of the workspace may read the runs, because the workspace is "
    "unlisted."
)
EVERYONE = "Everyone may read the runs, because the workspace is public."
EXCEPTIONS = "More people may read runs that are shared by themselves."


@pytest.fixture
def tenant():
    return make_tenant()


@pytest.fixture
def member(tenant):
    member = Client()
    member.force_login(tenant.user)
    return member


def share_a_run(workspace, **fields):
    run = Run.objects.create(
        id=uuid.uuid4(), workspace=workspace, started_at=STARTED, finished_at=STARTED, **fields
    )
    SharedRun.objects.create(run=run, visibility=Visibility.UNLISTED)


def open_to(workspace, visibility):
    if visibility == Visibility.UNLISTED:
        make_link(workspace.memberships.get().user, workspace)
    workspace.is_public = visibility == Visibility.PUBLIC
    workspace.save()


@pytest.mark.parametrize(
    ("visibility", "words"),
    [
        (Visibility.PRIVATE, "Members of the workspace may read it, because it is private."),
        (Visibility.UNLISTED, "Everyone who has the link may read it, because it is unlisted."),
        (Visibility.PUBLIC, "Everyone may read it, because it is public."),
    ],
)
def test_the_page_and_the_api_say_who_reads_a_result_set(visibility, words, tenant, member):
    made = make_result_set(tenant.workspace, visibility)
    told = f"{words} {ONLY_MEMBERS}"
    assert told in member.get(f"/s/{made.link}").content.decode()
    assert member.get(f"/api/v1/result-sets/{made.link}").json()["readers"] == told
    (listed,) = member.get("/api/v1/result-sets?workspace=lab").json()["result_sets"]
    assert listed["readers"] == told


@pytest.mark.parametrize(
    ("of_workspace", "shares_a_run", "words"),
    [
        (Visibility.PRIVATE, False, ONLY_MEMBERS),
        (Visibility.PRIVATE, True, f"{ONLY_MEMBERS} {EXCEPTIONS}"),
        (Visibility.UNLISTED, False, WITH_LINK),
        (Visibility.UNLISTED, True, f"{WITH_LINK} {EXCEPTIONS}"),
        (Visibility.PUBLIC, True, EVERYONE),
    ],
)
def test_who_reads_the_runs_is_the_same_everywhere(
    of_workspace, shares_a_run, words, tenant, member
):
    made = make_result_set(tenant.workspace, Visibility.PUBLIC)
    make_run = share_a_run if shares_a_run else lambda workspace: None
    make_run(tenant.workspace)
    open_to(tenant.workspace, of_workspace)
    told = f"Everyone may read it, because it is public. {words}"
    assert member.get(f"/api/v1/result-sets/{made.link}").json()["readers"] == told
    assert member.get("/api/v1/workspaces/lab").json()["readers"] == words


def test_a_link_that_was_revoked_and_a_run_in_the_trash_have_no_readers(tenant):
    open_to(tenant.workspace, Visibility.UNLISTED)
    revoke_link(tenant.workspace)
    share_a_run(tenant.workspace, trashed_at=timezone.now())
    assert readers_of_runs(tenant.workspace) == ONLY_MEMBERS


def test_admins_see_who_reads_and_change_nothing(tenant, member):
    open_to(tenant.workspace, Visibility.UNLISTED)
    tenant.user.memberships.update(role=Role.ADMIN)
    page = member.get("/w/lab/settings").content.decode()
    assert WITH_LINK in page
    assert 'name="is_public"' not in page


def test_of_one_that_is_gone_nobody_reads(tenant, member):
    gone = make_result_set(tenant.workspace, Visibility.PUBLIC, expires_at=timezone.now())
    (listed,) = member.get("/api/v1/result-sets?workspace=lab").json()["result_sets"]
    assert (listed["id"], listed["readers"]) == (str(gone.link), "Nobody, because it is expired.")
