import json
from pathlib import Path

import pytest

from backend.formats import FormatError, RawArtefact, parse

CAPTURES = Path(__file__).parent / "captures"
TEXT, OLD, CSV, OWN, FORTIO, PEDANTIC = (
    (CAPTURES / f"made-{name}" / "stdout").read_text()
    for name in ("text", "old-text", "csv", "json", "fortio-json", "fortio-pedantic-500s-json")
)


def read(text):
    return parse([RawArtefact.of("output", text.encode())])


def only(text):
    (trial,) = read(text)
    return trial


def changed(text, **figures):
    return json.dumps({**json.loads(text), **figures})


def test_each_layout_says_the_same_of_one_run():
    names = ("requests_completed", "requests_ok", "errors", "bytes_received", "status_counts")
    first, *others = (only(text) for text in (TEXT, OLD, CSV, OWN))
    for other in others:
        assert [getattr(other, name) for name in names] == [getattr(first, name) for name in names]
        for percentile, value in first.latency.percentiles.items():
            assert other.latency.percentiles[percentile] == pytest.approx(value, abs=1)
        assert other.measured_s == pytest.approx(first.measured_s, abs=1e-5)


def test_a_full_pool_is_no_failure_of_the_server():
    trial = only(TEXT)
    assert (trial.client_errors, trial.errors["read"], trial.errors["status"]) == (6, 4, 40)


def test_a_step_is_named_by_the_percentile_that_it_is_printed_for():
    assert "  0.990625" in TEXT
    assert only(TEXT).latency.percentiles["99"] == 1048


def test_the_histogram_of_the_json_has_each_response():
    trial = only(OWN)
    assert trial.latency_origin == "histogram"
    assert trial.histogram.count == 2990


def test_figures_of_a_worker_are_multiplied():
    trial = only(OWN)
    assert (trial.threads, trial.connections, trial.requested_rate_rps) == (2, 8, 1000)
    document = json.loads(OWN)
    alone = only(changed(OWN, results=document["results"][2:]))
    assert (alone.threads, alone.connections, alone.requests_completed) == (1, 4, 2990)
    with pytest.raises(FormatError, match="missing or invalid") as refused:
        read(changed(OWN, results=document["results"][:2]))
    assert "global" in refused.value.found


def test_an_open_loop_is_told_in_the_json_alone():
    document = json.loads(OWN)
    assert only(changed(OWN, options={**document["options"], "open_loop": True})).loop == "open"
    assert (only(OWN).loop, only(TEXT).loop) == ("closed", None)


def test_counts_that_are_texts_are_read_as_numbers_in_json_for_fortio():
    quirks, plain = only(FORTIO), only(FORTIO.replace('"200": "2994"', '"200": 2994'))
    assert quirks == plain
    assert quirks.tool == "nighthawk"
    named = only(FORTIO.replace('"200": "2994"', '"200": "2990",\n  "503": "4"'))
    assert (named.requests_completed, named.requests_ok) == (2994, 2990)
    assert named.status_counts == {"200": 2990, "503": 4}


def test_requests_that_the_json_for_fortio_does_not_count_are_told():
    trial = only(PEDANTIC)
    assert (trial.requests_completed, trial.requests_ok, trial.errors) == (None, 2950, {})
    assert trial.tool_errors == {"without a code": 44}


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        (OWN, '"2990"', '"x"'),
        (OWN, '"execution_duration": "3.000004s"', '"execution_duration": "soon"'),
        (OWN, '"count": "2990",\n     "id"', '"count": "2991",\n     "id"'),
        (FORTIO, '"200": "2994"', '"ok": "2994"'),
        (FORTIO, '"Count": "2990"', '"Count": "-1"'),
        (FORTIO, '"NumThreads": 8', '"NumThreads": null'),
    ],
)
def test_figures_of_another_kind_are_refused(text, old, new):
    assert old in text
    with pytest.raises(FormatError, match="missing or invalid figure"):
        read(text.replace(old, new))


def test_two_runs_and_a_run_without_its_title_are_read():
    assert len(read(f"$ nighthawk_client a\n{TEXT}$ nighthawk_client b\n{OLD}")) == 2
    bare = TEXT[TEXT.index("Request start to response end") :]
    trial = only(bare)
    assert (trial.requests_completed, trial.connections) == (2990, None)
    assert len(read(bare + bare)) == 2


def test_a_run_without_latencies_has_its_counters():
    counters = TEXT[TEXT.index("Counter ") :]
    trial = only(TEXT[: TEXT.index("Queueing")] + counters)
    assert (trial.requests_ok, trial.latency_origin) == (2950, None)
    with pytest.raises(FormatError, match="cut off before its latencies"):
        read(TEXT[: TEXT.index("Queueing")])


@pytest.mark.parametrize("text", [TEXT, OLD, CSV])
def test_what_was_cut_off_anywhere_is_refused_or_says_less_but_never_otherwise(text):
    whole = only(text)
    for cut in range(0, len(text), 5):
        try:
            trial = only(text[:cut])
        except FormatError:
            continue
        assert trial.requests_completed in (None, 2990)
        assert trial.incomplete or trial.errors == whole.errors
        assert trial.latency.mean_us in (None, whole.latency.mean_us)
        assert trial.latency.percentiles.items() <= whole.latency.percentiles.items()
