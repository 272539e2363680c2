"""The noise of a host follows its runs: recorded, observed on another host, deleted."""

import hashlib
import math
import uuid
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from backend.formats.model import ParsedTrial
from backend.formats.read_trial import ReadTrial
from backend.ingest.queue.worker import process
from backend.ingest.removing.removal import remove_run
from backend.ingest.reprocessing import merging
from backend.ingest.reprocessing.editing import edit_run, undo_edit
from backend.ingest.reprocessing.merging import merge_names, undo_merged_names
from backend.noise.models import HostNoise, SelfComparison
from backend.noise.reading import latest_comparisons, noise_of_hosts
from backend.noise.record import refresh_noise, refresh_noise_of_runs
from backend.noise.sentences import floor_sentence, run_sentence
from backend.runs.amending.renaming import rename
from backend.runs.measured.measured import TrialRecord
from backend.runs.models import Cell, FormerName, Host, Run
from backend.runs.recording.observations import observe
from backend.runs.recording.record import RunInput, record_early, record_run
from backend.testing.rows import make_workspace
from backend.testing.uploads import WRK, make_envelope, make_tenant, make_trial, make_upload

pytestmark = pytest.mark.django_db
Kind = FormerName.Kind
BENCH = {"name": "bench-1", "cpu_model": "Xeon", "cores": 2}
STARTED = datetime(2026, 11, 12, 9, tzinfo=UTC)


@pytest.fixture
def lab():
    return make_workspace("lab")


def trial_of(rate, *, side=None, start=None, connections=64, **load):
    """One second of a load tool at `rate` requests per second."""
    parsed = ParsedTrial(tool="wrk", elapsed_s=1.0, requests_completed=rate, requests_ok=rate)
    asked = {"tool": "wrk", "loop": "closed", "connections": connections, **load}
    sides = {"side": side, "start": start}
    return {
        "server": {"name": "sync", "version": "1"},
        "workload": {"name": "hello"},
        "load": asked | {name: value for name, value in sides.items() if value is not None},
        "reading": ReadTrial.of(parsed),
    }


def printed(rate, **load):
    """As `trial_of`, with the name of its output: equal for equal rates."""
    trial = trial_of(rate, **load)
    name = hashlib.sha256(str(rate).encode()).hexdigest()
    reading = trial["reading"]
    return {**trial, "reading": replace(reading, parsed=replace(reading.parsed, output_name=name))}


def record(lab, trials, *, host=BENCH, client=BENCH, is_early=False):
    facts = RunInput(
        id=uuid.uuid4(), workspace=lab, server_host=host, client_host=client, started_at=STARTED
    )
    records = [TrialRecord(ordinal=number, **trial) for number, trial in enumerate(trials)]
    (record_early if is_early else record_run)(facts, records)
    refresh_noise(facts.id)
    return Run.objects.get(pk=facts.id)


