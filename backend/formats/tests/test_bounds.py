"""What is kept of a trial is bounded, and says what was left out."""

import msgspec
import pytest

from backend.formats.bounds import LONGEST_COMMAND, MOST_BYTES, MOST_SENTENCES, MOST_TEXTS
from backend.formats.model import Latency, ParsedTrial
from backend.formats.read_trial import ReadTrial


def kept(**figures):
    return ReadTrial.of(ParsedTrial(tool="oha", **figures)).parsed


def test_of_many_percentiles_the_well_known_ones_are_kept():
    many = {f"50.{at:07}": 1.0 for at in range(1, 200_000)}
    trial = kept(latency=Latency(mean_us=2.0, percentiles={**many, "50.0": 3.0, "99.9": 4.0}))
    percentiles = trial.latency.percentiles
    assert len(percentiles) == 100
    assert list(percentiles.items())[-2:] == [("50.0", 3.0), ("99.9", 4.0)]
    assert next(iter(percentiles)) == "50.0000001"
    assert trial.latency.mean_us == 2.0
    (note,) = trial.notes
    assert note.startswith("The output has 200,001 percentiles. 100 of them are kept")


def test_a_percentile_with_a_key_without_end_is_left_out():
    trial = kept(latency=Latency(percentiles={"50": 1.0, "50." + "0" * 1_000_000: 1.0}))
    assert trial.latency.percentiles == {"50": 1.0}
    assert "2 percentiles. 1 of them" in trial.notes[0]


def test_errors_beyond_a_hundred_texts_are_summed():
    rare = {f"read tcp :{port}": 1 for port in range(5_000)}
    trial = kept(tool_errors={**rare, "refused": 7, "others": 3})
    assert len(trial.tool_errors) == MOST_TEXTS + 1
    assert trial.tool_errors["refused"] == 7
    assert sum(trial.tool_errors.values()) == 5_010
    assert list(trial.tool_errors.items())[-1] == ("others", 3 + 5_000 - (MOST_TEXTS - 1))


def test_errors_that_begin_alike_are_one():
    trial = kept(tool_errors={"x" * 5_000 + "1": 2, "x" * 5_000 + "2": 3, "y": None})
    assert trial.tool_errors == {"x" * 199 + "…": 5, "y": None}
    unknown = kept(tool_errors={**{str(at): 1 for at in range(MOST_TEXTS)}, "y": None})
    assert unknown.tool_errors["others"] is None


def test_statuses_without_end_are_counted_by_class():
    counts = {"200": 1, "5" * 1_000_000: 2, **{f"4{at:04}": 1 for at in range(5_000)}}
    trial = kept(status_counts=counts)
    assert trial.status_counts == {"200": 1, "5xx": 2, "4xx": 5_000}


@pytest.mark.parametrize(
    "name", ["url", "tool_version", "server_software", "detected_by", "command"]
)
def test_a_text_without_end_is_not_kept(name):
    assert len(getattr(kept(**{name: "x" * 5_000_000}), name)) <= 4_000


@pytest.mark.parametrize("name", ["extra", "server", "workload", "publication"])
def test_members_without_end_are_left_out(name):
    trial = kept(**{name: {"a": "x" * MOST_BYTES}})
    assert getattr(trial, name) == {}
    assert f"more than {MOST_BYTES:,} bytes: left out." in trial.notes[0]


def test_all_of_a_trial_is_small():
    texts = tuple(f"{at} {'x' * 9_000}" for at in range(3_000))
    trial = kept(
        tool_errors=dict.fromkeys(texts, 1),
        notes=texts,
        disagreements=texts,
        latency=Latency(percentiles={str(at): 1.0 for at in range(5_000)}),
        command="x" * (LONGEST_COMMAND + 1),
    )
    assert len(trial.notes) == len(trial.disagreements) == MOST_SENTENCES
    assert any("percentiles" in note for note in trial.notes)
    assert trial.disagreements[-1] == "2,991 more contradictions."
    assert len(msgspec.json.encode(trial)) < 64 << 10


def test_what_was_read_of_usual_outputs_stays_whole():
    figures = {
        "tool_errors": {"refused": 1},
        "latency": Latency(percentiles={"50": 1.0, "99": 2.0}),
        "extra": {"a": 1},
        "notes": ("a",),
        "url": "http://a/",
    }
    assert kept(**figures) == ParsedTrial(tool="oha", **figures)
