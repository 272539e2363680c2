"""What a set says on the front page whose series cannot be ranked."""

import pytest

from backend.sharing.best_figures import best_as_answer, find_best
from backend.testing.figures import make_figures

METRIC = {"id": "throughput", "label": "Throughput", "unit": "req/s", "better": "higher"}
DIFFERS = "workload differs: API, static file"


def series(server, *points, workload="hello", tool="wrk"):
    return {
        "id": server[:8],
        "label": server,
        "server": server,
        "version": "1.0",
        "workload": workload,
        "tool": tool,
        "host": None,
        "slot": 0,
        "points": list(points),
    }


def point(x, value, *, trials=1, failed=None):
    measures = {"throughput": value, "error_rate": failed}
    return {
        "x": x,
        "cell": "c",
        "trials": trials,
        "overload": None,
        "metrics": {
            name: {"value": number, "low": None, "high": None} for name, number in measures.items()
        },
        "checks": [],
    }


def described(*rows, reasons=(f"{DIFFERS}; choose one workload",), **fields):
    outcome = {"status": "not_comparable", "differing": ["workload"], "reasons": reasons}
    whole = {"metrics": [METRIC], "series": rows, "outcome": outcome, **fields}
    best = find_best(make_figures(**whole))
    return None if best is None else best.text


def test_one_workload_names_the_best_of_its_servers():
    text = described(
        series("fapws3", point(100, 7174, trials=3), point(1000, 6980, trials=3)),
        series("tornado", point(100, 3100, trials=3)),
        reasons=["number of connections differs: 100, 1000; choose one load"],
    )
    assert text == (
        "Highest throughput of 2 servers: fapws3 1.0, 7,170 requests/s at 100 connections. "
        "3 trials each. Not ranked: number of connections differs: 100, 1000"
    )


@pytest.mark.parametrize("check", ["client-fault", "incomplete", "same-output"])
def test_a_figure_that_a_check_withholds_is_not_praised(check):
    withheld = {**point(100, 9_000_000), "checks": [check]}
    text = described(series("impossible", withheld), series("tornado", point(100, 3100)))
    assert "tornado" in text
    assert "impossible" not in text


def test_each_workload_is_told_by_itself_the_one_of_most_servers_first():
    text = described(
        series("nginx", point(100, 2800), workload="static file", tool="published"),
        series("gunicorn", point(100, 530), workload="API", tool="published"),
        series("waitress", point(100, 410), workload="API", tool="published"),
    )
    assert text == (
        "Highest throughput for API: gunicorn 1.0, 530 requests/s at 100 connections; "
        "for static file: nginx 1.0, 2,800 requests/s at 100 connections. "
        f"As published, one figure each. Not ranked: {DIFFERS}"
    )


def test_a_mean_of_several_published_figures_was_published_by_nobody():
    text = described(series("nginx", point(8, 1072, trials=3), tool="published"))
    assert "3 trials each" in text
    assert "As published" not in text


def test_more_workloads_than_a_card_holds_are_counted():
    rows = [series("nginx", point(8, 100 + size), workload=f"{size} B") for size in range(5)]
    assert "; and 2 more. One trial each." in described(*rows)


def test_a_figure_with_failed_requests_is_not_the_best():
    text = described(
        series("fast", point(8, 9000, failed=0.2)), series("sound", point(8, 100, failed=0.0))
    )
    assert text.startswith("Highest throughput: sound 1.0, 100 requests/s")


def test_the_best_latency_is_the_lowest():
    metric = {**METRIC, "label": "Latency p99", "unit": "us", "better": "lower"}
    text = described(
        series("a", point(8, 2000)), series("b", point(8, 500)), metrics=[metric], reasons=[]
    )
    assert text.startswith("Lowest latency p99 of 2 servers: b 1.0, 500 µs at 8 connections.")
    assert text.endswith("Not ranked")


def test_trials_that_differ_tenfold_have_their_range():
    odd = point(8, 3700, trials=2)
    range_ = "range of the trials, which differ tenfold or more"
    odd["metrics"]["throughput"] |= {"low": 1000, "high": 14_000, "interval": range_}
    text = described(series("odd", odd))
    assert text.startswith("Highest throughput: odd 1.0, 1,000 to 14,000 requests/s at 8")


def test_without_a_known_figure_nothing_is_told():
    assert described(series("a", point(8, None))) is None
    assert described(series("a", point(8, 100)), metrics=[]) is None


def answer_of(reason=DIFFERS, **fields):
    reasons = [f"{reason}; choose one workload"]
    outcome = {"status": "not_comparable", "differing": ["workload"], "reasons": reasons}
    whole = {"metrics": [METRIC], "series": [series("nginx", point(8, 100))], "outcome": outcome}
    return best_as_answer(make_figures(**whole, **fields))


def test_the_best_figures_are_the_answer_where_nothing_is_ranked():
    finding = f"These series cannot be ranked: {DIFFERS}; choose one workload"
    trust = {"level": "not_comparable", "reasons": []}
    answer = {"sentence": "These series cannot be ranked", "trust": trust}
    shown = answer_of(finding=finding, answer=answer)
    assert shown["answer"]["sentence"] == (
        "Highest throughput: nginx 1.0, 100 requests/s at 8 connections"
    )
    assert shown["answer"]["margin"] == f"One trial each. Not ranked: {DIFFERS}"
    assert shown["answer"]["trust"]["level"] == "not_comparable"
    # A snapshot from before there were answers.
    assert answer_of(finding=finding).keys() == {"finding"}


def test_a_finding_that_says_more_is_not_replaced():
    assert answer_of(finding="nginx regressed with version 1.4") == {}


@pytest.mark.parametrize("ranked", [False, True])
def test_panels_are_answered_by_the_best_figures_where_none_of_them_is_ranked(ranked):
    ranking = {"x": 8, "metric": "throughput", "baseline": None, "rows": []}
    panels = [
        {
            "value": name,
            "series": ["nginx"],
            "finding": "",
            "outcome": {"status": "not_comparable", "differing": [], "reasons": [DIFFERS]},
            "ranking": ranking if ranked and name == "now" else None,
        }
        for name in ("then", "now")
    ]
    finding = "then: not ranked; now: not ranked"
    shown = answer_of(f"then: {DIFFERS}", finding=finding, panels=panels).get("finding", "")
    assert ("Highest throughput: nginx" in shown) != ranked
    assert shown.endswith(f"Not ranked: {DIFFERS}") != ranked
