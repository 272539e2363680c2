"""Panels of labels are named by what tells them apart."""

from types import SimpleNamespace

from backend.analysis.grouping.grouping import SeriesGroup
from backend.analysis.grouping.series import name_label_panels


def panel_of(labels):
    return ", ".join(f'"{key}:{text}"' for key, text in labels.items()) or "no label"


def names_of(*labels):
    groups = [
        SeriesGroup(
            id=str(i),
            label="nginx",
            held=None,
            of_run=None,
            panel=panel_of(each),
            points={1: (SimpleNamespace(run=SimpleNamespace(labels=each)),)},
        )
        for i, each in enumerate(labels)
    ]
    return [group.panel for group in name_label_panels(groups)]


def test_a_label_that_all_share_names_no_panel():
    then, today = {"study": "a", "part": "as then"}, {"study": "a", "part": "of today"}
    assert names_of(then, today) == ["as then", "of today"]


def test_one_word_stands_with_its_key():
    assert names_of({"study": "a", "build": "7"}, {"study": "a", "build": "8"}) == [
        "build:7",
        "build:8",
    ]


def test_several_keys_stand_with_their_values():
    assert names_of({"os": "bsd", "cpu": "arm"}, {"os": "linux", "cpu": "x86"}) == [
        "cpu:arm, os:bsd",
        "cpu:x86, os:linux",
    ]


def test_panels_without_labels_of_their_own_keep_their_name():
    assert names_of({}, {"os": "linux"}) == ["no label", "os:linux"]
    assert names_of({"os": "linux"}) == ['"os:linux"']
    assert names_of() == []


def test_panels_that_would_have_one_name_keep_theirs():
    assert names_of({"a": "1, b:2"}, {"a": "1", "b": "2"}) == ['"a:1, b:2"', '"a:1", "b:2"']
