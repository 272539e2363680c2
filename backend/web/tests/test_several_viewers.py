"""What one viewer may see never comes to another: private runs, and answers from the cache."""

import itertools

import pytest
from django.core.cache import caches
from django.test import Client

from backend.accounts.models import Membership, Role
from backend.analysis.loading import response_cache
from backend.analysis.query.metrics import METRICS
from backend.analysis.query.view_ids import VIEWS
from backend.ingest.removing.trash import trash_run
from backend.sharing import drawing
from backend.sharing.freezing import freeze, save_live
from backend.testing.rows import CellSpec, make_run
from backend.testing.uploads import make_tenant
from backend.web.tests.pages import keep
from backend.web.tests.test_access import body_of

pytestmark = pytest.mark.django_db
URLS = 200
FORMATS = ("/s/{0}", "/s/{0}.json", "/s/{0}.csv", "/s/{0}.png", "/s/{0}.svg", "/embed/{0}")
FEEDS = ("/s/{0}.atom", "/api/v1/result-sets/{0}", "/oembed?url=http://127.0.0.1:8000/s/{0}")


@pytest.fixture(autouse=True)
def _images_show_what_they_are_drawn_from(monkeypatch, settings):
    settings.REQUESTS_PER_MINUTE = 10**9
    caches["answers"].clear()
    monkeypatch.setattr(drawing, "draw", lambda drawn: drawn)


def client_of(user):
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def private_run(scene):
    """A run of another workspace, whose owner is a member of the scene's too."""
    owner = scene.foreign.user
    Membership.objects.create(user=owner, workspace=scene.own.workspace, role=Role.MEMBER)
    return make_run(scene.foreign.workspace, CellSpec("hidden-server"), host={"name": "hidden-pc"})


def assert_absent(run, client, paths):
    for path in paths:
        answer = client.get(path)
        body = body_of(answer)
        assert answer.status_code == 200, path
        for word in (b"hidden-server", b"hidden-pc", str(run.pk).encode()):
            assert word not in body, (path, word)


@pytest.mark.parametrize("save", [freeze, save_live])
def test_a_private_run_is_in_no_format_of_a_public_comparison(save, scene, private_run):
    scene.own.workspace.is_public = True
    scene.own.workspace.save()
    both, nobody = client_of(scene.foreign.user), Client()
    # Who may see both has the answer with both computed and kept first.
    asked = ["/api/v1/compare", "/api/v1/compare?view=sweep", "/api/v1/facets"]
    assert all(b"hidden-server" in body_of(both.get(path)) for path in asked)
    made = keep(scene, save, "view=sweep")
    paths = [path.format(made.link) for path in (*FORMATS, *FEEDS)]
    pages = [f"/api/v1/{name}?workspace=own-lab" for name in ("compare", "facets")]
    pages += ["/api/v1/compare.csv?workspace=own-lab", "/w/own-lab/compare", "/w/own-lab/"]
    for client in (nobody, both):
        # The second time, what is kept is answered.
        for _ in range(2):
            assert_absent(private_run, client, paths)
    for _ in range(2):
        assert_absent(private_run, nobody, [*pages, "/w/own-lab/compare.png"])


def test_a_run_in_the_trash_leaves_every_format_of_a_live_comparison(scene):
    run = make_run(scene.own.workspace, CellSpec("hidden-server"), host={"name": "hidden-pc"})
    made = keep(scene, save_live, "view=sweep")
    paths = [path.format(made.link) for path in (*FORMATS, *FEEDS)]
    assert any(b"hidden-server" in body_of(Client().get(path)) for path in paths)
    trash_run(run, by=None)
    assert_absent(run, Client(), paths)


def questions():
    """Different addresses whose answers are kept."""
    choices = itertools.product(VIEWS, METRICS, ("connections", "version"), ("", "&series=server"))
    whole = [f"view={view}&metric={metric}&x={x}{more}" for view, metric, x, more in choices]
    chosen = whole[:: max(1, len(whole) // (URLS - 20))]
    names = itertools.cycle(("compare", "compare.csv", "compare"))
    addresses = [f"/api/v1/{name}?{query}" for name, query in zip(names, chosen, strict=False)]
    facets = [f"/api/v1/facets?metric={metric}&limit={n}" for metric in METRICS for n in (1, 9)]
    return (addresses + facets)[:URLS]


def answer_of(client, url):
    answer = client.get(url)
    assert answer.status_code == 200, (url, answer.content[:300])
    return answer.content


def test_two_viewers_who_ask_in_turn_get_each_their_own(monkeypatch):
    viewers = []
    for name in ("first", "second"):
        tenant = make_tenant(f"{name}-lab")
        make_run(tenant.workspace, CellSpec(f"{name}-server", rates=(len(name) * 100.0,)))
        viewers.append(client_of(tenant.user))
    urls = questions()
    assert len({*urls}) == URLS
    real_get = response_cache._get
    # Computed without the cache, into which the answers go.
    monkeypatch.setattr(response_cache, "_get", lambda key: None)
    computed = [[answer_of(viewer, url) for viewer in viewers] for url in urls]
    kept = []
    monkeypatch.setattr(response_cache, "_get", lambda key: kept.append(real_get(key)) or kept[-1])

    answered = [[answer_of(viewer, url) for viewer in viewers] for url in urls]

    assert len(kept) == 2 * URLS
    assert None not in kept
    assert answered == computed
    for first, second in answered:
        assert (b"second-" in first, b"first-" in second) == (False, False)
        assert first != second
