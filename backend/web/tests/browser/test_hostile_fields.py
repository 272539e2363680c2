"""Two hundred hostile strings in every text that is stored: none runs on any page or in any export.

The fields are read from the models and the routes from the URL configuration, so a new one is tried
without being named here. Whatever a form would refuse is stored all the same.
"""

import html
import json
from itertools import count, islice
from xml.etree import ElementTree

import pytest
from django.core.cache import caches
from django.db import models
from django.test import Client
from django.urls import URLResolver, get_resolver, reverse

from backend.accounts.models import Invitation, Token, User, Workspace
from backend.alerts.models import Alert, AlertChange, AlertRule
from backend.deliveries.models import Channel, Delivery
from backend.feeds.models import FeedToken
from backend.fleet.models import Agent
from backend.runs.models import Correction, Merge
from backend.sharing.models import SavedView
from backend.storage import storage
from backend.testing.every_text import (
    TEXTS,
    make_every_row,
    name_of,
    overwrite_texts,
    text_fields,
)
from backend.testing.hostile_names import ATTACKS
from backend.testing.scenes import Scene
from backend.web.tests.browser.page_lab import make_page_lab
from backend.web.tests.browser.test_every_page import (
    ABSENT,
    ROUTES,
    arguments_of,
    path_of,
)
from backend.web.tests.browser.test_hostile_names import FETCHED, FOREIGN, _plain

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
# Kept as they are: words of ours, which no request can set, and addresses.
OURS = {
    *("accounts.Workspace.slug", "accounts.FormerSlug.slug", "api.CreationKey.sender"),
    *("deliveries.Delivery.event", "deliveries.Channel.address", "runs.Dismissal.check_id"),
    *("runs.Series.tool", "runs.Series.loop", "runs.Trial.phase", "runs.Trial.percentiles_origin"),
}
# What else is JSON holds figures and words of ours beside texts; uploads bring those.
FREE_JSON = {
    *("runs.Server.configuration", "runs.Workload.headers", "runs.Host.facts", "runs.Run.labels"),
    *("runs.Run.agent", "runs.Run.server_tails", "alerts.Alert.data", "deliveries.Delivery.data"),
}
# Rows of lists, each of which shows a few of the strings.
COPIED = [Agent, AlertChange, Alert, AlertRule, Channel, Delivery, FeedToken, SavedView, Token]
COPIES = 70
PARSED = f"""(texts) => texts.flatMap(
  (text) => ({FOREIGN})(new DOMParser().parseFromString(text, "text/html")))"""
XHTML = "{http://www.w3.org/1999/xhtml}"
RUNS = {"text/html", "application/xhtml+xml", "text/javascript", "application/javascript"}


@pytest.fixture
def lab(settings, tmp_path):
    settings.DATA_DIR = settings.AGENT_FILES = tmp_path
    settings.OPEN_SIGN_UP = True
    settings.EMAIL_BACKEND = "backend.accounts.mail.held_mail.EmailBackend"
    storage.cache_clear()
    caches["process"].clear()
    lab = make_page_lab(tmp_path)
    tenant = lab["tenant"]
    viewer = User.objects.create_user("the-viewer")
    artefact = lab["upload"].artefacts.first()
    world = (tenant, lab["empty"], viewer, lab["run"], lab["trial"], lab["upload"], artefact)
    make_every_row(Scene(*world), ATTACKS[0])
    # The operator sees every page.
    User.objects.filter(pk=tenant.user.pk).update(is_staff=True)
    lab["arguments"] = arguments_of(lab) | _more_arguments(tenant.workspace)
    fields = [field for field in text_fields() if _is_free(field)]
    for model in COPIED:
        _copy(model, tenant.workspace)
    for alert in Alert.objects.filter(changes=None):
        AlertChange.objects.create(alert=alert, state=alert.state)
    overwrite_texts(tenant.workspace, _Hostile().value, iter(fields))
    yield lab
    storage.cache_clear()


def _more_arguments(workspace):
    return {
        "invitation_id": Invitation.objects.filter(workspace=workspace).first().pk,
        "merge_id": Merge.objects.filter(workspace=workspace).first().pk,
        "correction_id": Correction.objects.first().pk,
        "feed_token_id": FeedToken.objects.filter(workspace=workspace).first().pk,
    }


def _is_free(field):
    """Whether people or programs choose its text: no hash, key or figure."""
    if isinstance(field, models.JSONField):
        return name_of(field) in FREE_JSON
    is_ours = name_of(field) in OURS or isinstance(field, models.BinaryField)
    return not is_ours and not field.name.endswith(("sha256", "lookup", "pepper_id", "key"))


def _copy(model, workspace):
    """More rows of a model, which differ in their texts only."""
    rows = model._base_manager.all()
    if any(field.name == "workspace" for field in model._meta.fields):
        rows = rows.filter(workspace=workspace)
    row = rows.first()
    for number in range(COPIES):
        row.pk = model._meta.pk.get_default()
        row._state.adding = True
        for field in model._meta.local_concrete_fields:
            if isinstance(field, models.BinaryField):
                setattr(row, field.attname, number.to_bytes(32, "big"))
            elif isinstance(field, TEXTS) and not field.choices:
                setattr(row, field.attname, str(number)[: field.max_length])
        row.save(force_insert=True)


