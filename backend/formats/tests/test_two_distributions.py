"""Of two distributions in one report the first is read, over all requests, never the last one."""

import re

import pytest

from backend.formats.tests.test_captures import FORMATS
from backend.formats.tests.test_dress import read

# A report, and what begins its distribution and what follows it.
REPORTS = {
    "autocannon/c10-a2000-latency-text/stderr": (" Percentile ", "\n\n"),
    "bombardier/c100-3s-latencies-text/stdout": ("  Latency Distribution", "  HTTP codes"),
    "fortio/c10-max-n3000-text/stderr": ("# range", "Sockets used"),
    "hey/n500-c10-v015-text/stdout": ("Latency distribution:", "\n\n"),
    "oha/c10-n2000-text/stdout": ("Response time distribution:", "\n\n"),
    "plow/c10-n2000-text/stdout": ("Latency Percentile:", "\n\n"),
    "wrk/latency-c10-10k/stdout": ("  Latency Distribution", " requests in "),
    "wrk2/rate500-latency-fast/stdout": ("  Latency Distribution", "-----"),
    "wrk2/rate500-latency-fast/stdout ": ("  Latency Distribution", "  Detailed"),
}


def slower(text):
    """The lines with each time a hundred times as long."""
    times = r"\d+\.\d+(?=[a-z \t]|$)|\d+(?= +\u2502$)"
    return re.sub(times, lambda time: f"{float(time[0]) * 100:.3f}", text, flags=re.M)


@pytest.mark.parametrize("name", REPORTS)
def test_a_second_distribution_changes_no_figure(name):
    tool, rest = name.strip().split("/", 1)
    text = (FORMATS / tool / "tests/captures" / rest).read_text()
    begin, follows = REPORTS[name]
    start = text.rindex("\n", 0, text.index(begin)) + 1
    end = text.index(follows, start + len(begin))
    end = end + 2 if follows == "\n\n" else text.rindex("\n", 0, end + 1) + 1
    part = text[start:end]
    assert slower(part) != part
    (clean,) = read(text)
    (twice,) = read(text[:end] + slower(part) + text[end:])
    assert twice in (clean, None)


@pytest.mark.parametrize("order", [("(2xx)", "(Total)"), ("(Total)", "(2xx)"), ("", "(2xx)")])
def test_the_distribution_over_all_requests_is_taken_where_they_have_names(order):
    text = (FORMATS / "bombardier/tests/captures/c100-3s-latencies-text/stdout").read_text()
    start, end = text.index("  Latency Distribution"), text.index("  HTTP codes")
    part, (clean,) = text[start:end], read(text)
    parts = [
        (part if name in ("", "(Total)") else slower(part)).replace(
            "Distribution", f"Distribution {name}"
        )
        for name in order
    ]
    assert read(text[:start] + "".join(parts) + text[end:]) == [clean]
