"""The answer of a comparison, over rows as recording leaves them."""

import uuid
from types import SimpleNamespace

import pytest

from backend.analysis.compare.comparison import compare, source_run
from backend.analysis.compare.ratio_texts import ratio_text
from backend.analysis.compare.tests.ranked_series import FAST, ask
from backend.analysis.loading.selection import NotVisible
from backend.analysis.loading.validation import UnknownValue
from backend.analysis.query.compare_query import CompareQuery
from backend.analysis.query.timestamps import instant
from backend.stats import Ratio
from backend.testing.rows import CellSpec, make_run, make_workspace

pytestmark = pytest.mark.django_db


@pytest.fixture
def lab():
    return make_workspace("lab")


def test_the_shape(lab):
    run = make_run(lab, CellSpec("gthread", rates=FAST), CellSpec("sync"))
    figures = ask(lab, f"run={run.pk}")
    assert set(figures) == {
        *("schema", "query", "links", "finding", "answer", "conditions", "outcome", "x", "metric"),
        *("metrics", "series", "ranking", "panels", "checks", "runs", "truncated"),
        *("curves", "knees", "capacity", "ratios", "changes", "replication"),
    }
    assert figures["query"] == f"run={run.pk}"
    assert figures["links"]["page"] == f"/w/lab/compare?run={run.pk}"
    assert figures["x"] == {
        "field": "connections",
        "label": "Connections",
        "kind": "number",
        "values": [64],
    }
    assert figures["runs"] == [
        {
            "id": str(run.pk),
            "started_at": "2026-03-02T09:30:00.000Z",
            "recorded_at": instant(run.recorded_at),
            "servers": ["gthread", "sync"],
            "versions": {"gthread": ["23.0"], "sync": ["23.0"]},
            "url": f"/r/{run.pk}",
            "trials": 6,
        }
    ]
    assert figures["truncated"] is None


def test_a_run_names_the_versions_of_its_servers(lab):
    versions = ("1.10", "1.9", None)
    make_run(lab, *(CellSpec("caddy", version=version) for version in versions))
    make_run(lab, CellSpec("old", version=None))
    runs = {run["servers"][0]: run.get("versions") for run in ask(lab)["runs"]}
    assert runs == {"caddy": {"caddy": ["1.9", "1.10"]}, "old": None}


class Passes(list):
    """Counts how often it is gone through."""

    count = 0

    def __iter__(self):
        self.count += 1
        return super().__iter__()


@pytest.mark.parametrize("size", [1, 9])
def test_the_servers_of_a_run_are_gone_through_twice_however_many_there_are(size):
    servers = Passes((f"server {number}", "1.0") for number in range(size))
    run = SimpleNamespace(id=uuid.uuid4(), started_at=None, recorded_at=None, is_open=False)
    assert len(source_run(run, servers, trials=1).versions) == size
    assert servers.count == 2


def test_the_finding_and_the_conditions(lab):
    make_run(lab, CellSpec("gthread", rates=FAST), CellSpec("sync"))
    figures = ask(lab)
    # In the direction of the rows: gthread, the first series, is their baseline.
    assert figures["finding"].startswith("sync 23.0 serves 0.617× [")
    at = "at 64 connections, in this run"
    assert figures["finding"].endswith(f"] the requests of gthread 23.0 {at}")
    assert figures["conditions"] == (
        "wrk 4.1.0 · hello · 13 B · keep-alive · closed loop · 3 trials a point · "
        "1 run · 1 host: 2-core Xeon, Linux 6.1"
    )
    assert figures["outcome"] == {
        "status": "comparable",
        "differing": ["server"],
        "reasons": [],
        "intent": "only the server differs",
        "confounded": [],
        "overridden": False,
    }


def test_fewer_than_three_trials_give_no_verdict_and_say_what_would(lab):
    make_run(lab, CellSpec("gthread", rates=FAST[:2]), CellSpec("sync", rates=(1000.0, 1010.0)))
    figures = ask(lab)
    assert " to rank " in figures["finding"]
    assert figures["finding"].endswith("an interval needs at least 1 more trial of each")
    baseline, other = (row["ratio"] for row in figures["ranking"]["rows"])
    assert (other["verdict"], other["low"], other["high"]) == ("inconclusive", None, None)
    assert other["why"] == "too few trials for an interval"
    assert (baseline["value"], baseline["why"]) == (1.0, "the baseline")


def test_the_error_rates_are_told_without_ratios(lab):
    make_run(lab, CellSpec("broken", error_rate=0.5), CellSpec("sound"))
    figures = ask(lab, "metric=error_rate")
    assert figures["finding"] == "broken 23.0 failed most at 64 connections: 50 % of its requests"
    assert {row["ratio"] for row in figures["ranking"]["rows"]} == {None}


def test_the_ranking_stands_at_the_largest_shared_load(lab):
    cells = [CellSpec(name, connections=c) for name in "ab" for c in (1, 8)]
    make_run(lab, *cells, CellSpec("a", connections=512))
    assert ask(lab)["ranking"]["x"] == 8
    assert ask(lab, "at=1")["ranking"]["x"] == 1
    missing = ask(lab, "at=512&server=b")
    assert missing["ranking"] is None
    assert missing["finding"] == (
        "Nothing was measured at 512 connections; there are measurements at 1, 8"
    )


