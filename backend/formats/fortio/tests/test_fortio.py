from pathlib import Path

import pytest

from backend.formats import FormatError, RawArtefact, parse

JSON = (Path(__file__).parent.parent / "captures/c20-n600-500s-json/stdout").read_bytes()


def read(data):
    (trial,) = parse([RawArtefact.of("stdout", data)])
    return trial


def test_buckets_become_a_histogram_high_by_at_most_a_bucket():
    trial = read(JSON)
    assert trial.histogram.count == 600
    for percent in (50, 90, 99):
        reported = trial.latency.percentiles[str(percent)]
        ours = trial.histogram.percentile(percent)
        assert reported <= ours <= reported * 1.2 + trial.latency_resolution_us


@pytest.mark.parametrize(
    "damage",
    [
        (b'"NumThreads": 20', b'"NumThreads": "x"'),
        (b'"Count": 13', b'"Count": 12'),
        (b'"ActualDuration": 2', b'"ActualDuration": -2'),
    ],
)
def test_damaged_figures_are_refused(damage):
    assert damage[0] in JSON
    with pytest.raises(FormatError, match="fortio"):
        read(JSON.replace(*damage, 1))


def test_a_cut_off_document_is_refused():
    with pytest.raises(FormatError):
        read(JSON[:-200])
