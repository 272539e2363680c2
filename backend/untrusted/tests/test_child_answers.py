"""What the child that parses answers can be stored, whatever a stranger's file says."""

import dataclasses
import json

import pytest

from backend.formats import RawArtefact, parse
from backend.formats.tests.test_captures import FORMATS
from backend.testing.reports import AB
from backend.untrusted.sandbox import parse_child
from backend.untrusted.sandbox.child import Limits
from backend.untrusted.sandbox.child_answers import storable

LIMITS = Limits(**{each.name: 1 << 30 for each in dataclasses.fields(Limits)})


def ask(data, **options):
    # As the parent sends small files.
    text = data.encode().decode("latin-1")
    asked = {"artefacts": [{"name": "out.txt", "text": text}], "tool": "", **options}
    return json.loads(parse_child._answer(asked, LIMITS))


@pytest.mark.parametrize("character", ["\0", "\ud800", "\x07", "\u202e"])
def test_characters_that_nobody_sees_are_marked(character):
    path = FORMATS / "oha/tests/captures/c10-n50-refused-json/stdout"
    document = json.loads(path.read_text())
    document["errorDistribution"][f"re{character}fused"] = 3
    answer = ask(json.dumps(document))
    stored = json.dumps(answer, ensure_ascii=False)
    assert "re\ufffdfused" in stored
    assert character not in stored


def test_what_is_no_text_stays_and_large_numbers_are_floats():
    kept = {"a": [1, None, True, 1.5, "é\n\t"], "b": -(1 << 62)}
    assert storable(kept) == kept
    assert storable([1 << 63, (1 << 200)]) == [float(1 << 63), float(1 << 200)]
    assert isinstance(storable(1 << 63), float)
    assert storable(True) is True


def test_a_fault_while_an_answer_is_written_is_a_fault_of_this_upload(monkeypatch):
    monkeypatch.setattr(parse_child, "_read", lambda *_: {"entries": object()})
    assert "Traceback" in ask(AB)["traceback"]


def test_a_page_gets_the_first_trials_and_refusals_alone():
    text = "\n".join([AB] * 7)
    assert len(parse([RawArtefact.of("out.txt", text.encode())])) == 7
    assert len(ask(text)["entries"]) == 7
    assert ask(text, most=3)["entries"] == ask(text)["entries"][:3]


@pytest.mark.parametrize(
    ("tool", "before", "after"),
    [
        ("hey/n300-c10-resets-text", "[200]", "[]"),
        ("rewrk/c4-1s-json", '"requests_avg":', '"requests_avg":0,"was":'),
    ],
)
def test_a_figure_that_is_missing_is_no_fault_of_ours(tool, before, after):
    folder = FORMATS / tool.replace("/", "/tests/captures/")
    text = (folder / "stdout").read_text()
    assert before in text
    assert "fatal" not in ask(text.replace(before, after))
