"""From the upload to the rules: no run is missed, and a fault of one stops no other."""

from datetime import timedelta

import pytest
from django.utils import timezone

from backend.accounts.models import Membership
from backend.alerts import evaluation, pending
from backend.alerts.evaluation import Judgement
from backend.alerts.lifecycle import Sighting
from backend.alerts.models import Alert, AlertRule, PendingRun
from backend.alerts.noting import note_runs
from backend.alerts.pending import judge_next
from backend.alerts.rules import add_rule
from backend.deliveries.channels import add_channel
from backend.deliveries.models import Delivery
from backend.ingest.queue.worker import drain, process
from backend.sharing.models import SavedView
from backend.testing.rows import CellSpec, make_run
from backend.testing.uploads import make_tenant, make_upload
from backend.testing.worked_off import judge_due

pytestmark = pytest.mark.django_db


@pytest.fixture
def tenant():
    return make_tenant("lab")


def watch_judging(monkeypatch, of):
    """Rules that notice nothing; what `of` makes of each call, in a list."""
    calls = []

    def judge(rules, run):
        calls.append(of(rules, run))
        return Judgement(run, rules)

    monkeypatch.setattr(pending, "judge_alike", judge)
    return calls


def test_a_run_that_was_read_waits_for_the_rules_and_is_announced(tenant, settings):
    settings.WEBHOOKS = "any"
    add_channel(
        tenant.workspace,
        author=None,
        kind="webhook",
        name="ci",
        address="http://127.0.0.1:1/",
        topics=["runs"],
    )
    upload = make_upload(tenant)
    process(upload.pk)
    assert PendingRun.objects.get().run_id == upload.pk
    assert judge_due() == 1
    assert (PendingRun.objects.count(), judge_due()) == (0, 0)
    assert Delivery.objects.get().event == "run.read"


def test_runs_that_were_read_together_wait_as_well(tenant):
    add_rule(tenant.workspace, author=None, kind="noisy_host", name="noise")
    uploads = [make_upload(tenant) for _ in range(3)]
    drain()
    assert {row.pk for row in PendingRun.objects.all()} == {upload.pk for upload in uploads}


def test_where_nothing_watches_nothing_waits(tenant):
    process(make_upload(tenant).pk)
    assert not PendingRun.objects.exists()


def test_a_fault_is_tried_three_times_and_stops_no_other(tenant, monkeypatch):
    add_rule(tenant.workspace, author=None, kind="noisy_host", name="noise")
    bad, good = (make_run(tenant.workspace, CellSpec()) for _ in range(2))
    for run in (bad, good):
        note_runs(run.workspace_id, [run.pk])
    judged = []

    def judge(rules, run):
        judged.append(run)
        if run == bad:
            raise RuntimeError("unforeseen")
        return Judgement(run, rules)

    monkeypatch.setattr(pending, "judge_alike", judge)
    for _ in range(5):
        judge_due()
        PendingRun.objects.update(due_at=timezone.now() - timedelta(seconds=1))
    assert (judged.count(bad), judged.count(good)) == (3, 1)
    assert not PendingRun.objects.exists()
    assert f"{bad.pk} was not judged" in AlertRule.objects.get().problem


def test_many_runs_of_a_workspace_hold_up_no_other(tenant, monkeypatch):
    flood, quiet = tenant.workspace, make_tenant("quiet").workspace
    for workspace in (flood, quiet):
        add_rule(workspace, author=None, kind="noisy_host", name="noise")
    for _ in range(30):
        note_runs(flood.pk, [make_run(flood, CellSpec()).pk])
    note_runs(quiet.pk, [make_run(quiet, CellSpec()).pk])
    judged = watch_judging(monkeypatch, lambda rules, run: run.workspace)
    # By lots of two, one of 20 is the other workspace's but for once in a million times.
    for _ in range(20):
        judge_next()
    assert quiet in judged


def wait_for_rules(workspace, count=1):
    """Runs of a workspace with a rule, which wait to be judged."""
    AlertRule.objects.get_or_create(
        workspace=workspace, kind="noisy_host", name="noise", threshold=0.05
    )
    runs = [make_run(workspace, CellSpec()) for _ in range(count)]
    note_runs(workspace.pk, [run.pk for run in runs])
    return runs


def worker_dies():
    """The lease of what was claimed ends, and nothing else was written since the claim."""
    PendingRun.objects.exclude(lease_until=None).update(lease_until=timezone.now())


def test_a_run_that_ends_the_worker_is_given_up(tenant, caplog):
    (run,) = wait_for_rules(tenant.workspace)
    for _ in range(pending.MOST_ATTEMPTS):
        assert pending._claim().pk == run.pk
        worker_dies()
    judge_due()
    assert not PendingRun.objects.exists()
    assert "run_given_up" in caplog.text
    assert f"{run.pk} was not judged" in AlertRule.objects.get().problem


