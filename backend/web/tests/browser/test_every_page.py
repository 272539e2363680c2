"""Every page of the site in a real Chromium, at both widths and in both themes.

The routes are read from the URL configuration, so a new page is audited without being named here.
"""

import uuid

import pytest
from django.core.cache import caches
from django.test import Client
from django.urls import URLResolver, get_resolver, reverse

from backend.accounts.models import Role
from backend.accounts.takedown_models import Report, Thing
from backend.accounts.workspace import invitations
from backend.alerts.models import Alert, AlertRule
from backend.deliveries.models import Channel
from backend.runs.models import Run
from backend.sharing.models import SharedRun, Visibility
from backend.storage import storage
from backend.testing.scenes import make_alerts, make_export, make_saved_view
from backend.web.tests.browser.page_audit import faults_of
from backend.web.tests.browser.page_lab import make_page_lab

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
# So that several processes share them.
GROUPS = 6
# Pages of a second factor, which nobody has here, answers for programs, and a link that redirects.
ABSENT = {
    *("oembed", "metrics", "open-workspace", "security-txt"),
    *("mfa_remove_webauthn", "mfa_edit_webauthn", "mfa_deactivate_totp"),
    *("mfa_view_recovery_codes", "mfa_download_recovery_codes"),
}
SOMETHING = uuid.UUID(int=9)


def named_routes(resolver, above=()):
    """The name of each route that is no answer for programs, with the names of its arguments."""
    for pattern in resolver.url_patterns:
        names = (*above, *pattern.pattern.regex.groupindex)
        if isinstance(pattern, URLResolver) and pattern.app_name == "admin":
            # Pages of Django's own.
            continue
        if isinstance(pattern, URLResolver):
            yield from named_routes(pattern, names)
        elif pattern.name is None:
            # The pages of Django's own admin; ours have names.
            continue
        elif pattern.name == "api-docs" or ".api." not in pattern.lookup_str:
            yield pattern.name, names


ROUTES = sorted(set(named_routes(get_resolver())))


@pytest.fixture
def lab(settings, tmp_path):
    settings.DATA_DIR = settings.AGENT_FILES = tmp_path
    settings.OPEN_SIGN_UP = True
    settings.TERMS_FILE = settings.PRIVACY_FILE = tmp_path / "text.md"
    settings.TERMS_FILE.write_text("# Terms\n\n## Whose they are\n\nThose of the operator.\n")
    storage.cache_clear()
    caches["process"].clear()
    lab = make_page_lab(tmp_path)
    make_alerts(lab["tenant"], lab["run"])
    user = lab["tenant"].user
    # The operator sees every page.
    user.is_staff = True
    user.save()
    yield lab
    storage.cache_clear()


def arguments_of(lab):
    """A value for each argument of the routes."""
    cell, workspace = lab["trial"].cell, lab["tenant"].workspace
    rows = SharedRun.objects
    shared_run, _ = rows.get_or_create(run=lab["run"], defaults={"visibility": Visibility.PUBLIC})
    return {
        "slug": "lab",
        "run_id": lab["run"].pk,
        "trial_id": lab["trial"].pk,
        "upload_id": lab["upload"].pk,
        "artefact_id": lab["upload"].artefacts.first().pk,
        "link": lab["shared"].link,
        "shared_link": shared_run.link,
        "server_id": cell.series.server_id,
        "workload_id": cell.series.workload_id,
        "host_id": lab["run"].server_host_id,
        "token_id": lab["token"].pk,
        "view_id": make_saved_view(workspace).pk,
        "export_id": make_export(workspace).pk,
        "alert_id": Alert.objects.get(workspace=workspace).pk,
        "rule_id": AlertRule.objects.get(workspace=workspace).pk,
        "channel_id": Channel.objects.get(workspace=workspace).pk,
        "report_id": make_report(workspace, lab["shared"]).pk,
        "token": invitations.invite(lab["tenant"].user, workspace, Role.MEMBER),
        "uidb36": "1",
        "key": "nonsense",
        "pk": 1,
        # Of routes that only take a form.
        **dict.fromkeys(
            ("id_", "user_id", "invitation_id", "merge_id", "correction_id", "delivery_id"),
            SOMETHING,
        ),
    }


def make_report(workspace, result_set):
    return Report.objects.create(
        workspace=workspace, kind=Thing.RESULT_SET, thing_id=result_set.pk, page=result_set.path
    )


OTHER_ARGUMENTS = {
    "library-server": {"slug": "tornado"},
    "guide-page": {"name": "checks"},
    "session-page": {"name": "big"},
    "integration-file": {"name": "gitlab/loadsheet.yml"},
    "agent-wheel": {"name": "loadsheet_agent-0.1.0-py3-none-any.whl"},
}


# In the query.
FIELDS = {"report": "?page=/s/{link}"}


def path_of(route, names, lab, arguments):
    values = {**arguments, **OTHER_ARGUMENTS.get(route, {})}
    missing = [name for name in names if name not in values]
    assert not missing, f"Add a value of {missing} to arguments_of, for the route {route}."
    path = reverse(route, kwargs={name: values[name] for name in names})
    path += FIELDS.get(route, "").format(**arguments)
    if route == "compare-pair":
        runs = Run.objects.filter(workspace=lab["tenant"].workspace, is_open=False)
        return "{}?a={}&b={}".format(path, *runs.values_list("pk", flat=True)[:2])
    return path


def is_page(answer):
    return answer.status_code in {200, 410} and answer["Content-Type"].startswith("text/html")


# Lists and results, of which a phone shows every column.
_CUT = """[...document.querySelectorAll(".table-box:has(.cards, .run-summary)")]
  .filter((box) => innerWidth < 720 && box.scrollWidth > box.clientWidth + 1)
  .map((box) => `cut: ${box.getAttribute("aria-label")}`)"""


def cut_lists(page):
    return page.evaluate(_CUT)


@pytest.mark.parametrize("group", range(GROUPS))
def test_every_page_fits_is_accessible_and_quiet(new_page, live_server, lab, group):
    member, stranger = Client(), Client()
    member.force_login(lab["tenant"].user)
    signed_in = new_page(lab["tenant"], refusals=(410,))
    signed_out = new_page(refusals=(410,))
    arguments, faults, lost = arguments_of(lab), {}, []
    for route, names in ROUTES[group::GROUPS]:
        path = path_of(route, names, lab, arguments)
        answer = member.get(path)
        if answer.status_code in {404, 500} and route not in ABSENT:
            lost.append((route, answer.status_code))
        page = signed_in if is_page(answer) else signed_out
        if not (is_page(answer) or is_page(stranger.get(path))):
            continue
        page.goto(live_server.url + path)
        if page.locator("[data-compare], [data-result-set]").count():
            page.wait_for_selector("[aria-busy=false]:is([data-compare], [data-result-set])")
        elif route == "embed":
            page.wait_for_selector("[data-slot=chart] canvas")
        found = {**faults_of(page, f"every-{route}", cut_lists), **dict.fromkeys(page.complaints)}
        page.complaints.clear()
        if found:
            faults[route] = found
    assert lost == []
    assert faults == {}


def test_the_pages_of_each_kind_are_among_the_routes():
    routes = {route for route, _ in ROUTES}
    assert {"home", "run-page", "compare-page", "account_login", "api-docs", "embed"} <= routes
    assert "run-list" not in routes
