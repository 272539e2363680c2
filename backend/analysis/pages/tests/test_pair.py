"""Two runs or versions side by side: what differs, by how much, and what forbids saying so."""

from datetime import timedelta
from uuid import uuid4

import pytest

from backend.analysis.loading.selection import NotVisible
from backend.analysis.pages.pair.describe import compare_pair
from backend.analysis.pages.pair.sides import NoPair
from backend.runs.models import Run, Server
from backend.testing.rows import HELLO, MACHINE, STARTED, CellSpec, make_run, make_workspace

pytestmark = pytest.mark.django_db
LATER = STARTED + timedelta(days=1)


@pytest.fixture
def workspace():
    return make_workspace()


def rates(rate):
    return (rate, rate * 1.002, rate * 0.998)


def pair_of(a, b):
    return compare_pair(a.pk, b.pk, workspace_ids=[a.workspace_id], viewer="viewer")


def differences(pair):
    return {row.name: (row.a, row.b) for row in pair.differences}


def test_a_run_that_serves_half_is_slower_and_only_the_version_differs(workspace):
    a = make_run(workspace, CellSpec(version="1.0", rates=rates(2000)))
    b = make_run(workspace, CellSpec(version="1.1", rates=rates(1000)), started_at=LATER)
    pair = pair_of(a, b)
    assert pair.finding.startswith("sync 1.1 serves 0.5")
    place = "at 64 connections, allowing for runs that differ by 3 % (assumed)"
    assert pair.finding.endswith(f"the requests of sync 1.0 {place}")
    assert pair.outcome.intent == "only the version differs"
    assert differences(pair)["version"] == ("1.0", "1.1")
    (series,) = pair.pairs
    ratios = {row.metric: row.ratio for row in series.rows}
    assert ratios["throughput"].verdict == "regressed"
    assert ratios["throughput"].value == pytest.approx(0.5, rel=0.01)
    # Latency: twice as long is worse.
    assert ratios["p99"].verdict == "regressed"
    assert ratios["p99"].value == pytest.approx(2, rel=0.01)
    assert ratios["error_rate"] is None


def test_versions_that_may_be_compared_are_not_asked_to_be_alike(workspace):
    a = make_run(workspace, CellSpec(version="1", configuration={"workers": 2}))
    b = make_run(workspace, CellSpec(version="2", configuration={"workers": 4}))
    remedies = [reason.remedy for reason in pair_of(a, b).trust.reasons]
    assert "Unless you want to compare it, choose one version." in remedies
    assert "Measure all series with the same version." not in remedies


def test_the_ratio_allows_for_runs_that_differ(workspace):
    """Two runs share no run, so what the host does from run to run widens the interval."""
    a = make_run(workspace, CellSpec(rates=rates(1000)))
    b = make_run(workspace, CellSpec(rates=rates(1030)))
    (row,) = [row for row in pair_of(a, b).pairs[0].rows if row.metric == "throughput"]
    assert row.ratio.low < 1 < row.ratio.high
    assert row.ratio.verdict == "inconclusive"


def test_equal_runs_differ_in_nothing(workspace):
    runs = [make_run(workspace, CellSpec(connections=c), CellSpec(connections=8)) for c in (64, 64)]
    pair = pair_of(*runs)
    assert pair.differences == []
    assert "load tool" in pair.alike
    assert [row.x for row in pair.pairs[0].rows if row.metric == "p50"] == [8, 64]


def test_another_tool_with_another_version_is_not_comparable_and_says_why(workspace):
    a = make_run(workspace, CellSpec(version="1.0"))
    b = make_run(workspace, CellSpec(version="1.1", tool="ab"))
    pair = pair_of(a, b)
    assert pair.outcome.status == "not_comparable"
    assert pair.finding.startswith("Not comparable: load tool differs: ab, wrk; ")
    assert {row.ratio for row in pair.pairs[0].rows} == {None}
    # The figures themselves stand side by side all the same.
    assert pair.pairs[0].rows[0].a.value == pytest.approx(1000, rel=0.01)
    assert differences(pair)["load tool"] == ("wrk", "ab")


def test_where_only_the_tool_differs_the_sentence_is_about_the_tool(workspace):
    a = make_run(workspace, CellSpec(rates=rates(2000)))
    b = make_run(workspace, CellSpec(rates=rates(1000), tool="ab", tool_version="4.1.0"))
    assert pair_of(a, b).finding.startswith("Only the load tool differs: run B serves 0.5")


