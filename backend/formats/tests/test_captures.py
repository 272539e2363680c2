"""Every capture says what its expected.json says: exact integers, floats as the text shows."""

import json
from pathlib import Path

import pytest

from backend.formats import FormatError, RawArtefact, parse

CAPTURES = Path(__file__).parent.parent / "captures"
FOR_THE_READER = {
    "caveats", "files", "note", "reconstructed", "source", "stdout_only", "truth", "format"
}  # fmt: skip
CASES = sorted(path.parent for path in CAPTURES.glob("*/*/expected.json"))
OURS = [case for case in CASES if case.parent.name != "odd"]
OTHERS = [case for case in CASES if case.parent.name == "odd"]


def name_of(case):
    return f"{case.parent.name}/{case.name}"


def artefacts_of(case, expected):
    names = ["stdout", "plot.tsv", "pct.csv"]
    if expected.get("source") == "stderr" or not (case / "stdout").stat().st_size:
        names.append("stderr")
    return [
        RawArtefact(name, (case / name).read_bytes()) for name in names if (case / name).exists()
    ]


def read(artefacts):
    try:
        entries = parse(artefacts)
    except FormatError as refused:
        entries = [refused]
    return [
        {"error": str(entry)} if isinstance(entry, FormatError) else entry.as_contract()
        for entry in entries
    ]


@pytest.mark.parametrize("case", OURS, ids=name_of)
def test_a_capture_says_what_it_truly_says(case):
    expected = json.loads((case / "expected.json").read_text())
    wanted = expected.get("runs", [expected])
    got = read(artefacts_of(case, expected))
    assert len(got) == len(wanted)
    for want, entry in zip(wanted, got, strict=True):
        if "error" in want:
            assert len(entry["error"]) > 40, "a refusal says what was found and expected"
        else:
            for key in want.keys() - FOR_THE_READER:
                assert entry[key] == close_to(want[key]), key


def close_to(value):
    if isinstance(value, float):
        return pytest.approx(value, rel=1e-9)
    if isinstance(value, dict):
        return {key: close_to(item) for key, item in value.items()}
    return value


@pytest.mark.parametrize("case", OTHERS, ids=name_of)
def test_what_is_no_result_is_refused_with_a_sentence(case):
    for entry in read(artefacts_of(case, {})):
        assert "Expected:" in entry["error"]


def files_of_ab():
    for case in CAPTURES.glob("ab/*/expected.json"):
        for name, says in json.loads(case.read_text()).get("files", {}).items():
            yield pytest.param(case.parent / name, says, id=f"{case.parent.name}/{name}")


@pytest.mark.parametrize(("path", "says"), files_of_ab())
def test_a_file_of_ab_alone_says_its_own(path, says):
    (trial,) = parse([RawArtefact(path.name, path.read_bytes())])
    entry = trial.as_contract()
    assert entry["latency_origin"] == says["latency_origin"]
    assert entry["latency_resolution_us"] == says["latency_resolution_us"]
    if "samples" in says:
        assert entry["samples"] == says["samples"] == len(trial.samples_us)
    if "percentiles" in says:
        assert entry["latency_us"]["percentiles"] == pytest.approx(says["percentiles"])