def test_who_ends_the_worker_has_had_the_turn(tenant):
    other = make_tenant("quiet").workspace
    for workspace in (tenant.workspace, other):
        wait_for_rules(workspace)
    first = pending._claim().workspace_id
    worker_dies()
    assert {first, pending._claim().workspace_id} == {tenant.workspace.pk, other.pk}


def test_one_run_of_a_person_is_judged_at_a_time_in_whatever_workspaces(tenant):
    second, other = make_tenant("second").workspace, make_tenant("other").workspace
    Membership.objects.filter(workspace=second).update(user=tenant.user)
    for workspace in (tenant.workspace, second):
        wait_for_rules(workspace, count=2)
    assert pending._claim() is not None
    assert pending._claim() is None
    wait_for_rules(other)
    assert pending._claim().workspace_id == other.pk


def test_a_run_that_is_read_anew_while_it_is_judged_is_judged_again(tenant):
    (run,) = wait_for_rules(tenant.workspace)
    claimed = pending._claim()
    note_runs(tenant.workspace.pk, [run.pk])
    pending._work_on(claimed)
    assert PendingRun.objects.get().lease_until is None


def judge_as(monkeypatch, *, before=lambda rules: None, is_bad=True):
    """Each rule sees its own name as a subject; `before` is called ahead of each view."""

    def judge(rules, run):
        before(rules)
        sightings = [[Sighting(rule.name, is_bad, text=rule.name)] for rule in rules]
        return Judgement(run, rules, sightings)

    monkeypatch.setattr(pending, "judge_alike", judge)


@pytest.mark.parametrize("attempts", [0, 1])
def test_a_worker_that_comes_back_writes_nothing_over_what_a_newer_one_judged(
    tenant, monkeypatch, attempts
):
    """Whatever the attempts are, which begin again after each view."""
    make_views(tenant.workspace, 2)
    wait_for_rules(tenant.workspace)
    old = pending._claim()
    worker_dies()
    newer = pending._claim()
    PendingRun.objects.update(attempts=attempts)
    judge_as(monkeypatch)
    pending._work_on(old)
    assert not Alert.objects.exists()
    held = PendingRun.objects.get()
    assert (held.judged, held.fence, held.lease_until is None) == (None, newer.fence, False)
    pending._work_on(newer)
    assert Alert.objects.count() == 5
    assert not PendingRun.objects.exists()


def test_a_worker_that_is_overtaken_within_a_view_stores_nothing_of_it(tenant, monkeypatch):
    make_views(tenant.workspace, 2)
    wait_for_rules(tenant.workspace)
    claims = []

    def overtake(rules):
        if len(claims) == 1:
            worker_dies()
            claims.append(pending._claim())

    judge_as(monkeypatch, before=overtake)
    claims.append(pending._claim())
    pending._work_on(claims[0])
    assert not Alert.objects.exists()
    assert PendingRun.objects.get().fence == claims[1].fence


def test_what_a_worker_judged_before_it_died_is_not_judged_again(tenant, monkeypatch):
    make_views(tenant.workspace, 3)
    run = make_run(tenant.workspace, CellSpec())
    note_runs(run.workspace_id, [run.pk])
    judged = []

    class Killed(BaseException):
        """What no handler of the worker sees."""

    def die_at_the_second(rules):
        judged.append(rules[0].view.name)
        if len(judged) == 2:
            raise Killed

    judge_as(monkeypatch, before=die_at_the_second)
    with pytest.raises(Killed):
        judge_next()
    held = PendingRun.objects.get()
    assert (len(held.judged), held.attempts) == (2, 0)
    worker_dies()
    assert judge_due() == 1
    assert judged == ["0", "1", "1", "2"]
    assert Alert.objects.count() == 6


def test_a_judgement_of_many_turns_of_which_each_ends_the_worker_is_done(tenant, monkeypatch):
    views = 2 * pending.MOST_ATTEMPTS
    make_views(tenant.workspace, views)
    run = make_run(tenant.workspace, CellSpec())
    note_runs(run.workspace_id, [run.pk])
    judge_as(monkeypatch)
    for number in range(views):
        claimed = pending._claim()
        assert claimed.fence == number + 1
        rules = evaluation.rules_by_view(run, without=claimed.judged or ())[0]
        done = [*(claimed.judged or ()), *(rule.pk for rule in rules)]
        assert pending._store(claimed, pending.judge_alike(rules, run), done)
        worker_dies()
    judge_due()
    assert Alert.objects.count() == 2 * views
    assert not AlertRule.objects.exclude(problem="").exists()


def test_the_lease_is_renewed_after_each_view(tenant, monkeypatch):
    make_views(tenant.workspace, 2)
    run = make_run(tenant.workspace, CellSpec())
    note_runs(run.workspace_id, [run.pk])
    leases = []

    def age(rules):
        leases.append(PendingRun.objects.get().lease_until)
        PendingRun.objects.update(lease_until=timezone.now())

    judge_as(monkeypatch, before=age)
    assert judge_next()
    assert leases[1] > leases[0]