def test_a_workload_of_another_size_is_never_comparable(workspace):
    a = make_run(workspace, CellSpec())
    b = make_run(workspace, CellSpec(workload={**HELLO, "payload_bytes": 4096}))
    pair = pair_of(a, b)
    assert pair.outcome.status == "not_comparable"
    assert differences(pair)["payload size"] == ("13 B", "4,096 B")
    (row,) = [row for row in pair.differences if row.name == "payload size"]
    assert row.meaning == "This must match, so the figures are not comparable."


def test_values_stand_with_their_units(workspace):
    hosts = ({**MACHINE, "memory_bytes": gib << 30} for gib in (8, 16))
    loads = ((1, 8), (1, 64))
    a, b = (
        make_run(workspace, *(CellSpec(connections=load) for load in own), host=host)
        for own, host in zip(loads, hosts, strict=True)
    )
    rows = differences(pair_of(a, b))
    assert rows["memory of the server host"] == ("8 GiB", "16 GiB")
    assert rows["load points"] == ("1, 8 connections", "1, 64 connections")


def test_noise_asks_for_more_trials_and_is_no_solid_answer(workspace):
    a = make_run(workspace, CellSpec(rates=(1000.0, 1300.0, 800.0)))
    b = make_run(workspace, CellSpec(rates=(1010.0, 1250.0, 820.0)))
    trust = pair_of(a, b).trust
    assert trust.level == "noisy"
    text = "The noise is larger than the difference between sync 23.0 of run A and sync 23.0 of"
    assert trust.reasons[0].text.startswith(text)
    assert trust.reasons[0].remedy


def test_noise_says_which_difference_it_would_not_have_hidden(workspace):
    noisy = ((1000.0, 1015.0, 985.0), (1010.0, 1020.0, 1000.0))
    runs = [make_run(workspace, CellSpec(rates=each)) for each in noisy]
    (series,) = pair_of(*runs).pairs
    ratio = next(row.ratio for row in series.rows if row.metric == "throughput")
    share = f"{ratio.finds_from * 100:.2g} %"
    assert f"a difference of {share} or more would have been found" in pair_of(*runs).finding
    runs = [
        make_run(workspace, *(CellSpec(name, rates=each) for name in ("one", "two")))
        for each in noisy
    ]
    told = pair_of(*runs).finding
    assert "of 2 series, 2 too noisy to call. In each of the noisy series, a difference of " in told
    assert told.endswith(" or more would have been found")


def test_a_clear_difference_is_solid_and_an_unlike_tool_is_not_comparable(workspace):
    runs = [
        make_run(workspace, CellSpec(rates=rates(rate), tool=tool))
        for rate, tool in ((1000, "wrk"), (1300, "wrk"), (1300, "ab"))
    ]
    assert pair_of(*runs[:2]).trust.level in ("solid", "care")
    unlike = make_run(workspace, CellSpec(rates=rates(1300), tool="ab", version="24.0"))
    trust = pair_of(runs[0], unlike).trust
    assert trust.level == "not_comparable"
    assert trust.reasons[0].remedy == "Choose one tool."


@pytest.mark.parametrize(("later", "gap"), [(STARTED, None), (LATER, "24 h")])
def test_a_day_between_two_runs_asks_for_care(workspace, later, gap):
    a = make_run(workspace, CellSpec(rates=rates(1000)))
    b = make_run(workspace, CellSpec(rates=rates(1300)), started_at=later)
    trust = pair_of(a, b).trust
    texts = [reason.text for reason in trust.reasons if "the machine may have" in reason.text]
    assert [gap in text for text in texts] == ([] if gap is None else [True])
    assert gap is None or trust.level == "care"


def test_servers_are_matched_by_name_and_the_others_are_listed(workspace):
    a = make_run(workspace, CellSpec("caddy", version="1"), CellSpec("nginx", version="1"))
    b = make_run(workspace, CellSpec("caddy", version="2"), CellSpec("h2o", version="1"))
    pair = pair_of(a, b)
    assert [(series.a, series.b) for series in pair.pairs] == [("caddy 1", "caddy 2")]
    assert (pair.only_a, pair.only_b) == (["nginx 1"], ["h2o 1"])


def test_one_server_each_is_a_pair_whatever_they_are_called(workspace):
    a = make_run(workspace, CellSpec("caddy", rates=rates(3000)))
    b = make_run(workspace, CellSpec("nginx", rates=rates(1000)))
    assert [(series.a, series.b) for series in pair_of(a, b).pairs] == [
        ("caddy 23.0", "nginx 23.0")
    ]


