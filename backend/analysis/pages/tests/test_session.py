"""Trials of several agents put together, by hand."""

import uuid
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from backend.analysis.loading.viewer_slots import MEMBERS
from backend.analysis.pages import joint_trials, session
from backend.analysis.pages.session import describe_session
from backend.formats.model import ParsedTrial, TimeSlice
from backend.formats.read_trial import ReadTrial, unpack_slices
from backend.runs.measured.measured import TrialRecord
from backend.runs.models import Run, Trial, TrialTimeline
from backend.runs.recording.record import RunInput, record_run
from backend.stats import Histogram
from backend.testing.uploads import make_tenant

pytestmark = pytest.mark.django_db
BEGAN = datetime(2026, 1, 31, 12, tzinfo=UTC)


@pytest.fixture
def lab():
    return make_tenant("lab")


def seconds(*counts):
    return tuple(
        TimeSlice(start_s=float(second), length_s=1.0, completed=count, failed=0)
        for second, count in enumerate(counts)
    )


def latencies(low, high):
    return Histogram.from_samples(np.arange(low, high)).encode()


def result(*, completed=1000, failed=0, elapsed_s=10.0, timeline=()):
    return ParsedTrial(
        tool="wrk",
        elapsed_s=elapsed_s,
        requests_completed=completed,
        requests_ok=completed - failed,
        errors={"status": failed},
        timeline=timeline,
    )


def agent(lab, *, late_s=0.0, clock_s=0.0, histogram=None, parsed=None, **more):
    """The run of one agent: a trial that begins `late_s` after BEGAN by the service's clock."""
    trial = {
        "ordinal": 0,
        "server": {"name": "nginx", "version": "1"},
        "workload": {"name": "hello"},
        "load": {"tool": "wrk", "loop": "closed", "connections": 50},
        "reading": replace(ReadTrial.of(parsed or result()), histogram=histogram),
        "repeat": 1,
        "started_at": BEGAN + timedelta(seconds=late_s - clock_s),
        **more,
    }
    number = Trial.objects.count()
    facts = RunInput(
        id=uuid.uuid4(),
        workspace=lab.workspace,
        started_at=BEGAN,
        plan="[load]",
        session={"name": "big", "parts": 2},
        client_host={"name": f"client-{number}", "facts": {"clock": {"offset_s": clock_s}}},
    )
    return record_run(facts, [TrialRecord(**trial)])[0]


def together(lab):
    (found,) = describe_session(lab.workspace.pk, "big").trials
    return found


def test_rates_are_summed_over_the_time_in_which_all_attacked(lab):
    # 100/s and 200/s, the second 2 s later: both from 2 s to 10 s.
    agent(lab, parsed=result(completed=1000))
    agent(lab, late_s=2.0, parsed=result(completed=2000))
    found = together(lab)
    assert found.is_complete
    assert found.overlap_s == pytest.approx(8.0)
    assert found.throughput_rps == pytest.approx(300.0)
    assert found.connections == 100
    assert [share.skew_ms for share in found.shares] == pytest.approx([0.0, 2000.0])
    assert found.is_even


def test_clocks_that_are_off_are_put_right(lab):
    agent(lab, clock_s=500.0, parsed=result(completed=1000))
    agent(lab, clock_s=-3.25, late_s=0.5, parsed=result(completed=1000))
    found = together(lab)
    assert [share.skew_ms for share in found.shares] == pytest.approx([0.0, 500.0])
    assert found.overlap_s == pytest.approx(9.5)


def test_with_a_time_series_the_seconds_of_the_overlap_count(lab):
    # 4 s each, the second 1.5 s late: together from 1.5 s to 4 s.
    agent(lab, parsed=result(elapsed_s=4.0, completed=1000, timeline=seconds(100, 200, 300, 400)))
    agent(
        lab,
        late_s=1.5,
        parsed=result(elapsed_s=4.0, completed=400, timeline=seconds(100, 100, 100, 100)),
    )
    found = together(lab)
    # 100 (half of the second second) + 300 + 400, and 2.5 s of 100/s.
    assert found.throughput_rps == pytest.approx((100 + 300 + 400 + 250) / 2.5)
    assert not found.is_even