def self_trials(rate_b, *, first_start=1, **more):
    """Three trials of each side, one server start each."""
    rates = [*([10_000] * 3), *([rate_b] * 3)]
    return [
        trial_of(rate, side="AB"[place // 3], start=first_start + place, **more)
        for place, rate in enumerate(rates)
    ]


def noise_of(name="bench-1"):
    host = Host.objects.get(name=name)
    return noise_of_hosts([host.workspace_id], [host.pk]).get(host.pk)


def test_a_comparison_is_the_difference_of_mean_logs(lab):
    run = record(lab, self_trials(11_000))
    (row,) = SelfComparison.objects.filter(run=run)
    assert row.difference == pytest.approx(math.log(1.1))
    assert (row.trials_a, row.trials_b, row.measured_at) == (3, 3, STARTED)


def test_the_floor_is_known_from_three_comparisons_on(lab):
    for rate in (10_100, 9_900):
        record(lab, self_trials(rate))
    noise = noise_of()
    assert (noise.comparisons, noise.floor_share) == (2, None)
    assert floor_sentence(noise) == "Noise floor unknown: 2 of 3 A/A comparisons recorded."
    record(lab, self_trials(10_000))
    noise = noise_of()
    squares = math.log(1.01) ** 2 + math.log(0.99) ** 2
    assert noise.floor_share == pytest.approx(math.expm1(3.182446 * math.sqrt(squares / 3)))
    assert floor_sentence(noise) == (
        "This host cannot show differences under 2.6 % (from 3 A/A comparisons, latest 12 Nov "
        "2026)."
    )


def test_loads_are_independent_only_where_each_has_its_own_server_starts(lab):
    same_starts = [trial for load in (1, 8, 64) for trial in self_trials(10_100, connections=load)]
    record(lab, same_starts)
    assert noise_of().comparisons == 1
    own_starts = [
        trial
        for load in (1, 8, 64)
        for trial in self_trials(10_100, connections=load, first_start=load * 10)
    ]
    record(lab, own_starts)
    assert noise_of().comparisons == 4


def test_servers_that_were_not_started_by_the_plan_share_their_only_start(lab):
    trials = [trial for load in (1, 8) for trial in self_trials(10_100, connections=load)]
    for trial in trials:
        del trial["load"]["start"]
    record(lab, trials)
    assert noise_of().comparisons == 1


@pytest.mark.parametrize(
    "change",
    [{"loop": "open", "rate_rps": 10_000.0}, {"side": "A"}],
    ids=["an offered rate", "one side only"],
)
def test_what_does_not_compare_sides_is_not_counted(lab, change):
    trials = self_trials(10_100)
    for trial in trials:
        trial["load"] |= change
    record(lab, trials)
    assert noise_of().comparisons == 0


def test_two_trials_of_a_side_are_too_few(lab):
    record(lab, self_trials(10_100)[1:])
    assert noise_of().comparisons == 0


def test_runs_of_one_series_tell_how_much_runs_differ(lab):
    record(lab, [trial_of(rate) for rate in (9_990, 10_000, 10_010)])
    assert noise_of().run_sd is None
    assert run_sentence(noise_of()).startswith("Run-to-run variation unknown")
    record(lab, [trial_of(rate) for rate in (10_490, 10_500, 10_510)])
    noise = noise_of()
    # Two means 4.9 % apart: their standard deviation is that over the root of 2.
    assert noise.run_sd == pytest.approx(math.log(1.05) / math.sqrt(2), rel=1e-3)
    assert noise.run_freedom == 1
    assert "3.5 % from run to run" in run_sentence(noise)


@pytest.mark.parametrize("kind", Kind)
def test_merging_and_undoing_it_count_the_runs_of_both_names_anew(lab, kind):
    """Without A/A comparisons too."""
    for name, rate in (("a", 10_000), ("b", 10_500)):
        host = {**BENCH, "name": name} if kind == Kind.HOST else BENCH
        trials = [trial_of(rate + more) for more in (-10, 0, 10)]
        for trial in trials if kind != Kind.HOST else ():
            trial[kind] = {**trial[kind], "name": name}
        record(lab, trials, host=host, client=host)
    shown = "b" if kind == Kind.HOST else "bench-1"
    assert noise_of(shown).run_sd is None
    merged = merge_names(lab, kind, "a", "b", None)
    assert noise_of(shown).run_sd == pytest.approx(math.log(1.05) / math.sqrt(2), rel=1e-3)
    if kind == Kind.SERVER:
        rename(lab, kind, "b", "c", None)
    undo_merged_names(merged, by=None)
    assert noise_of(shown).run_sd is None


@pytest.mark.parametrize("kind", [Kind.SERVER, Kind.WORKLOAD])
def test_merging_and_undoing_it_look_at_no_runs_of_other_names(lab, kind, monkeypatch):
    for name in ("a", "b", "c"):
        trials = self_trials(10_100)
        for trial in trials:
            trial[kind] = {**trial[kind], "name": name}
        record(lab, trials)
    own = set(Run.objects.filter(cells__in=Cell.objects.filter(**{f"series__{kind}__name": "a"})))
    looked_at = []

    def watched(run_ids):
        looked_at.append(set(run_ids))
        refresh_noise_of_runs(run_ids)

    monkeypatch.setattr(merging, "refresh_noise_of_runs", watched)
    merged = merge_names(lab, kind, "a", "b", None)
    assert noise_of().comparisons == 3
    undo_merged_names(merged, by=None)
    assert noise_of().comparisons == 3
    assert looked_at == [{run.pk for run in own}] * 2


def test_a_copy_is_no_further_run(lab):
    """The same outputs again would say that runs do not differ, or by the noise of trials."""
    trials = [printed(rate) for rate in range(9_990, 10_011)]
    record(lab, trials)
    again = record(lab, trials)
    assert noise_of().run_sd is None
    record(lab, [printed(rate) for rate in range(10_490, 10_511)])
    assert noise_of().run_freedom == 1
    assert noise_of().run_sd == pytest.approx(math.log(1.05) / math.sqrt(2), rel=1e-3)
    remove_run(again)
    assert noise_of().run_freedom == 1


def test_a_copy_is_no_other_side_of_a_comparison(lab):
    record(lab, [printed(10_000 + place // 2, side="AB"[place % 2]) for place in range(6)])
    assert noise_of().comparisons == 0


def test_other_servers_and_loads_are_not_compared(lab):
    record(lab, [trial_of(10_000)] * 3)
    record(lab, [trial_of(20_000, connections=8)] * 3)
    record(lab, [{**trial_of(5_000), "server": {"name": "sync", "version": "2"}}] * 3)
    assert noise_of().run_sd is None


def test_failing_trials_do_not_count(lab):
    record(lab, [trial_of(10_000)] * 3)
    failing = trial_of(30_000)
    failing["reading"] = ReadTrial(
        parsed=ParsedTrial(tool="wrk", elapsed_s=1.0, requests_completed=30_000, requests_ok=10_000)
    )
    record(lab, [failing] * 3)
    assert noise_of().run_sd is None


def test_a_run_that_goes_on_is_counted_when_it_is_whole(lab):
    record(lab, self_trials(10_100), is_early=True)
    assert not HostNoise.objects.exists()


def test_a_deleted_run_is_no_longer_counted(lab):
    runs = [record(lab, self_trials(rate)) for rate in (10_100, 9_900, 10_000)]
    remove_run(runs[0])
    noise = noise_of()
    assert (noise.comparisons, noise.floor_share) == (2, None)
    for run in runs[1:]:
        remove_run(run)
    assert not HostNoise.objects.exists()
    assert not Host.objects.exists()


def test_an_observed_host_takes_the_comparison_over(lab):
    run = record(lab, self_trials(10_100), host=None)
    assert noise_of().comparisons == 1
    observed = {"name": "server-1"}
    observe(lab, id_=uuid.uuid4(), run_id=run.pk, host=observed, uncertainty_s=0.1, samples=[])
    refresh_noise(run.pk)
    assert noise_of().comparisons == 0
    assert noise_of("server-1").comparisons == 1


def test_a_corrected_host_takes_the_comparison_over(lab):
    run = Run.objects.get(pk=record(lab, self_trials(10_100)).pk)
    (made,) = edit_run(run, {"server_host": "bench-9"}, author=None)
    assert (noise_of().comparisons, noise_of("bench-9").comparisons) == (0, 1)
    undo_edit(Run.objects.get(pk=run.pk), made.pk, by=None)
    assert (noise_of().comparisons, noise_of("bench-9").comparisons) == (1, 0)


def test_of_two_corrections_at_once_the_host_between_is_estimated_again(lab):
    record(lab, self_trials(10_100))
    first, second = Run.objects.get(), Run.objects.get()
    edit_run(first, {"server_host": "bench-9"}, author=None)
    edit_run(second, {"server_host": "bench-10"}, author=None)
    assert (noise_of("bench-9").comparisons, noise_of("bench-10").comparisons) == (0, 1)


def test_a_reader_gets_the_noise_of_their_own_workspaces(lab):
    record(lab, self_trials(10_100))
    host = Host.objects.get()
    other = make_workspace("other")
    assert noise_of_hosts([other.pk], [host.pk]) == {}
    assert list(noise_of_hosts([lab.pk, other.pk], [host.pk])) == [host.pk]


def test_noise_is_one_statement(lab, django_assert_num_queries):
    record(lab, self_trials(10_100))
    hosts = list(Host.objects.values_list("pk", flat=True))
    with django_assert_num_queries(1):
        noise_of_hosts([lab.pk], hosts)
    with django_assert_num_queries(1):
        assert [str(row.series.server) for row in latest_comparisons(hosts[0])] == ["sync 1"]


def test_an_upload_brings_sides_and_is_counted():
    tenant = make_tenant()
    trials = [
        make_trial(place, load={**make_trial(0)["load"], "side": "AB"[place % 2], "start": place})
        for place in range(6)
    ]
    # Equal outputs would be copies.
    outputs = [WRK.replace("2.10MB read", f"2.1{place}MB read") for place in range(6)]
    upload = make_upload(tenant, *outputs, envelope=make_envelope(trials=6) | {"trials": trials})
    process(upload.pk)
    (row,) = SelfComparison.objects.all()
    assert (row.difference, row.trials_a, row.trials_b) == (0, 3, 3)
    assert noise_of("here").comparisons == 1