def of_path(path, **fields):
    workload = {"name": fields.pop("workload", path), "method": "GET", "path": path}
    return CellSpec(workload=workload, **fields)


def pairs_of(pair):
    return [(series.a, series.b) for series in pair.pairs]


@pytest.mark.parametrize(
    ("name", "like", "rest"),
    [(None, "/10000", "/40"), ("files", "(/10000)", "(/40)")],
)
def test_a_path_is_held_against_the_same_path_only(workspace, name, like, rest):
    """Also where the tool, the server's name or the workload's name suggest another one."""
    named = {} if name is None else {"workload": name}
    a = make_run(workspace, of_path("/10000", server="at :8001", **named))
    b = make_run(
        workspace,
        of_path("/40", server="at :8002", **named),
        of_path("/10000", server="at :8002", tool="ab", **named),
    )
    pair = pair_of(a, b)
    ((of_a, of_b),) = pairs_of(pair)
    assert of_a == "at :8001 23.0"
    assert like in of_b
    assert pair.only_a == []
    (only_b,) = pair.only_b
    assert rest in only_b


def test_two_series_of_unlike_paths_are_no_pair_and_each_is_named_with_its_path(workspace):
    pair = pair_of(make_run(workspace, of_path("/10000")), make_run(workspace, of_path("/40")))
    assert pair.finding.startswith("Nothing was measured in both")
    assert (pairs_of(pair), pair.only_a, pair.only_b) == (
        [],
        ["sync 23.0 · /10000"],
        ["sync 23.0 · /40"],
    )


def test_a_workload_that_was_renamed_is_found_by_its_path(workspace):
    a = make_run(workspace, of_path("/10000"), of_path("/40"))
    b = make_run(workspace, of_path("/10000", workload="large"), of_path("/40", workload="small"))
    paths = {(a.split("(")[1], b.split("(")[1]) for a, b in pairs_of(pair_of(a, b))}
    assert paths == {("/10000)", "large)"), ("/40)", "small)")}


def test_of_several_series_alike_those_with_the_same_loads_are_a_pair(workspace):
    one, two = {"workers": 1}, {"workers": 2}
    a = make_run(workspace, CellSpec(connections=8, configuration=one))
    b = make_run(
        workspace,
        CellSpec(connections=64, configuration=two),
        CellSpec(connections=8, configuration={"workers": 3}),
    )
    (series,) = pair_of(a, b).pairs
    assert [row.x for row in series.rows if row.metric == "p50"] == [8]


def test_several_pairs_are_counted_by_their_verdicts(workspace):
    names = ("node", "caddy", "nginx")
    a = make_run(workspace, *(CellSpec(name, rates=rates(2000)) for name in names))
    slower = {"node": 1000}
    b = make_run(
        workspace, *(CellSpec(name, rates=rates(slower.get(name, 2000))) for name in names)
    )
    finding = pair_of(a, b).finding
    assert finding.startswith("Run B against run A, each at its highest shared load: of 3 series")
    assert "1 slower (node 23.0 0.5" in finding


def test_two_versions_of_one_run_say_what_three_trials_do_not_show(workspace):
    cells = [CellSpec("caddy", version=str(rate), rates=rates(rate)) for rate in (1000, 1020)]
    make_run(workspace, *cells)
    old, new = Server.objects.order_by("version")
    told = pair_of(old, new).finding
    assert told.startswith("caddy 1020 is ahead of caddy 1000 at 64 connections, in this run, ")
    assert ", perhaps by less than 2 %: 1.020× [" in told
    assert told.endswith("]. Three trials a side do not show by how much")


@pytest.mark.parametrize(
    ("older", "newer", "told"),
    [
        (
            rates(1000),
            rates(1002),
            ("caddy 2 and caddy 1 are level at 64 ", "the threshold of 2 %"),
        ),
        (
            (1000, 1300, 800),
            (1010, 1250, 820),
            ("Too noisy to compare caddy 2 and caddy 1 at 64 connections: ", "been found; "),
        ),
    ],
)
def test_a_pair_is_told_in_the_words_of_a_ranking(workspace, older, newer, told):
    cells = (("1", older), ("2", newer))
    make_run(workspace, *(CellSpec("caddy", version=name, rates=own) for name, own in cells))
    finding = pair_of(*Server.objects.order_by("version")).finding
    assert all(text in finding for text in told), finding