class _Hostile:
    """Values of the strings, one after the other; each field goes on where its last row ended."""

    def __init__(self):
        self._offsets = {}

    def value(self, field, before, number):
        if isinstance(field, TEXTS):
            return self._text(field, number)
        return {**before, ATTACKS[number % len(ATTACKS)]: ATTACKS[-1 - number % len(ATTACKS)]}

    def _text(self, field, number):
        """As many strings as fit; distinct in each row, for names must be."""
        start = self._offsets.get(field, 0)
        room = (field.max_length or 20_000) - 5
        text, used = "", 0
        for attack in islice((ATTACKS[at % len(ATTACKS)] for at in count(start)), len(ATTACKS)):
            if len(text) + len(attack) + 1 > room:
                break
            text, used = f"{text}{attack} ", used + 1
        self._offsets[field] = start + max(used, 1)
        return f"{text}{number}"


def test_no_stored_text_runs_on_any_page_or_in_any_export(new_page, live_server, lab, settings):
    settings.PUBLIC_URL = live_server.url
    member = Client()
    member.force_login(lab["tenant"].user)
    page = new_page(lab["tenant"], refusals=(400, 404, 410))
    page.on("dialog", lambda dialog: page.complaints.append(dialog.message) or dialog.dismiss())
    page.goto(live_server.url + "/w/lab/")
    paths, faults = _pages(member, lab), {}
    assert len(paths) > 60
    for path in paths:
        page.goto(live_server.url + path, wait_until="domcontentloaded")
        if page.locator("[data-compare], [data-result-set]").count():
            page.wait_for_selector("[aria-busy=false]:is([data-compare], [data-result-set])")
        foreign = page.evaluate(f"({FOREIGN})(document)")
        if foreign or page.complaints:
            faults[path] = [*foreign, *page.complaints]
            page.complaints.clear()
    assert faults == {}
    assert page.evaluate(FETCHED, _details(lab)) == []
    _every_string_is_shown(member)
    _no_name_of_the_workspace_runs(page, member, lab["tenant"].workspace)
    _answers_for_programs_are_no_pages(member, lab)


def _pages(member, lab):
    """Every page that its owner, who is the operator too, sees."""
    paths = []
    for route, names in ROUTES:
        path = path_of(route, names, lab, lab["arguments"])
        answer = member.get(path)
        assert answer.status_code != 500, path
        is_page = answer.status_code == 200 and answer["Content-Type"].startswith("text/html")
        if is_page and route not in ABSENT:
            paths.append(path)
    return paths


def _details(lab):
    """The pages of each of many rows, and the settings with each name that a workspace can have."""
    workspace = lab["tenant"].workspace
    rows = {
        "alert-page": Alert.objects.filter(workspace=workspace),
        "channel-page": Channel.objects.filter(workspace=workspace),
    }
    return [
        reverse(route, args=["lab", pk])
        for route, kept in rows.items()
        for pk in kept.values_list("pk", flat=True)
    ]


def _every_string_is_shown(member):
    """A page that leaves names out would prove nothing."""
    for path in ("views", "alerts", "alerts/rules", "agents"):
        text = _plain(html.unescape(member.get(f"/w/lab/{path}").content.decode()))
        assert [attack for attack in ATTACKS if _plain(attack) not in text] == [], path


def _no_name_of_the_workspace_runs(page, member, workspace):
    """It has one name only, so the strings come one after the other."""
    texts = []
    for attack in ATTACKS:
        Workspace.objects.filter(pk=workspace.pk).update(name=attack)
        texts.append(member.get("/w/lab/members").content.decode())
    assert page.evaluate(PARSED, texts) == []


def _answers_for_programs_are_no_pages(member, lab):
    """No answer of the API, feed, image or table is of a type that a browser runs."""
    asked = 0
    for route, names in _routes_for_programs(get_resolver()):
        values = {**lab["arguments"], "slug": "lab", "check": "few-trials"}
        if not set(names) <= values.keys():
            continue
        answer = member.get(reverse(route, kwargs={name: values[name] for name in names}))
        assert answer.status_code < 500, route
        kind = answer["Content-Type"].partition(";")[0]
        assert kind not in RUNS or answer.status_code in {301, 302, 404}, route
        assert answer["X-Content-Type-Options"] == "nosniff", route
        if kind == "application/json":
            json.loads(answer.content)
        if kind.endswith("xml"):
            _has_no_script(answer.content)
        asked += answer.status_code == 200
    assert asked > 30


def _routes_for_programs(resolver, above=()):
    for pattern in resolver.url_patterns:
        names = (*above, *pattern.pattern.regex.groupindex)
        if isinstance(pattern, URLResolver):
            if pattern.app_name != "admin":
                yield from _routes_for_programs(pattern, names)
        elif pattern.name and pattern.name != "api-docs" and _is_for_programs(pattern):
            yield pattern.name, names


def _is_for_programs(pattern):
    ends = (".csv", ".json", ".atom", ".svg", ".png", ".parquet", ".toml")
    return ".api." in pattern.lookup_str or str(pattern.pattern).rstrip("$").endswith(ends)


def _has_no_script(content):
    for element in ElementTree.fromstring(content).iter():
        assert not element.tag.startswith(XHTML)
        assert not element.tag.endswith("script")
        assert not [name for name in element.attrib if name.startswith("on")]