def test_a_run_is_announced_once_whoever_comes_back(tenant, monkeypatch, settings):
    settings.WEBHOOKS = "any"
    address = "http://127.0.0.1:1/"
    add_channel(
        tenant.workspace, author=None, kind="webhook", name="ci", address=address, topics=["runs"]
    )
    (run,) = wait_for_rules(tenant.workspace)
    old = pending._claim()
    worker_dies()
    newer = pending._claim()
    for claimed in (old, newer, newer):
        pending._announce(claimed, run)
    assert Delivery.objects.count() == 1


def make_views(workspace, count):
    """Regression rules over so many views, two over each."""
    for number in range(count):
        view = SavedView.objects.create(
            workspace=workspace, name=str(number), query=f"server={number}"
        )
        for kind, name in (("regression", "slower"), ("error_rate", "failing")):
            add_rule(workspace, author=None, kind=kind, name=f"{number} {name}", view=view.pk)


def test_the_views_that_are_left_after_some_seconds_are_judged_later(tenant, monkeypatch):
    make_views(tenant.workspace, 3)
    run = make_run(tenant.workspace, CellSpec())
    note_runs(run.workspace_id, [run.pk])
    monkeypatch.setattr(pending, "BUDGET_S", -1.0)
    judged = watch_judging(monkeypatch, lambda rules, _: [rule.name for rule in rules])
    judge_next()
    assert (len(judged), PendingRun.objects.get().attempts) == (1, 0)
    assert judge_due() == 2
    assert sorted(judged) == [[f"{number} failing", f"{number} slower"] for number in range(3)]


def test_a_fault_of_one_view_stops_no_other(tenant, monkeypatch):
    make_views(tenant.workspace, 2)
    run = make_run(tenant.workspace, CellSpec())
    note_runs(run.workspace_id, [run.pk])
    judged = []

    def judge(rules, run):
        judged.append(rules[0].view.name)
        if rules[0].view.name == "0":
            raise RuntimeError("unforeseen")
        return Judgement(run, rules)

    monkeypatch.setattr(pending, "judge_alike", judge)
    for _ in range(5):
        judge_due()
        PendingRun.objects.update(due_at=timezone.now())
    assert judged == ["0", "1", "0", "0"]
    problems = dict(AlertRule.objects.values_list("name", "problem"))
    assert ["not judged" in problems[name] for name in sorted(problems)] == [True] * 2 + [False] * 2


def watch_all(workspace, kinds=("regression", "error_rate")):
    view = SavedView.objects.create(workspace=workspace, name="all", query="")
    for kind in kinds:
        add_rule(workspace, author=None, kind=kind, name=kind, view=view.pk)


def test_the_runs_of_a_view_are_loaded_once_for_all_its_rules(tenant, monkeypatch):
    watch_all(tenant.workspace)
    add_rule(
        tenant.workspace,
        author=None,
        kind="error_rate",
        name="stricter",
        view=SavedView.objects.get().pk,
        threshold=0.0,
    )
    run = make_run(tenant.workspace, CellSpec())
    note_runs(run.workspace_id, [run.pk])
    loads, load = [], evaluation._load

    def count_loads(*args, **options):
        loads.append(args)
        return load(*args, **options)

    monkeypatch.setattr(evaluation, "_load", count_loads)
    judge_due()
    assert len(loads) == 1


def test_series_that_take_too_long_are_named_and_the_first_are_judged(tenant, monkeypatch):
    watch_all(tenant.workspace, kinds=["error_rate"])
    specs = [CellSpec(server=name, rates=[1000.0]) for name in ("a", "b", "c")]
    run = make_run(tenant.workspace, *specs)
    note_runs(run.workspace_id, [run.pk])
    monkeypatch.setattr(evaluation, "VIEW_S", -1.0)
    judge_due()
    assert "the first 1 of 3 series of the newest run" in AlertRule.objects.get().problem


def test_the_earlier_runs_of_a_series_are_no_whole_rows(tenant, monkeypatch):
    watch_all(tenant.workspace, kinds=["regression"])
    for _ in range(2):
        run = make_run(tenant.workspace, CellSpec(rates=[1000.0]))
    note_runs(run.workspace_id, [run.pk])
    earlier = []
    find = evaluation.find_baseline

    def find_baseline(series, query):
        earlier.extend(series.earlier)
        return find(series, query)

    monkeypatch.setattr(evaluation, "find_baseline", find_baseline)
    judge_due()
    (before,) = earlier
    assert {"plan", "server_tails", "events", "facts"} & set(before.__dict__) == set()


def test_a_rule_that_is_deleted_while_it_judges_raises_nothing(tenant):
    (run,) = wait_for_rules(tenant.workspace)
    rules = evaluation.rules_by_view(run)[0]
    AlertRule.objects.all().delete()
    evaluation.judge_alike(rules, run).store()
    assert not Alert.objects.exists()
