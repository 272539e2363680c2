"""Names of the panels that the labels of runs divide."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from backend.analysis.grouping.grouping import SeriesGroup

Label = tuple[str, str]


def name_label_panels(groups: Sequence[SeriesGroup]) -> list[SeriesGroup]:
    """The series, each under the labels that not all of their runs share.

    Where one key tells the panels apart and its values are phrases, the value alone is the name.
    Panels that have no such label keep their name; all do where two would have one name.
    """
    own = _labels_of_their_own([group.first.run.labels.items() for group in groups])
    are_phrases = _are_phrases_of_one_key({label for each in own for label in each})
    names = {
        group.panel: _text(labels, are_phrases=are_phrases) or group.panel
        for group, labels in zip(groups, own, strict=True)
    }
    if len(set(names.values())) < len(names):
        return list(groups)
    return [replace(group, panel=names[group.panel]) for group in groups]


def _labels_of_their_own(all_labels: Sequence[Collection[Label]]) -> list[list[Label]]:
    shared = set(all_labels[0]).intersection(*all_labels) if all_labels else set()
    return [sorted(set(labels) - shared) for labels in all_labels]


def _are_phrases_of_one_key(labels: Collection[Label]) -> bool:
    return len({key for key, _ in labels}) == 1 and all(" " in text for _, text in labels)


def _text(labels: Sequence[Label], *, are_phrases: bool) -> str:
    return ", ".join(text if are_phrases else f"{key}:{text}" for key, text in labels)
