"""What is newest is what was measured last, whichever upload was read last.

Two workspaces have the same twelve runs, one in the order of measuring and one shuffled. Every page
and answer that says what is newest must be the same for both.
"""

import random
import re
import uuid
from datetime import UTC, datetime, timedelta

import pytest
from django.core.cache import caches
from django.db import connection
from django.test import Client

from backend.analysis.loading import rows
from backend.analysis.pages import comparable_groups, front_questions
from backend.analysis.pages.workspace_cells import load_workspace_cells
from backend.formats.model import Latency, ParsedTrial
from backend.formats.read_trial import ReadTrial
from backend.noise import record as noise
from backend.noise.models import HostNoise, SelfComparison
from backend.runs.catalogue import catalogue
from backend.runs.measured.measured import TrialRecord
from backend.runs.models import Run, Server
from backend.runs.recording.record import RunInput, record_run
from backend.runs.tables.happening import happened_at_of, newest_first
from backend.testing.plans import index_scan
from backend.testing.rows import make_workspace
from backend.testing.uploads import make_tenant

pytestmark = pytest.mark.django_db
BEGAN = datetime(2026, 1, 1, 12, tzinfo=UTC)
DAYS = range(1, 13)
SHUFFLED = random.Random(7).sample(DAYS, len(DAYS))


@pytest.fixture(autouse=True)
def _nothing_kept():
    caches["process"].clear()


def record(workspace, day, *, tool="wrk", version=None, started_at=None):
    """The run of a day: two versions of a server on a host whose facts change every day."""
    facts = {"load_average_1m": float(day), "calibration": {"sha256_mib_s": day}}
    run_input = RunInput(
        id=uuid.uuid4(),
        workspace=workspace,
        started_at=started_at or BEGAN + timedelta(days=day),
        server_host={"name": "bench-1", "cores": 2, "facts": facts},
        labels={"day": str(day), "branch": "main"},
    )
    record_run(run_input, list(trials(day, tool, version)))
    noise.refresh_noise(run_input.id)
    return Run.objects.get(pk=run_input.id)


def trials(day, tool, version):
    for ordinal in range(12):
        completed = 1000 + 10 * day**2 + ordinal
        parsed = ParsedTrial(
            tool=tool,
            elapsed_s=1.0,
            requests_completed=completed,
            requests_ok=completed,
            latency=Latency(percentiles={"50": 900.0, "99": 2000.0}),
        )
        yield TrialRecord(
            ordinal=ordinal,
            server={
                "name": ("alpha", "beta")[ordinal % 2],
                "version": version or f"2.{day}",
                "configuration": {} if version else {"day": day},
            },
            # The workload, too, is another one each day, of one name.
            workload={
                "name": "hello",
                "path": "/",
                "headers": {} if version else {"day": str(day)},
            },
            load={
                "tool": tool,
                "loop": "closed",
                "connections": 8,
                "side": "AB"[ordinal // 2 % 2],
            },
            reading=ReadTrial.of(parsed),
        )


@pytest.fixture
def both():
    """The tenants of both workspaces, of the same name to people."""
    tenants = make_tenant("ordered"), make_tenant("shuffled")
    for tenant, days in zip(tenants, (DAYS, SHUFFLED), strict=True):
        for day in days:
            record(tenant.workspace, day)
        tenant.workspace.name = "Lab"
        tenant.workspace.save(update_fields=["name"])
    return tenants


def same(both, answer):
    """The answer of both workspaces, once it is the same."""
    first, second = (answer(tenant) for tenant in both)
    assert first == second
    return first


def plain(text):
    """A page without what no two workspaces have alike: ids, hashes, addresses, and the times of
    this test."""
    text = re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "ID", text)
    text = re.sub(r"\b([0-9a-f]{8,64}|\w{64})\b", "HASH", text)
    return re.sub(r"ordered|shuffled", "SLUG", text)


def days_of(text):
    """The days of January in a page, in its order."""
    return re.findall(r"2026-01-(\d\d)T12:00", text)


def page(tenant, path):
    client = Client()
    client.force_login(tenant.user)
    answer = client.get(path.replace("SLUG", tenant.workspace.slug), follow=True)
    assert answer.status_code == 200
    return answer.content.decode()


def api(tenant, path):
    answer = Client(headers=tenant.headers).get(path)
    assert answer.status_code == 200, answer.content
    return answer.json()


def test_questions_and_groups_ask_for_the_version_that_was_measured_last(both):
    def questions(tenant):
        workspace = tenant.workspace
        found = front_questions.list_questions(workspace.pk, workspace.slug)
        return [(each.id, plain(repr(each.query)), each.about) for each in found]

    def groups(tenant):
        return [
            (each.label, each.query) for each in comparable_groups.list_groups(tenant.workspace.pk)
        ]

    assert "'version': ('2.12',)" in repr(same(both, questions))
    assert "2.12" in repr(same(both, groups))


def test_load_points_and_their_runs_are_in_the_order_of_measuring(both):
    def cells(tenant):
        days = dict(Run.objects.filter(workspace=tenant.workspace).values_list("pk", "labels__day"))
        measured = load_workspace_cells(tenant.workspace.pk)
        return [
            (cell.server, cell.version, [days[run] for run in cell.runs]) for cell in measured.every
        ]

    assert same(both, cells)[0][1] == "2.12"


