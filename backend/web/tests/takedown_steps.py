"""What the tests of takedowns share: something public, a report of it, and its takedown."""

from django.test import Client

from backend.accounts.models import User
from backend.accounts.takedown_models import Report, Takedown
from backend.accounts.workspace.workspaces import change_settings
from backend.sharing.models import SharedRun, Visibility
from backend.storage import storage
from backend.testing.scenes import make_result_set
from backend.web.tests.test_access import ids_of

REASON = "It shows an address of a person"


def prepared(scene, settings, tmp_path):
    """The scene with an owner who gets mails, for a fixture."""
    settings.DATA_DIR = tmp_path
    settings.REPORTS_PER_HOUR = 1_000_000
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    User.objects.filter(pk=scene.own.user.pk).update(email="owner@example.org")
    storage.cache_clear()
    yield scene
    storage.cache_clear()


def make_things(scene):
    """Something public of each kind; the workspace is closed unless a test opens it."""
    ids = ids_of(scene)
    result_set = make_result_set(scene.own.workspace, Visibility.PUBLIC)
    shared = SharedRun.objects.create(run=scene.run, visibility=Visibility.PUBLIC)
    return {**ids, "shared": result_set.link, "shared_link": shared.link}


def make_staff():
    user = User.objects.create_user("op", "op@example.org", is_staff=True)
    client = Client()
    client.force_login(user)
    return client


def opened(scene):
    change_settings(scene.own.workspace, {"is_public": True})


def reported(page, **fields):
    form = {"page": page, "reason": "personal", **fields}
    answer = Client().post("/report", form)
    assert answer.status_code == 302, answer.content.decode()
    return Report.objects.latest("at")


def taken_down(staff, page, *, is_legal=False):
    report = reported(page)
    form = {"decision": "take down", "public_reason": REASON}
    if is_legal:
        form["is_legal"] = "on"
    answer = staff.post(
        f"/staff/accounts/report/{report.pk}/change/",
        form,
    )
    assert answer.status_code == 302, answer.content.decode()
    return Takedown.objects.latest("at")
