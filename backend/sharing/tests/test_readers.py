"""Who may read a result set, and why, is said where it is shared."""

import pytest
from django.test import Client
from django.utils import timezone

from backend.sharing.models import Visibility
from backend.testing.scenes import make_result_set
from backend.testing.uploads import make_tenant

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("visibility", "is_public", "readers"),
    [
        (Visibility.PRIVATE, False, "Members of the workspace may read it, because it is private."),
        (Visibility.UNLISTED, False, "Everyone who has the link may read it"),
        (Visibility.PUBLIC, False, "Only members may read its runs, because the workspace is"),
        (Visibility.PUBLIC, True, "Everyone may read its runs, because the workspace is public."),
    ],
)
def test_the_page_and_the_api_say_who_reads(visibility, is_public, readers):
    tenant = make_tenant()
    tenant.workspace.is_public = is_public
    tenant.workspace.save()
    made = make_result_set(tenant.workspace, visibility)
    assert readers in made.readers
    member = Client()
    member.force_login(tenant.user)
    assert readers in member.get(f"/api/v1/result-sets/{made.link}").json()["readers"]


def test_of_one_that_is_gone_nobody_reads():
    gone = make_result_set(make_tenant().workspace, Visibility.PUBLIC, expires_at=timezone.now())
    assert gone.readers == "Nobody, because it is expired."