def test_distributions_are_merged_and_errors_are_of_all(lab):
    one, two = latencies(1000, 2000), latencies(5000, 6000)
    agent(lab, histogram=one, parsed=result(failed=10))
    agent(lab, histogram=two, parsed=result(failed=0))
    found = together(lab)
    merged = Histogram.merge_all([Histogram.decode(one), Histogram.decode(two)])
    assert (found.p50_us, found.p99_us) == (merged.percentile(50), merged.percentile(99))
    assert found.error_rate == pytest.approx(10 / 2000)


def test_what_one_does_not_tell_is_unknown_of_all(lab):
    agent(lab, histogram=latencies(1000, 2000))
    agent(lab)
    found = together(lab)
    assert (found.p50_us, found.p99_us) == (None, None)
    assert found.throughput_rps is not None


def test_a_trial_that_not_all_measured_has_no_figures(lab):
    agent(lab)
    view = describe_session(lab.workspace.pk, "big")
    assert (len(view.runs), view.parts) == (1, 2)
    found = together(lab)
    assert (found.missing, found.throughput_rps, found.error_rate) == (1, None, None)


def test_trials_that_never_met_have_no_rate(lab):
    agent(lab)
    agent(lab, late_s=60.0)
    found = together(lab)
    assert (found.overlap_s, found.throughput_rps) == (0.0, None)


def test_each_part_carries_the_check_and_the_page_puts_them_together(lab):
    trials = [agent(lab), agent(lab, parsed=result(completed=2000))]
    assert all("session-part" in [one["id"] for one in trial.checks] for trial in trials)
    client = Client()
    client.force_login(lab.user)
    page = client.get("/w/lab/sessions/big").content.decode()
    for part in ("2 of 2", "complete", "300", "client-0", "client-1", "evenly"):
        assert part in page, part
    run = client.get(f"/r/{trials[0].run_id}").content.decode()
    assert 'href="/w/lab/sessions/big"' in run
    assert "One of 2 agents" in run
    assert client.get("/w/lab/sessions/none").status_code == 404
    other = Client()
    other.force_login(make_tenant("other").user)
    assert other.get("/w/lab/sessions/big").status_code == 404


def test_a_session_of_another_workspace_is_none(lab):
    agent(make_tenant("other"))
    assert describe_session(lab.workspace.pk, "big") is None


def test_only_the_first_runs_and_trials_of_a_session_are_shown(lab, monkeypatch):
    for late_s in (0.0, 1.0, 2.0):
        agent(lab, late_s=late_s)
    monkeypatch.setattr(session, "MOST_RUNS", 2)
    view = describe_session(lab.workspace.pk, "big")
    assert (len(view.runs), view.left_out) == (2, ("Only the first 2 runs are shown.",))
    agent(lab, ordinal=1)
    monkeypatch.setattr(session, "MOST_RUNS", 4)
    monkeypatch.setattr(session, "MOST_TRIALS", 4)
    view = describe_session(lab.workspace.pk, "big")
    assert (len(view.trials), view.left_out) == (1, ("Only the first 1 trials are shown.",))
    client = Client()
    client.force_login(lab.user)
    assert view.left_out[0] in client.get("/w/lab/sessions/big").content.decode()


def test_trials_are_read_few_at_a_time(lab, monkeypatch):
    for ordinal in range(3):
        agent(lab, ordinal=ordinal)
    whole = describe_session(lab.workspace.pk, "big")
    monkeypatch.setattr(session, "TRIALS_AT_ONCE", 1)
    assert describe_session(lab.workspace.pk, "big") == whole
    assert [trial.ordinal for trial in whole.trials] == [0, 1, 2]


@pytest.fixture
def unpacked(monkeypatch):
    """The bytes of each time series that was unpacked."""
    sizes = []

    def unpack(packed):
        text = unpack_slices(packed)
        sizes.append(len(text))
        return text

    monkeypatch.setattr(joint_trials, "unpack_slices", unpack)
    return sizes


def measure_twice_together(lab):
    """Two trials of two agents, with time series and histograms."""
    series = result(elapsed_s=4.0, completed=1000, timeline=seconds(100, 200, 300, 400))
    for ordinal in range(2):
        for _ in range(2):
            agent(lab, ordinal=ordinal, parsed=series, histogram=latencies(1000, 2000))


TOO_LARGE = "the time series and histograms of all agents are too large for one page."


