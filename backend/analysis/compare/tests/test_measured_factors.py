"""Like for like by what was measured, where nothing was declared."""

import pytest

from backend.analysis.compare.comparison import compare
from backend.analysis.compare.measured_factors import size_text
from backend.analysis.figures import plain_figures
from backend.analysis.query.compare_query import CompareQuery
from backend.ingest.queue.worker import process
from backend.testing.rows import HELLO, CellSpec, make_run, make_workspace
from backend.testing.uploads import AB, WRK, make_envelope, make_tenant, make_trial, make_upload

pytestmark = pytest.mark.django_db


@pytest.fixture
def tenant():
    return make_tenant()


def report(*, read="2.10MB", requests=18000):
    text = WRK.replace("2.10MB read", f"{read} read")
    return text.replace("18000 requests", f"{requests} requests")


def record(tenant, reports_by_server, *, tool="wrk", commands=None, **workload):
    """One run: a trial of each server for each of its reports. `commands`: by server."""
    workload = {"name": "hello", "path": "/", "keepalive": True, **workload}
    pairs = [(name, text) for name, texts in reports_by_server.items() for text in texts]
    trials = [
        make_trial(
            index,
            server={"name": name, "version": "1"},
            workload=workload,
            load={"tool": tool, "loop": "closed", "connections": 10},
            **({"command": commands[name]} if name in (commands or {}) else {}),
        )
        for index, (name, _) in enumerate(pairs)
    ]
    envelope = {**make_envelope(), "trials": trials}
    row = make_upload(tenant, *(text for _, text in pairs), envelope=envelope)
    process(row.pk)


def ask(tenant, text=""):
    query = CompareQuery.parse(text)
    return plain_figures(compare(query, workspace_ids=[tenant.workspace.pk]))


def test_responses_of_another_size_forbid_a_ranking(tenant):
    small = [report(requests=n) for n in (18000, 18010, 17990)]
    large = [report(requests=n, read="174.22MB") for n in (18000, 18011, 17991)]
    record(tenant, {"small": small, "large": large})
    figures = ask(tenant)
    assert figures["ranking"] is None
    assert figures["outcome"]["differing"] == ["server", "payload"]
    (reason, *_) = figures["outcome"]["reasons"]
    assert reason == "response size differs: about 120 B, about 10,000 B"
    assert "payload unknown, about 120 to 10,000 B per response" in figures["conditions"]


def test_longer_headers_are_no_other_response(tenant):
    short = [report(requests=n) for n in (18000, 18010, 17990)]
    long = [report(requests=n, read="5.00MB") for n in (18000, 18011, 17991)]
    record(tenant, {"short": short, "long": long})
    figures = ask(tenant)
    assert figures["outcome"]["differing"] == ["server"]
    assert figures["ranking"] is not None
    assert "payload unknown, about 120 to 290 B per response" in figures["conditions"]


@pytest.mark.parametrize(
    ("reads", "text"),
    [
        # 160 and 620 B; 480 and 850 B, as of a page with and without compression.
        (("2.75MB", "10.64MB"), "about 160 B, about 620 B"),
        (("8.24MB", "14.59MB"), "about 480 B, about 850 B"),
    ],
)
def test_sizes_that_only_unusual_headers_explain_are_a_caveat(tenant, reads, text):
    small, large = (
        [report(requests=n, read=read) for n in (18000, 18010, 17990)] for read in reads
    )
    record(tenant, {"small": small, "large": large})
    figures = ask(tenant)
    assert figures["ranking"] is not None
    assert f"response size differs: {text}" in figures["outcome"]["reasons"]
    assert figures["outcome"]["confounded"] == ["server", "response size"]
    assert figures["answer"]["trust"]["level"] == "care"


def ab_report(*, body, header, requests=18000):
    text = AB.replace("18000", str(requests))
    text = text.replace("2700000 bytes", f"{(body + header) * requests} bytes")
    return text.replace("234000 bytes", f"{body * requests} bytes")


def test_a_tool_that_tells_headers_from_bodies_compares_bodies(tenant):
    numbers = (18000, 18010, 17990)
    reports = {
        "short": [ab_report(body=37, header=70, requests=n) for n in numbers],
        "long": [ab_report(body=39, header=900, requests=n) for n in numbers],
    }
    record(tenant, reports, tool="ab")
    assert ask(tenant)["outcome"]["differing"] == ["server"]
    other = [ab_report(body=800, header=139, requests=n) for n in numbers]
    record(tenant, {"other": other}, tool="ab")
    figures = ask(tenant)
    assert "response size differs: about 37 B, about 800 B" in figures["outcome"]["reasons"]
    assert figures["ranking"] is None


