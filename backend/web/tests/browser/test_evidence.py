"""What the comparison says of doubtful evidence: repeated files, redirects, unreadable outputs."""

import os
import re

import pytest

from backend.ingest.queue.worker import process
from backend.ingest.tests.test_responses import hey
from backend.testing.lab import Lab
from backend.testing.made.printing import print_trials
from backend.testing.uploads import make_envelope, make_tenant, make_trial, make_upload

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def tenant():
    return make_tenant()


@pytest.fixture
def record(tenant):
    def upload(*named_texts):
        trials = [
            make_trial(
                index,
                server={"name": name, "version": "1"},
                workload={"name": "hello", "path": "/"},
                load={"tool": "hey", "connections": 10},
            )
            for index, (name, _) in enumerate(named_texts)
        ]
        envelope = {**make_envelope(), "trials": trials}
        process(make_upload(tenant, *(text for _, text in named_texts), envelope=envelope).pk)

    return upload


@pytest.fixture
def compare_page(open_page, live_server, tenant):
    def show(name):
        page = open_page("/w/lab/compare", tenant)
        page.wait_for_selector(".is-ready")
        if folder := os.environ.get("EVIDENCE_SHOTS"):
            page.screenshot(path=f"{folder}/{name}.png", full_page=True)
        return page

    return show


def trials(name, status=200, factor=1.0):
    return [(name, hey(status, seconds * factor)) for seconds in (3.0, 3.03, 2.98)]


def test_a_file_uploaded_again_is_told_and_counts_once(compare_page, record):
    record(*trials("nginx"), *trials("apache", factor=1.2))
    record(*trials("nginx"))
    page = compare_page("duplicates")
    page.get_by_role("tab", name="Checks").click()
    text = page.inner_text("main")
    assert "Same output as another trial" in text, text
    assert "client and server on one host (" not in text
    assert "3 trials a point" in page.inner_text("[data-slot=conditions]")


def test_redirects_are_told_before_any_ranking(compare_page, record):
    record(*trials("moved", 302, 0.5), *trials("page"))
    page = compare_page("redirects")
    assert "share of redirects differs: over 1 %, under 1 %" in page.inner_text("main")
    assert page.locator(".ranks").count() == 0


def test_a_server_that_was_not_read_is_listed_with_its_reason(compare_page, record):
    record(*trials("nginx"), ("apache", "Segmentation fault\n"))
    page = compare_page("not-read")
    assert page.is_visible("[data-slot=not-read]")
    listed = page.inner_text("[data-slot=not-read]")
    assert "Not read" in listed
    assert "apache 1 at 10 connections, 1 trial: " in listed


def test_where_nothing_was_read_the_reason_is_all_there_is(compare_page, record):
    record(("nginx", hey(200)), ("apache", "Segmentation fault\n"))
    page = compare_page("partly")
    assert page.is_visible("[data-slot=not-read]")
    assert "apache" in page.inner_text("[data-slot=not-read]")


def steady(rate, *shares):
    """Outputs whose rates differ from `rate` by these percentages."""
    return print_trials("wrk", [rate * (1 + share / 100) for share in shares or (0, 0.2, -0.2)])


def read_answer(page):
    """The text of the page with the reasons behind its answer."""
    page.locator(".trust-chip").click()
    return page.inner_text("main")


def test_a_server_with_two_levels_is_told_and_nothing_is_said_of_its_mean(compare_page, tenant):
    levels = (-18, 1, -17, 2, -18.5, 1.5, -17.5, 0.5, 1, -18, 2, -17)
    Lab(tenant).upload({"alpha": steady(9_000, *levels), "beta": steady(8_000, *([0.5, -0.5] * 6))})
    text = read_answer(compare_page("two-levels"))
    assert "Too noisy to rank beta 1.0 and alpha 1.0 at 10 connections" in text
    assert "Trials fall into two groups" in text
    assert "find what switches between them and measure each group separately" in text
    assert not re.search(r"add about \d+ trials|[Mm]ore trials narrow", text)


def test_what_two_runs_differ_by_is_not_said_of_their_servers(compare_page, tenant):
    lab = Lab(tenant)
    lab.upload({"alpha": steady(8_240)})
    lab.upload({"beta": steady(8_000)})
    text = read_answer(compare_page("run-effect"))
    assert "Too noisy to rank beta 1.0 and alpha 1.0 at 10 connections" in text
    assert "All points were measured in fewer than 3 runs" in text


def test_a_verdict_of_one_run_says_that_it_holds_in_this_run(compare_page, tenant):
    Lab(tenant).upload({"alpha": steady(9_000), "beta": steady(8_000)})
    text = read_answer(compare_page("one-run"))
    assert re.search("Take alpha 1.0 at 10 connections: .*, in this run\n", text)
    assert text.count(", in this run") == 1
    assert re.search("beta 1.0 serves .* the requests of alpha 1.0 at 10 connections\n", text)
    assert "Measured in one run: the intervals cover more trials of this run." in text


def test_a_lead_that_needs_a_steady_baseline_says_so_in_sentence_row_and_trust(
    compare_page, tenant
):
    near = (0, 2, -2)
    rates = {name: 9_000 + at for at, name in enumerate(("beta", "delta", "eta", "iota", "kappa"))}
    rates |= {"alpha": 10_000, "lambda": 11_500}
    outputs = {
        name: steady(rate, *(near[at % 3 :] + near[: at % 3]))
        for at, (name, rate) in enumerate(rates.items())
    }
    outputs["alpha"] = steady(10_000, 6, -6, 0)
    Lab(tenant).upload(outputs)
    text = read_answer(compare_page("steady-baseline"))
    assert "in this run, if alpha 1.0 is as steady as the others" in text
    assert "beyond noise and threshold if the baseline is as steady as the others" in text
    assert "is certain only if the baseline is as steady as the others" in text
    assert text.lower().count("three trials a side do not show how steady it is") == 2