def test_each_time_series_is_unpacked_once(lab, unpacked):
    measure_twice_together(lab)
    trials = describe_session(lab.workspace.pk, "big").trials
    assert [(trial.is_complete, trial.is_even) for trial in trials] == [(True, False)] * 2
    assert len(unpacked) == 4


def test_no_more_is_unpacked_than_is_allowed(lab, unpacked, monkeypatch):
    """Packed a series may be a thousandth of what it unpacks to."""
    measure_twice_together(lab)
    whole = describe_session(lab.workspace.pk, "big")
    of_one = sum(unpacked) // 2 + 2 * joint_trials.HISTOGRAM_BYTES
    for most_bytes, count, sentence in (
        (2 * of_one, 2, None),
        # The last histogram is one too much.
        (2 * of_one - 1, 1, f"Only the first 1 trials are shown: {TOO_LARGE}"),
        (of_one, 1, f"Only the first 1 trials are shown: {TOO_LARGE}"),
        (of_one - 1, 0, f"No trial is shown: {TOO_LARGE}"),
    ):
        unpacked.clear()
        monkeypatch.setattr(session, "MOST_UNPACKED_BYTES", most_bytes)
        view = describe_session(lab.workspace.pk, "big")
        assert view.trials == whole.trials[:count]
        assert view.left_out == ((sentence,) if sentence else ())
        # One series may be beyond it: how long it is, is known when it is unpacked.
        assert sum(unpacked[:-1]) <= most_bytes


def test_no_more_packed_bytes_are_read_than_are_allowed(lab, unpacked, monkeypatch):
    measure_twice_together(lab)
    whole = describe_session(lab.workspace.pk, "big")
    timelines = TrialTimeline.objects.values_list("packed", "trial__histogram")
    packed_bytes = sum(len(packed) + len(histogram) for packed, histogram in timelines)
    unpacked.clear()
    monkeypatch.setattr(session, "MOST_PACKED_BYTES", packed_bytes - 1)
    with CaptureQueriesContext(connection) as queries:
        view = describe_session(lab.workspace.pk, "big")
    assert view.trials == whole.trials[:1]
    assert view.left_out == (f"Only the first 1 trials are shown: {TOO_LARGE}",)
    assert len(unpacked) == 2
    (rows,) = [each["sql"] for each in queries if '"packed"' in each["sql"]]
    assert '"ordinal" IN (0)' in rows
    client = Client()
    client.force_login(lab.user)
    assert TOO_LARGE in client.get("/w/lab/sessions/big").content.decode()
    monkeypatch.setattr(session, "MOST_PACKED_BYTES", 0)
    html = client.get("/w/lab/sessions/big").content.decode()
    assert "No trial is shown" in html
    assert "No trials yet" not in html


def test_few_bytes_are_fetched_at_once(lab, monkeypatch):
    measure_twice_together(lab)
    whole = describe_session(lab.workspace.pk, "big")
    monkeypatch.setattr(session, "BYTES_AT_ONCE", 1)
    with CaptureQueriesContext(connection) as queries:
        assert describe_session(lab.workspace.pk, "big").trials == whole.trials
    assert len([each for each in queries if '"packed"' in each["sql"]]) == 2


def test_the_lowest_numbers_of_all_runs_come_first(lab):
    for ordinal in (0, 3, 1, 2):
        agent(lab, ordinal=ordinal)
    runs = list(Run.objects.all())
    numbers = session._lowest_numbers(runs, 2)
    assert [(number.ordinal, number.trials) for number in numbers] == [(0, 1), (1, 1)]


@pytest.mark.parametrize("clock", [{"offset_s": "x" * 1000}, {"offset_s": [2]}, {"offset_s": True}])
def test_a_clock_that_is_no_number_is_unknown(lab, clock):
    run_id = agent(lab).run_id
    Run.objects.filter(pk=run_id).update(facts={"client": {"clock": clock}})
    assert describe_session(lab.workspace.pk, "big").without_clock == ("client-0",)


def test_no_run_of_a_session_is_read_without_a_slot(lab, monkeypatch):
    agent(lab)
    client = Client()
    client.force_login(lab.user)
    monkeypatch.setattr(MEMBERS, "of_owner", 0)
    for name in ("big", "none"):
        with CaptureQueriesContext(connection) as queries:
            assert client.get(f"/w/lab/sessions/{name}").status_code == 429
        assert not [query for query in queries if "runs_run" in query["sql"]]
