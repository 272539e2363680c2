"""Every capture says what its expected.json says: exact integers, floats as the text shows.

A case is a folder `<tool>/tests/captures/<case>` with what the tool wrote and one or more
expectations: `expected.json` about the file that its key `source` names (else stdout, else
stderr), `expected.<file>.json` about that file alone, `expected.together.json` about the files
that its key `files` lists, read as one trial.
"""

import json
from pathlib import Path

import pytest

from backend.formats import FormatError, RawArtefact, parse

FORMATS = Path(__file__).parent.parent
# What stands in an expectation for people, and for the checks of histograms.
FOR_THE_READER = frozenset(
    ("caveats", "files", "format", "note", "reconstructed", "source", "stdout_only", "truth")
)
EXPECTATIONS = sorted(FORMATS.glob("*/tests/captures/*/expected*.json"))
NO_RESULT = sorted(path for path in (FORMATS / "tests" / "no_result").iterdir())


def files_of(expectation):
    """The files an expectation is about."""
    case, says = expectation.parent, json.loads(expectation.read_text())
    about = expectation.name.removeprefix("expected.").removesuffix("json").strip(".")
    if about == "together":
        return [case / name for name in says["files"]]
    if about:
        return [case / about]
    if "source" in says:
        return [case / says["source"]]
    return [case / "stdout" if (case / "stdout").stat().st_size else case / "stderr"]


def artefact(path):
    return RawArtefact(path.name, lambda: path.open("rb"))


def read(paths):
    try:
        entries = parse([artefact(path) for path in paths])
    except FormatError as refused:
        entries = [refused]
    return [
        {"error": str(entry)} if isinstance(entry, FormatError) else entry.as_dict()
        for entry in entries
    ]


def name_of(path):
    return str(path.relative_to(FORMATS)).replace("/tests/captures", "")


@pytest.mark.parametrize("expectation", EXPECTATIONS, ids=name_of)
def test_a_capture_says_what_it_truly_says(expectation):
    expected = json.loads(expectation.read_text())
    wanted = expected.get("runs", [expected])
    got = read(files_of(expectation))
    assert len(got) == len(wanted)
    for want, entry in zip(wanted, got, strict=True):
        if "error" in want:
            assert len(entry["error"]) > 40, "a refusal says what was found and expected"
        else:
            about = want.keys() - FOR_THE_READER
            assert {key: entry[key] for key in about} == close_to({key: want[key] for key in about})


def close_to(value):
    if isinstance(value, float):
        return pytest.approx(value, rel=1e-9)
    if isinstance(value, dict):
        return Close(value)
    return value


class Close(dict):
    """A dict that is equal when its keys are the same and its figures close."""

    def __eq__(self, other):
        return (
            isinstance(other, dict)
            and self.keys() == other.keys()
            and all(other[key] == close_to(item) for key, item in self.items())
        )

    __hash__ = None


@pytest.mark.parametrize("path", NO_RESULT, ids=lambda path: path.name)
def test_what_is_no_result_is_refused_with_a_sentence(path):
    (entry,) = read([path])
    assert "Expected:" in entry["error"]
