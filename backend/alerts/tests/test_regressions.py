"""Regressions: judged against the branch, confirmed by a second run, ended by two good ones."""

from datetime import UTC, datetime, timedelta

import pytest

from backend.alerts.lifecycle import AlertEnded, BadState, answer_alert
from backend.alerts.models import Alert, AlertRule
from backend.alerts.wording import describe_alert, range_text
from backend.deliveries.models import Delivery
from backend.sharing.models import SavedView
from backend.testing.rows import STARTED


def events():
    rows = Delivery.objects.order_by("created_at", "pk").values_list("event", flat=True)
    return [event for event in rows if event != "run.read"]


def test_a_regression_is_told_when_a_second_run_shows_it(rule, history, channel):
    good = history.good(4)
    first = history.run(800)
    assert (history.states, events()) == (["unconfirmed"], [])
    last = history.run(805)
    assert (history.states, events()) == (["new"], ["alert.new"])
    alert = Alert.objects.get()
    assert (alert.before_run, alert.first_run, alert.last_run) == (good[-1], first, last)
    assert range_text(alert) == "After commit c0000004, up to c0000005."
    record = describe_alert(alert)
    assert record["commits"] == {"good": "c0000004", "bad": "c0000005"}
    assert record["figures"]["ratio"] == pytest.approx(0.805, abs=0.01)
    assert record["figures"]["high"] < 0.97
    assert "sync 1.6: throughput 0.8" in alert.text
    assert "x=date" in record["chart_url"]
    assert Delivery.objects.get(event="alert.new").data["id"] == str(alert.pk)


def test_a_run_without_the_figure_is_not_the_last_good_one(rule, history):
    """Nine of ten of its requests failed, so its throughput may not be compared."""
    history.good(4)
    history.run(1000, error_rate=0.9)
    history.run(800)
    history.run(805)
    assert history.states == ["new"]
    assert range_text(Alert.objects.get()) == "After commit c0000004, up to c0000006."


def test_a_run_dated_in_the_future_stops_no_later_alert(rule, history, channel):
    history.good(4)
    recorded_at = STARTED + timedelta(hours=4, minutes=30)
    history.run(1000, started_at=datetime(2036, 1, 1, tzinfo=UTC), recorded_at=recorded_at)
    history.run(800)
    history.run(805)
    assert (history.states, events()) == (["new"], ["alert.new"])
    assert range_text(Alert.objects.get()) == "After commit c0000005, up to c0000006."


def test_one_bad_run_alone_tells_nobody(rule, history, channel):
    history.good(4)
    history.run(800)
    history.run(1001)
    assert (history.states, events()) == ([], [])


def test_a_gain_raises_nothing(rule, history):
    history.good(4)
    history.run(1300)
    history.run(1300)
    assert history.states == []


def test_what_the_noise_of_the_branch_explains_raises_nothing(rule, history):
    for rate in (1000, 850, 1150, 900, 1100):
        history.run(rate)
    # The same fall is a regression on a quiet branch.
    history.run(860)
    history.run(860)
    assert history.states == []


def test_other_branches_and_views_do_not_count(rule, history):
    history.good(4)
    for _ in range(2):
        history.run(500, branch="try")
        history.run(500, server="other")
    assert history.states == []


def test_an_open_alert_goes_on_against_the_runs_before_it(rule, history, channel):
    history.good(4)
    for _ in range(6):
        history.run(800)
    # Its own runs do not become the baseline.
    assert (history.states, events()) == (["new"], ["alert.new"])


def test_two_good_runs_end_it(rule, history, channel):
    history.good(4)
    history.run(800)
    history.run(800)
    history.run(1000)
    assert history.states == ["new"]
    history.run(1002)
    assert (history.states, events()) == (["fixed"], ["alert.new", "alert.fixed"])
    # The bad runs are no part of the baseline: the same fall is seen again.
    history.run(800)
    history.run(800)
    assert history.states == ["fixed", "new"]


def test_not_a_regression_accepts_the_new_level(rule, history, channel, member):
    history.good(4)
    history.run(800)
    history.run(800)
    alert = Alert.objects.get()
    answer_alert(alert, "not_a_regression", by=member, note="TLS is on now.")
    change = alert.changes.latest("pk")
    assert (change.state, change.by_name, change.note) == (
        "not_a_regression",
        "ada",
        "TLS is on now.",
    )
    for _ in range(3):
        history.run(801)
    assert history.states == ["not_a_regression"]
    # From there, a further fall counts.
    history.run(600)
    history.run(600)
    assert history.states == ["new", "not_a_regression"]


def test_who_acknowledged_is_told(rule, history, channel, member):
    history.good(4)
    history.run(800)
    history.run(800)
    alert = Alert.objects.get()
    answer_alert(alert, "acknowledged", by=member)
    assert "Acknowledged by ada." in Delivery.objects.get(event="alert.acknowledged").text
    assert alert.is_open
    answer_alert(alert, "fixed", by=member)
    with pytest.raises(AlertEnded):
        answer_alert(alert, "acknowledged", by=member)
    with pytest.raises(BadState, match="expected acknowledged, fixed"):
        answer_alert(alert, "new", by=member)


def test_a_run_that_was_uploaded_late_changes_nothing(rule, history):
    history.good(4)
    history.run(800, started_at=STARTED)
    history.run(800, started_at=STARTED + timedelta(minutes=5))
    assert history.states == []


def test_one_earlier_run_is_a_baseline_if_the_fall_is_larger_than_runs_differ(rule, history):
    history.run(1000)
    history.run(500)
    assert history.states == ["unconfirmed"]


def test_a_rule_without_its_view_says_so(rule, history, view):
    SavedView.objects.all().delete()
    history.run()
    assert "deleted view" in AlertRule.objects.get().problem


def test_a_query_that_nothing_matches_any_more_is_a_problem_of_the_rule(rule, history):
    SavedView.objects.update(query="server=gone")
    history.run()
    assert "gone" in AlertRule.objects.get().problem
    SavedView.objects.update(query="server=sync")
    history.run()
    assert AlertRule.objects.get().problem == ""


def test_a_rule_that_is_off_judges_nothing(rule, history):
    AlertRule.objects.update(is_enabled=False)
    history.good(4)
    history.run(500)
    assert history.states == []


def test_p99_is_judged_too(rule, history):
    AlertRule.objects.update(metrics=["p99", "throughput"])
    history.good(4)
    history.run(800)
    history.run(800)
    metrics = {alert.data["metric"] for alert in Alert.objects.all()}
    assert metrics == {"p99", "throughput"}


def test_channels_hear_of_every_run_once(rule, history, channel):
    run = history.run()
    delivery = Delivery.objects.get(event="run.read")
    assert delivery.data["run"] == str(run.pk)
    assert delivery.link.endswith(f"/r/{run.pk}")