@pytest.mark.parametrize(
    ("sizes", "text"),
    [
        ((37, 39), None),
        ((16, 21), None),
        ((10_000, 10_900), None),
        ((13, 27), "13 B, 27 B"),
        ((10_000, 11_100), "10,000 B, 11,100 B"),
        ((37, 39, 10_000), "37 to 39 B, 10,000 B"),
    ],
)
def test_declared_payloads_may_differ_by_a_tenth_of_header_and_body(sizes, text):
    lab = make_workspace("lab")
    cells = [
        CellSpec(f"server {number}", workload={**HELLO, "payload_bytes": size})
        for number, size in enumerate(sizes)
    ]
    make_run(lab, *cells)
    figures = plain_figures(compare(CompareQuery.parse(""), workspace_ids=[lab.pk]))
    assert (figures["ranking"] is None) is (text is not None)
    reasons = [text for text in figures["outcome"]["reasons"] if text.startswith("payload size")]
    assert reasons == ([] if text is None else [f"payload size differs: {text}"])
    if text is None:
        assert len(figures["ranking"]["rows"]) == 2


def test_a_request_for_compression_is_a_caveat(tenant):
    texts = {"a": [report(requests=n) for n in (18000, 18010, 17990)]}
    texts["b"] = [report(requests=n) for n in (17000, 17010, 16990)]
    asking = ["wrk", "-c10", "-H", "Accept-Encoding: gzip", "http://127.0.0.1:8080/"]
    record(tenant, texts, commands={"b": asking})
    figures = ask(tenant)
    assert "request for compression differs: no, yes" in figures["outcome"]["reasons"]
    assert figures["ranking"] is not None


def test_a_page_names_a_size_in_one_wording(tenant):
    """The larger pages are one size, of which the reason and the conditions name the smallest."""
    small = [report(requests=n) for n in (18000, 18010, 17990)]
    large = [report(requests=n, read=f"{mb}MB") for n, mb in ((18000, 179), (18011, 184))]
    record(tenant, {"small": small, "large": large[:1], "larger": large[1:]})
    figures = ask(tenant)
    assert "response size differs: about 120 B, about 10,000 B" in figures["outcome"]["reasons"]
    assert "about 120 to 10,000 B per response" in figures["conditions"]


def test_a_declared_payload_is_believed_here(tenant):
    small = [report(requests=n) for n in (18000, 18010, 17990)]
    record(tenant, {"a": small, "b": [report(requests=n) for n in (17000, 17010, 16990)]},
           payload_bytes=13)  # fmt: skip
    figures = ask(tenant)
    assert figures["outcome"]["differing"] == ["server"]
    assert " · 13 B · " in figures["conditions"]


def test_one_series_may_not_change_its_response_between_runs(tenant):
    record(tenant, {"a": [report(), report(requests=18010)]})
    record(tenant, {"a": [report(requests=18020, read="174.22MB")]})
    figures = ask(tenant)
    assert figures["outcome"]["status"] == "not_comparable"
    assert "payload" in figures["outcome"]["differing"]


@pytest.mark.parametrize(
    ("size", "text"),
    [(5, "about 5 B"), (122.3, "about 120 B"), (10_149, "about 10,000 B")],
)
def test_sizes_have_two_digits(size, text):
    assert size_text(size) == text


@pytest.mark.parametrize(
    ("sizes", "text"),
    [
        ((80, 80, 80), "80 B"),
        ((80, 82, 82), "about 82 B"),
        ((80, 85, 90), "80 to 90 B"),
        ((0, 13, 13), "0 to 13 B"),
    ],
)
def test_payloads_within_five_percent_are_one_size(sizes, text):
    lab = make_workspace("lab")
    cells = [
        CellSpec(f"server {number}", workload={**HELLO, "payload_bytes": size})
        for number, size in enumerate(sizes)
    ]
    make_run(lab, *cells)
    conditions = compare(CompareQuery.parse(""), workspace_ids=[lab.pk]).conditions
    assert f" · {text} · " in conditions


def test_payloads_of_which_some_are_unknown(tenant):
    record(tenant, {"a": [report(requests=n) for n in (18000, 18010, 17990)]})
    record(tenant, {"b": [report(requests=18020)]}, payload_bytes=13)
    conditions = ask(tenant)["conditions"]
    assert " · 13 B, and about 120 B per response where the payload is unknown · " in conditions