def test_a_comparison_shows_the_newest_runs_and_says_the_same(both, monkeypatch):
    monkeypatch.setattr(rows, "MAX_RUNS", 3)

    def figures(tenant):
        answer = api(tenant, f"/api/v1/compare?workspace={tenant.workspace.slug}&series=version")
        answer["runs"] = [run["started_at"] for run in answer["runs"]]
        labels = sorted(series["label"] for series in answer["series"])
        return answer["runs"], labels, answer["finding"]

    runs, labels, _ = same(both, figures)
    assert [time[8:10] for time in runs] == ["13", "12", "11"]
    assert labels == ["2.10", "2.11", "2.12"]


def test_the_first_comparison_is_of_the_newest_version(both):
    for tenant in both:
        record(tenant.workspace, 0, tool="oha")

    def address(tenant):
        client = Client()
        client.force_login(tenant.user)
        return plain(client.get(f"/w/{tenant.workspace.slug}/compare/first")["Location"])

    assert "version=2.12" in same(both, address)


@pytest.mark.parametrize("kind", ["servers", "workloads", "hosts"])
def test_lists_and_pages_of_servers_hosts_and_workloads_are_alike(both, kind):
    listed = same(both, lambda tenant: plain(page(tenant, f"/w/SLUG/{kind}")))
    assert listed

    def own_page(tenant):
        answer = api(tenant, f"/api/v1/{kind}?workspace={tenant.workspace.slug}")
        first = answer[kind][0]
        return days_of(page(tenant, f"/w/SLUG/{kind}/{first['id']}"))

    assert same(both, own_page)[0] == "13"


def test_the_variants_of_a_server_begin_with_the_one_measured_last(both):
    def versions(tenant):
        answer = api(tenant, f"/api/v1/servers?workspace={tenant.workspace.slug}")
        return [each["version"] for each in answer["servers"][0]["variants"]]

    assert same(both, versions) == [f"2.{day}" for day in reversed(DAYS)]


def test_where_few_variants_fit_they_are_the_newest(both, monkeypatch):
    monkeypatch.setattr(catalogue, "MAX_RELATED", 2)

    def versions(tenant):
        workspaces = [tenant.workspace.pk]
        page = catalogue.server_page(workspaces)
        return [[row.version for row in listed.others] for listed in page.rows]

    assert same(both, versions) == [["2.12", "2.11"]] * 2


def test_the_facts_of_a_host_are_those_of_its_latest_run(both):
    def score(tenant):
        host = api(tenant, f"/api/v1/hosts?workspace={tenant.workspace.slug}")["hosts"][0]
        html = page(tenant, f"/w/SLUG/hosts/{host['id']}")
        return re.search(r"Load average[^<]*</dt>\s*<dd[^>]*>\s*([\d.]+)", html)[1]

    assert float(same(both, score)) == 12


def test_the_noise_of_a_host_is_of_its_newest_runs(both, monkeypatch):
    for tenant, days in zip(both, (DAYS, SHUFFLED), strict=True):
        for day in days:
            evening = BEGAN + timedelta(days=day, hours=6)
            record(tenant.workspace, day, version="3", started_at=evening)
    monkeypatch.setattr(noise, "NEWEST_RUNS", 6)
    monkeypatch.setattr(noise, "NEWEST_COMPARISONS", 2)

    def figures(tenant):
        host = Run.objects.filter(workspace=tenant.workspace)[0].server_host
        noise.refresh_hosts([host.pk])
        row = HostNoise.objects.get(host=host)
        return row.latest, row.floor_share, round(row.run_sd, 9), row.run_freedom

    assert same(both, figures)[2] is not None


def test_the_front_page_has_the_runs_measured_last(both):
    assert same(both, lambda tenant: days_of(page(tenant, "/w/SLUG/"))[:3]) == ["13", "12", "11"]


def test_a_search_finds_the_version_measured_last_before_others(both):
    def titles(tenant):
        client = Client()
        client.force_login(tenant.user)
        answer = client.get(f"/w/{tenant.workspace.slug}/search?q=alpha")
        return [row["title"] for row in answer.json()["results"] if row["kind"] == "server"]

    assert same(both, titles)[0] == "alpha 2.12"


def test_the_gate_holds_a_build_against_the_same_history(both):
    def verdict(tenant):
        address = "/api/v1/gate?candidate=version=2.12&baseline=main&require=throughput>-50%25"
        return re.sub(r"ID|HASH", "", plain(repr(api(tenant, address)["baseline"])))

    assert same(both, verdict)


def test_a_run_of_the_future_counts_as_measured_when_it_was_recorded():
    workspace = make_workspace("lab")
    future = record(workspace, 1, started_at=datetime(2099, 1, 1, tzinfo=UTC))
    later = record(workspace, 2, started_at=future.recorded_at + timedelta(microseconds=1))
    assert list(newest_first(Run.objects.filter(workspace=workspace))) == [later, future]
    days = SelfComparison.objects.filter(run=future).values_list("measured_at", flat=True)
    assert set(days) == {future.recorded_at}


@pytest.mark.parametrize("days", [None, 30])
def test_the_newest_runs_are_read_from_an_index(days):
    workspace = make_workspace("large")
    now = datetime(2026, 11, 1, tzinfo=UTC)
    Run.objects.bulk_create(
        (
            Run(
                id=uuid.uuid4(),
                workspace=workspace,
                started_at=now - timedelta(minutes=number) if number % 3 else None,
                recorded_at=now - timedelta(minutes=number % 997),
            )
            for number in range(5000)
        ),
        batch_size=1000,
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE runs_run")
    runs = Run.objects.filter(workspace=workspace)
    if days is not None:
        since = now - timedelta(minutes=days)
        runs = runs.annotate(when=happened_at_of()).filter(when__gte=since)
    index, _ = index_scan("runs_run", lambda: list(newest_first(runs)[:30]))
    assert index == "run_by_happening"
    assert not Server.objects.exists()
