"""Names of the panels that the labels of runs divide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from backend.analysis.grouping.grouping import SeriesGroup

Label = tuple[str, str]


def name_label_panels(groups: Sequence[SeriesGroup]) -> list[SeriesGroup]:
    """The series, each under the labels that not all of their runs share.

    Where one key tells the panels apart and its values are phrases, the value alone is the name.
    Panels that have no such label keep their name.
    """
    labels = [sorted(group.first.run.labels.items()) for group in groups]
    shared = set(labels[0]).intersection(*labels) if labels else set()
    own = [[label for label in each if label not in shared] for each in labels]
    every = {label for each in own for label in each}
    are_phrases = len({key for key, _ in every}) == 1 and all(" " in text for _, text in every)
    return [
        replace(group, panel=_text(each, are_phrases=are_phrases) or group.panel)
        for group, each in zip(groups, own, strict=True)
    ]


def _text(labels: Sequence[Label], *, are_phrases: bool) -> str:
    return ", ".join(text if are_phrases else f"{key}:{text}" for key, text in labels)