def test_two_versions_of_a_server_over_all_their_runs(workspace):
    for version, rate in (("1.0", 1000), ("1.1", 2000)):
        for _ in range(3):
            make_run(workspace, CellSpec("caddy", version=version, rates=rates(rate)))
    old, new = Server.objects.order_by("version")
    pair = compare_pair(old.pk, new.pk, workspace_ids=[workspace.pk], viewer="viewer")
    assert (pair.a.kind, pair.a.name, pair.a.trials) == ("server", "caddy 1.0", 9)
    assert "caddy 1.1 serves 2" in pair.finding
    assert "the requests of caddy 1.0 at 64 connections" in pair.finding


def test_plan_hosts_and_length_of_trials_stand_side_by_side(workspace):
    a, b = (make_run(workspace, CellSpec()) for _ in range(2))
    for run, duration, governor in ((a, 10, "performance"), (b, 60, "powersave")):
        run.plan = f'repeats = 3\n[load]\nduration_s = {duration}\n[[servers]]\nname = "caddy"\n'
        run.facts = {"server": {"cpu_governor": governor, "clock": {"offset_s": duration}}}
        run.save()
        run.trials.update(elapsed_s=duration + 0.01)
    rows = {(row.topic, row.name): (row.a, row.b) for row in pair_of(a, b).differences}
    assert rows == {
        ("conditions", "length of a trial"): ("about 10 s", "about 60 s"),
        ("conditions", "CPU governor of the server host"): ("performance", "powersave"),
        ("plan", "load.duration_s"): ("10", "60"),
        ("server host", "cpu_governor"): ("performance", "powersave"),
    }


@pytest.mark.parametrize("plan", ["a = " + "1" * 5_000, "a = 0x" + "f" * 5_000])
def test_a_plan_that_is_not_read_differs_as_text(workspace, plan):
    a, b = (make_run(workspace, CellSpec()) for _ in range(2))
    Run.objects.filter(pk=a.pk).update(plan="[load]")
    Run.objects.filter(pk=b.pk).update(plan=plan)
    assert differences(pair_of(a, b))["text"] == (None, f"{plan[:159]}…")


def test_another_host_is_a_difference_with_its_meaning(workspace):
    a = make_run(workspace, CellSpec())
    b = make_run(workspace, CellSpec(), host={**MACHINE, "name": "bench-2", "cores": 64})
    pair = pair_of(a, b)
    assert differences(pair)["cores of the server host"] == ("2", "64")
    assert differences(pair)["server host"] == ("bench-1", "bench-2")


def test_loads_that_are_not_shared_have_no_ratio(workspace):
    a = make_run(workspace, CellSpec(connections=8))
    b = make_run(workspace, CellSpec(connections=1600))
    pair = pair_of(a, b)
    assert "no load point of both has a figure to compare" in pair.finding.lower()
    assert differences(pair)["load points"] == ("8 connections", "1,600 connections")


def test_dates_and_labels_of_runs_are_no_condition(workspace):
    a, b = make_run(workspace, CellSpec()), make_run(workspace, CellSpec(), started_at=LATER)
    b.labels = {"branch": "main"}
    b.save()
    (row,) = pair_of(a, b).differences
    assert (row.topic, row.name, row.a, row.b, row.meaning) == (
        "run",
        "labels",
        None,
        "branch:main",
        None,
    )


def test_a_failing_side_is_not_ranked(workspace):
    a = make_run(workspace, CellSpec())
    b = make_run(workspace, CellSpec(error_rate=0.5))
    assert [row.ratio for row in pair_of(a, b).pairs[0].rows] == [None] * 4


@pytest.mark.parametrize("case", ["the same", "run and server", "nothing shared"])
def test_what_cannot_be_a_pair_is_refused_with_the_reason(workspace, case):
    run = make_run(workspace, CellSpec())
    server = Server.objects.get()
    others = {"the same": run.pk, "run and server": server.pk}
    if case == "nothing shared":
        other = make_run(workspace, CellSpec("a"), CellSpec("b"))
        assert "Nothing was measured in both" in pair_of(run, other).finding
        return
    with pytest.raises(NoPair):
        compare_pair(run.pk, others[case], workspace_ids=[workspace.pk], viewer="viewer")


def test_what_belongs_to_others_is_not_found(workspace):
    own, foreign = make_run(workspace, CellSpec()), make_run(make_workspace("other"), CellSpec())
    for other in (foreign.pk, uuid4()):
        with pytest.raises(NotVisible):
            compare_pair(own.pk, other, workspace_ids=[workspace.pk], viewer="viewer")