def test_offered_rates_are_an_axis_and_overload_is_marked(lab):
    open_loop = {"loop": "open", "connections": None, "tool": "vegeta"}
    make_run(
        lab,
        CellSpec(rate_rps=1000.0, **open_loop),
        CellSpec(rate_rps=5000.0, **open_loop),
    )
    figures = ask(lab)
    assert figures["x"]["field"] == "rate"
    assert [point["overload"] for point in figures["series"][0]["points"]] == [False, True]
    unmet = ask(lab, "metric=p99&at=5000")
    assert unmet["ranking"]["rows"][0]["tier"] is None
    assert "The offered rate was not reached" in unmet["finding"]


def test_series_of_one_server_are_told_apart_by_what_differs(lab):
    make_run(lab, CellSpec(tool="wrk"), CellSpec(tool="ab"))
    labels = {series["label"] for series in ask(lab)["series"]}
    assert labels == {"sync 23.0 (ab)", "sync 23.0 (wrk)"}


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("server=gunicorn-sync", {"gunicorn sync"}),
        ("server=gunicorn+sync", {"gunicorn sync"}),
        ("server=node&server=gunicorn-sync", {"gunicorn sync", "node"}),
        ("tool=ab", {"node"}),
        ("workload=hello", {"gunicorn sync", "node"}),
        ("host=bench-1", {"gunicorn sync", "node"}),
        ("server=node&tool=wrk", set()),
    ],
)
def test_filters(lab, text, left):
    make_run(lab, CellSpec("gunicorn sync"), CellSpec("node", tool="ab"))
    figures = ask(lab, text)
    assert {series["server"] for series in figures["series"]} == left
    if not left:
        assert figures["finding"] == "No comparison: no measurement matches this query"
        assert figures["ranking"] is None


def test_a_reader_sees_only_what_is_theirs(lab):
    theirs = make_run(make_workspace("theirs"), CellSpec("secret"))
    mine = make_run(lab, CellSpec())
    assert [run["id"] for run in ask(lab)["runs"]] == [str(mine.pk)]
    for text in ("workspace=theirs", "server=secret"):
        with pytest.raises(UnknownValue):
            ask(lab, text)
    for text in (f"run={theirs.pk}", f"run={mine.pk}&run={theirs.pk}", f"run={uuid.uuid4()}"):
        with pytest.raises(NotVisible):
            ask(lab, text)
    with pytest.raises(NotVisible):
        compare(CompareQuery.parse(f"run={mine.pk}"), workspace_ids=[])


def test_checks_are_counted_with_where_they_fired(lab):
    make_run(lab, CellSpec(trial_checks=["same-host"], checks=["spread"]), CellSpec("other"))
    figures = ask(lab)
    by_id = {check["id"]: check for check in figures["checks"]}
    assert by_id["same-host"]["count"] == len(by_id["same-host"]["trials"]) == 3
    assert by_id["spread"]["count"] == len(by_id["spread"]["cells"]) == 1
    assert figures["outcome"]["status"] == "caveats"
    assert "client and server on one host (3 of 6 trials)" in figures["outcome"]["reasons"]


def test_a_check_of_another_version_is_shown_without_weight(lab):
    make_run(lab, CellSpec(trial_checks=["gone"]))
    figures = ask(lab)
    assert figures["checks"][0]["severity"] == "info"
    assert figures["outcome"]["status"] == "comparable"


def test_a_common_ceiling_is_noticed(lab):
    make_run(lab, *[CellSpec(name) for name in "abc"])
    assert "common-ceiling" in {check["id"] for check in ask(lab)["checks"]}


def test_different_results_have_no_common_ceiling(lab):
    make_run(lab, CellSpec("a"), CellSpec("b"), CellSpec("c", rates=FAST))
    assert "common-ceiling" not in {check["id"] for check in ask(lab)["checks"]}


def test_too_many_series_are_cut_and_it_is_said(lab):
    make_run(lab, *[CellSpec(f"s{n:02}", rates=(1000.0,), warmups=0) for n in range(42)])
    figures = ask(lab)
    assert len(figures["series"]) == 40
    assert "40 of 42 series are compared" in figures["truncated"]


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        ((1.62, 1.58, 1.66), "1.62× [1.58, 1.66]"),
        ((3.18, 2.06, 4.89), "3.2× [2.1, 4.9]"),
        ((0.139, 0.00011, 177.0), "0.14× [0.00011, 177]"),
        ((2.25, 1.04, 4.88), "2.2× [1.04, 4.9]"),
        ((1.0004, 1.0001, 1.0007), "1.00× [1.0001, 1.001]"),
        ((2.0, None, None), "2.00×"),
    ],
)
def test_a_ratio_is_no_finer_than_its_interval_and_never_nothing(ratio, text):
    value, low, high = ratio
    found = Ratio(value, low, high, "improved", "", significant=True, relevant=True)
    assert ratio_text(found) == text
