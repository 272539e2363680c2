"""What a rule knows belongs to one series: servers under it do not hide each other."""

import pytest

from backend.alerts import evaluation, series_runs
from backend.alerts.lifecycle import answer_alert
from backend.alerts.models import Alert
from backend.alerts.wording import range_text
from backend.deliveries.models import Delivery
from backend.sharing.models import SavedView
from backend.testing.nights import add_night

TRIALS = (0.995, 1.0, 1.005)
# Nights that differ by chance.
NIGHTS = (1.0, 1.004, 0.997, 1.006, 0.995, 1.002, 0.999)


class Nights:
    """A night of several servers in one run, or each in a run of its own."""

    def __init__(self, workspace, servers):
        self.workspace, self.servers = workspace, servers
        self.night = 0

    def run(self, levels, *, minutes=0, day=None):
        """`levels`: of each server, the share of 1,000 requests/s that it serves."""
        rates = {name: [1000 * level * t for t in TRIALS] for name, level in levels.items()}
        night = self.night if day is None else day
        return add_night(self.workspace, night, rates, minutes=minutes)

    def good(self):
        for level in NIGHTS:
            self.night += 1
            self.run(dict.fromkeys(self.servers, level))

    def next(self, **levels):
        self.night += 1
        return self.run({**dict.fromkeys(self.servers, 1.0), **levels})


@pytest.fixture
def view(workspace):
    return SavedView.objects.create(workspace=workspace, name="nightly", query="")


def nights(workspace, count):
    return Nights(workspace, [f"s{number:02d}" for number in range(count)])


def states():
    return sorted(Alert.objects.values_list("state", flat=True))


def new_alerts():
    return Delivery.objects.filter(event="alert.new")


def test_when_all_halve_all_are_told_on_the_second_night_in_one_message(workspace, rule, channel):
    lab = nights(workspace, 12)
    lab.good()
    half = dict.fromkeys(lab.servers, 0.5)
    first = lab.next(**half)
    assert states() == ["unconfirmed"] * 12
    lab.next(**half)
    assert states() == ["new"] * 12
    message = new_alerts().get()
    assert len(message.data["together_with"]) == 11
    assert "12 alerts" in message.subject
    assert set(Alert.objects.values_list("first_run", flat=True)) == {first.pk}
    assert {range_text(each) for each in Alert.objects.all()} == {
        "After commit c0000007, up to c0000008."
    }


def test_a_run_that_was_bad_by_chance_does_not_hide_the_fall_after_it(workspace, rule, channel):
    lab = nights(workspace, 2)
    lab.good()
    lab.next(s00=0.97)
    assert states() == ["unconfirmed"]
    half = dict.fromkeys(lab.servers, 0.5)
    lab.next(**half)
    assert states() == ["unconfirmed"] * 2
    lab.next(**half)
    assert states() == ["new"] * 2
    new_alerts().get()
    ranges = {range_text(each) for each in Alert.objects.all()}
    assert ranges == {"After commit c0000008, up to c0000009."}


def test_a_fall_that_looked_good_on_its_first_night_is_in_the_range(workspace, rule):
    """Runs differ by 2.5 %: a first bad run of −5 % is no suspicion, and two of −8 % are told."""
    lab = nights(workspace, 1)
    for night in range(12):
        lab.next(s00=1 + 0.025 * (-1) ** night)
    lab.next(s00=0.954)
    assert states() == []
    for level in (0.924, 0.922):
        lab.next(s00=level)
    assert states() == ["new"]
    assert range_text(Alert.objects.get()) == "After commit c0000012, up to c0000014."


def test_an_open_alert_of_one_server_leaves_the_baseline_of_others(workspace, rule, channel):
    lab = nights(workspace, 2)
    lab.good()
    for _ in range(3):
        lab.next(s00=0.7)
    assert states() == ["new"]
    # The other falls nights later: its last good run is of the night before, not of the first fall.
    lab.next(s00=0.7, s01=0.7)
    lab.next(s00=0.7, s01=0.7)
    assert states() == ["new", "new"]
    later = Alert.objects.order_by("seen_at").last()
    assert range_text(later) == "After commit c0000010, up to c0000011."


def test_a_level_is_accepted_for_one_series(workspace, rule, member):
    lab = nights(workspace, 2)
    lab.good()
    for _ in range(2):
        lab.next(s00=0.7)
    answer_alert(Alert.objects.get(), "not_a_regression", by=member)
    lab.next(s00=0.7, s01=0.7)
    lab.next(s00=0.7, s01=0.7)
    assert states() == ["new", "not_a_regression"]
    assert "s01" in Alert.objects.get(state="new").text


def test_a_fall_of_six_percent_is_confirmed_within_three_nights(workspace, rule):
    lab = nights(workspace, 1)
    for level in (*NIGHTS, 1.012, 0.99, 1.008, 0.985, 1.011, 0.993):
        lab.night += 1
        lab.run({"s00": level})
    for level in (0.945, 0.934, 0.941):
        lab.next(s00=level)
    assert states() == ["new"]
    assert range_text(Alert.objects.get()) == "After commit c0000013, up to c0000014."


def test_runs_of_one_series_each_are_judged_apart(workspace, rule, channel):
    """Two servers, a run each: a late run of one is not late for the other."""
    lab = nights(workspace, 2)
    for level in NIGHTS:
        lab.night += 1
        for minutes, name in enumerate(lab.servers):
            lab.run({name: level}, minutes=minutes)
    lab.night += 1
    lab.run({"s01": 1.0}, minutes=30)
    lab.run({"s00": 0.6}, minutes=0)
    lab.night += 1
    lab.run({"s00": 0.6})
    assert states() == ["new"]
    assert Alert.objects.get().data["server"] == "s00"


def test_a_run_of_a_series_that_was_uploaded_late_changes_nothing(workspace, rule):
    lab = nights(workspace, 1)
    lab.good()
    lab.run({"s00": 0.5}, day=3, minutes=5)
    lab.run({"s00": 0.5}, day=3, minutes=9)
    assert states() == []


def test_a_run_of_too_many_series_is_judged_in_part_and_the_rule_says_so(
    workspace, rule, monkeypatch
):
    for module in (evaluation, series_runs):
        monkeypatch.setattr(module, "MOST_SERIES", 2)
    lab = nights(workspace, 3)
    lab.good()
    for _ in range(2):
        lab.next(**dict.fromkeys(lab.servers, 0.5))
    assert [each.data["server"] for each in Alert.objects.order_by("text")] == ["s00", "s01"]
    rule.refresh_from_db()
    assert rule.problem.startswith("Only the first 2 of 3 series of the newest run")
    # A smaller run has no problem any more.
    lab.run({"s00": 0.5}, minutes=5)
    rule.refresh_from_db()
    assert rule.problem == ""
